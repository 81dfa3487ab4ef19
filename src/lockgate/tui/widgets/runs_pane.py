"""Pane 1: the runs that match the filter, in their order, however many there are."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from textual.app import ComposeResult

from lockgate.tui.widgets.line_block import LineBlock
from lockgate.tui.widgets.line_list import LineList
from lockgate.tui.widgets.line_source import EmptySource, LineSource
from lockgate.tui.widgets.pane import Keys, Pane
from lockgate.view.cells import EMPTY, Line, Span, blank, joined, restyled
from lockgate.view.lens import Lens
from lockgate.view.rules import count, title
from lockgate.view.runs import no_runs, run_line, runs_head, sort_words
from lockgate.view.situations import MOVING, state
from lockgate.view.snapshots import RunsPage, ShownRun, Snapshot

REMEMBERED = 600
"""Rows kept by id, so that scrolling back paints at once while the feed reads."""


class RunsSource:
    """The rows of one page, with what is remembered of the rows around it."""

    row_height = 1

    def __init__(self, page: RunsPage, known: Mapping[str, ShownRun], lens: Lens) -> None:
        self._page, self._known, self._lens = page, known, lens
        self._places = {row.run_id: page.first + at for at, row in enumerate(page.rows)}

    def __len__(self) -> int:
        return self._page.total

    def id_at(self, index: int) -> str | None:
        row = self._row(index)
        if row is not None:
            return row.run_id
        return self._page.ids.id_at(index) if self._page.ids is not None else None

    def index_of(self, row_id: str) -> int | None:
        place = self._places.get(row_id)
        if place is None and self._page.ids is not None:
            return self._page.ids.index_of(row_id)
        return place

    def lines(self, index: int, width: int, selected: bool) -> Sequence[Line]:
        row = self._row(index)
        if row is None and self._page.ids is not None:
            row = self._known.get(self._page.ids.id_at(index) or "")
        if row is None:
            return (EMPTY,)
        return (run_line(row, width, self._lens, selected=selected),)

    def run(self, run_id: str | None) -> ShownRun | None:
        """A run by its id, as far as it is known here."""
        return None if run_id is None else self._known.get(run_id)

    def _row(self, index: int) -> ShownRun | None:
        at = index - self._page.first
        return self._page.rows[at] if 0 <= at < len(self._page.rows) else None


class RunsPane(Pane):
    """The list of runs with its column heads."""

    NUMBER, NAME = 1, "Runs"

    def __init__(self) -> None:
        super().__init__("runs", LineList(id="runs-list"))
        self._head = LineBlock(classes="head")
        self._known: dict[str, ShownRun] = {}
        self._page = RunsPage()
        self._lens: Lens | None = None
        self.list.ghost = self._ghost

    def compose(self) -> ComposeResult:
        yield self.rule
        yield self._head
        yield self.list

    def show(self, snapshot: Snapshot, lens: Lens) -> None:
        self._page, self._lens = snapshot.runs, lens
        self._remember(snapshot.runs.rows)
        head = runs_head(self.size.width, lens)
        self._head.display = bool(head) and bool(self._page.total)
        self._head.show([head])
        self.list.show(self._source(lens))
        self.paint(snapshot, lens)

    def paint(self, snapshot: Snapshot, lens: Lens) -> None:
        """Draws the rule: also when only the focus moved."""
        start = title(self.NUMBER, self.NAME, lens, focused=self.has_pane_focus, rest=self._count(lens))
        self.paint_rule(start, sort_words(self._page, lens) if self._page.total else EMPTY, snapshot, lens)

    def tick(self, lens: Lens, *, slow: bool) -> None:
        first, many = self.list.first_visible, self.list.visible_count + 1
        known = (self._known.get(self._id_at(index) or "") for index in range(first, first + many))
        moving = [row.run_id for row in known if row and (slow or state(row.run, lens).word in MOVING)]
        if moving:
            self.list.retime(self._source(lens), moving)

    def _id_at(self, index: int) -> str | None:
        source = self.list.source
        return source.id_at(index) if index < len(source) else None

    def run(self, run_id: str | None) -> ShownRun | None:
        """A run that was on screen lately."""
        return None if run_id is None else self._known.get(run_id)

    def keys(self) -> Keys:
        return (("d", "decide"), ("/", "filter"), ("s", "sort"), ("f", "follow"), ("z", "zoom"))

    def position(self) -> Line:
        if not self._page.total:
            return EMPTY
        first = self.list.first_visible + 1
        last = min(first + self.list.visible_count - 1, self._page.total)
        return (Span(f"{first}-{last} of {self._page.total}", "muted"),)

    def _ghost(self, row_id: str, last: Sequence[Line]) -> Sequence[Line]:
        known = self._known.get(row_id)
        if known is None or self._lens is None:
            return [restyled(line, "muted") for line in last]
        why = "filtered out" if self._page.filter else "not in the list"
        return (run_line(replace(known, gone=why), self.size.width, self._lens),)

    def _count(self, lens: Lens) -> Line:
        page = self._page
        if not page.filter:
            return count(page.total)
        words = f"{page.total} of {page.everything} {lens.glyphs.dot} {page.filter}"
        return (Span(words, "muted"),)

    def _remember(self, rows: Sequence[ShownRun]) -> None:
        for row in rows:
            self._known.pop(row.run_id, None)
            self._known[row.run_id] = row
        while len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]

    def _source(self, lens: Lens) -> LineSource:
        if not self._page.total:
            first, second = no_runs(self._page)
            return EmptySource(empty_words(first, second))
        return RunsSource(self._page, self._known, lens)


def empty_words(first: str, second: str) -> list[Line]:
    """Two sentences in an empty list, under a blank row."""
    return [EMPTY, joined(blank(2), Span(first)), joined(blank(2), Span(second, "muted"))]
