"""Pane 2: what waits for an answer across all runs; or, asked for, what was decided."""

from collections.abc import Sequence

from textual.app import ComposeResult

from lockgate.tui.widgets.line_list import LineList
from lockgate.tui.widgets.line_source import EmptySource, LineSource
from lockgate.tui.widgets.pane import Keys, Pane
from lockgate.tui.widgets.runs_pane import empty_words
from lockgate.view.cells import Line, Span, blank, fitted, joined, restyled
from lockgate.view.decisions import (
    NOTHING,
    decided_lines,
    decision_lines,
    decisions_height,
    queue_words,
    resolution_words,
    resolver,
    rows_each,
)
from lockgate.view.lens import Lens
from lockgate.view.rules import count, title
from lockgate.view.snapshots import ShownRequest, Snapshot

CLOSE_MS = 120_000


class DecisionsSource:
    """Requests in their order, two lines each where there is room."""

    def __init__(self, requests: Sequence[ShownRequest], lens: Lens, *, decided: bool) -> None:
        self.requests, self._lens, self._decided = requests, lens, decided
        self._places = {request.request_id: at for at, request in enumerate(requests)}
        self.row_height = 2 if decided else rows_each(lens)

    def __len__(self) -> int:
        return len(self.requests)

    def id_at(self, index: int) -> str | None:
        return self.requests[index].request_id

    def index_of(self, row_id: str) -> int | None:
        return self._places.get(row_id)

    def lines(self, index: int, width: int, selected: bool) -> Sequence[Line]:
        request = self.requests[index]
        if self._decided:
            return decided_lines(request, width, self._lens)
        return decision_lines(request, width, self._lens, selected=selected)


class DecisionsPane(Pane):
    """The queue, or under `D` the record of what was decided."""

    NUMBER, NAME = 2, "Decisions"

    def __init__(self) -> None:
        super().__init__("decisions", LineList(id="decisions-list"))
        self.requests: tuple[ShownRequest, ...] = ()
        self.decided = False
        self._gone: dict[str, str] = {}
        self.list.ghost = self._ghost

    def compose(self) -> ComposeResult:
        yield self.rule
        yield self.list

    def show(self, snapshot: Snapshot, lens: Lens) -> None:
        self.requests = self._of(snapshot)
        self.list.show(self._source(lens))
        self.paint(snapshot, lens)

    def paint(self, snapshot: Snapshot, lens: Lens) -> None:
        """Draws the rule: also when only the focus moved."""
        name = "Decided" if self.decided else self.NAME
        rest = count(len(self.requests))
        start = title(self.NUMBER, name, lens, focused=self.has_pane_focus, rest=rest)
        end = (Span("newest first", "muted"),) if self.decided else queue_words(lens)
        self.paint_rule(start, end if self.requests else (), snapshot, lens)

    def height_in(self, column: int, lens: Lens, snapshot: Snapshot) -> int:
        """The rows that the pane takes of a left column of `column` rows."""
        ghost = rows_each(lens) if self.list.has_ghost else 0
        return min(decisions_height(len(self._of(snapshot)), column, lens) + ghost, max(column // 2, 3))

    def tell_gone(self, request: ShownRequest) -> str:
        """Says on its ghost what became of a request that left the queue; the words, for the status line too."""
        words = " ".join(part for part in (resolution_words(request), resolver(request)) if part)
        self._gone[request.request_id] = words
        self.list.haunt(self._ghost)
        return f"{request.title}: {words}"

    def _ghost(self, row_id: str, last: Sequence[Line]) -> Sequence[Line]:
        """The row of a request that can no longer be answered: what became of it, in the place of the time left."""
        words = self._gone.get(row_id, "no longer pending")
        title = joined(blank(4), Span(f"gone: {words}", "muted"))
        return [fitted(title, self.size.width), *(restyled(line, "muted") for line in last[1:])]

    def _of(self, snapshot: Snapshot) -> tuple[ShownRequest, ...]:
        return snapshot.decided if self.decided else snapshot.decisions

    def tick(self, lens: Lens, *, slow: bool) -> None:
        moving = [each.request_id for each in self.requests if slow or _is_close(each, lens.now_ms)]
        if moving and not self.decided:
            self.list.retime(self._source(lens), moving)

    def request(self, request_id: str | None) -> ShownRequest | None:
        return next((each for each in self.requests if each.request_id == request_id), None)

    def keys(self) -> Keys:
        other = "pending" if self.decided else "decided"
        return (("d", "read" if self.decided else "decide"), ("D", other), ("y", "copy id"), ("z", "zoom"))

    def position(self) -> Line:
        total = len(self.requests)
        return (Span(f"{self.list.cursor_index + 1} of {total}", "muted"),) if total else ()

    def _source(self, lens: Lens) -> LineSource:
        if self.requests:
            return DecisionsSource(self.requests, lens, decided=self.decided)
        if self.decided:
            return EmptySource(empty_words("Nothing was decided yet.", "Who, when and what will stand here."))
        return EmptySource(empty_words(*NOTHING))


def _is_close(request: ShownRequest, now_ms: int) -> bool:
    """Whether seconds matter: the last two minutes, and the moment after."""
    left = request.left_ms(now_ms)
    return left is not None and left <= CLOSE_MS
