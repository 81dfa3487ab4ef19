"""Pane 3: where the time of the selected run went, one row per attempt on one axis."""

import time
from collections.abc import Sequence
from typing import ClassVar

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from lockgate.tui.widgets.line_block import LineBlock, show
from lockgate.tui.widgets.line_list import LineList
from lockgate.tui.widgets.line_source import EmptySource
from lockgate.tui.widgets.pane import Keys, Pane
from lockgate.view.cells import EMPTY, Line, Span
from lockgate.view.empty import start_here
from lockgate.view.folds import folded
from lockgate.view.lens import ROOMY_ROWS, Lens
from lockgate.view.panes import lost_at, timeline_state, timeline_title
from lockgate.view.rules import title
from lockgate.view.snapshots import SegmentKind, ShownDetail, ShownTimeline, Snapshot
from lockgate.view.timeline import TimelineRow, TimelineView, height_of, timeline_parts, window_of

ZOOM = 2.0
PAN = 0.25
STEADY_S = 1.5


class AttemptsSource:
    """The painted rows of the attempts; a folded row stands for its last attempt."""

    row_height = 1

    def __init__(self, rows: Sequence[TimelineRow]) -> None:
        self._rows = rows
        self._places = {row.attempt_id: at for at, row in enumerate(rows) if row.attempt_id is not None}

    def __len__(self) -> int:
        return len(self._rows)

    def id_at(self, index: int) -> str | None:
        return self._rows[index].attempt_id

    def index_of(self, row_id: str) -> int | None:
        return self._places.get(row_id)

    def lines(self, index: int, width: int, selected: bool) -> Sequence[Line]:
        return (self._rows[index].line,)


class TimelinePane(Pane):
    """The whole run and the axis on top, the attempts, and the sums below."""

    NUMBER, NAME = 3, "Timeline"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("plus", "zoom_in", "zoom in", id="timeline.in"),
        Binding("minus", "zoom_out", "zoom out", id="timeline.out"),
        Binding("left", "pan(-1)", "earlier", id="timeline.left"),
        Binding("right", "pan(1)", "later", id="timeline.right"),
        Binding("0", "fit", "fit the whole run", id="timeline.fit"),
    ]

    def __init__(self) -> None:
        super().__init__("timeline", LineList(id="timeline-list", from_end=True))
        self._head = LineBlock(classes="head")
        self._foot = LineBlock(classes="foot")
        self._view = TimelineView()
        self._detail: ShownDetail | None = None
        self._snapshot: Snapshot | None = None
        self._lens: Lens | None = None
        self.list.following = True
        self._steady = 0
        self._steady_place: tuple[int, int, int] | None = None
        self._steady_run: str | None = None
        self._steady_since = 0.0

    def compose(self) -> ComposeResult:
        yield self.rule
        yield self._head
        yield self.list
        yield self._foot

    def show(self, snapshot: Snapshot, lens: Lens) -> None:
        before = self._detail
        self._detail, self._snapshot, self._lens = snapshot.detail, snapshot, lens
        if before is not None and (self._detail is None or self._detail.run.run_id != before.run.run_id):
            self.list.forget()
            self.follow(True)
        stale = None if snapshot.store.state.is_live else snapshot.store.as_of
        lost_since = None if self._detail is None else lost_at(self._detail, lens)
        self._view = replace(self._view, stale=stale, lost_since=lost_since)
        self._draw(snapshot, lens)
        self.paint(snapshot, lens)

    def paint(self, snapshot: Snapshot, lens: Lens) -> None:
        focused = self.has_pane_focus
        if snapshot.is_blank:
            start = title(self.NUMBER, "Start here", lens, focused=focused)
            self.paint_rule(start, (Span("nothing to draw yet", "muted"),), snapshot, lens)
            return
        end = timeline_state(self._detail, lens, following=self.following)
        start = timeline_title(self._detail, lens, focused=focused, cells=self.size.width, end=end)
        self.paint_rule(start, end, snapshot, lens)
        if self._view.focused != focused:
            self._draw(snapshot, lens)

    def tick(self, lens: Lens, *, slow: bool) -> None:
        timeline = self._timeline
        if timeline is None or timeline.ticking is None or self._view.stale is not None:
            return
        if self._snapshot is not None and (slow or timeline.ticking is SegmentKind.WORK):
            self._draw(self._snapshot, lens)

    def height_in(self, column: int, lens: Lens, snapshot: Snapshot) -> int:
        """The rows that the pane takes of a right column of `column` rows: what it needs, at most half."""
        if snapshot.detail is None:
            return max(column * 2 // 3, 4)
        gap = 1 if lens.rows >= ROOMY_ROWS else 0
        timeline, most = snapshot.detail.timeline, max((column - gap) // 2, 5)
        wanted = 1 + height_of(timeline, lens)
        if wanted > most and not lens.short:  # repeats are folded then, into fewer rows perhaps than there are
            earlier = 1 if timeline.total > len(timeline.attempts) else 0
            wanted = 4 + earlier + len(folded(timeline.attempts, most - 4 - earlier))
        return min(wanted, most)

    def steady_height(self, column: int, lens: Lens, snapshot: Snapshot) -> int:
        """As `height_in`, but a pane that has too many rows keeps them until the person has stayed a while: going
        from run to run then moves no pane and lays nothing out."""
        wanted = self.height_in(column, lens, snapshot)
        run_id = None if snapshot.detail is None else snapshot.detail.run.run_id
        place = (column, lens.columns, lens.rows)
        if run_id != self._steady_run:
            self._steady_run, self._steady_since = run_id, time.monotonic()
        if place != self._steady_place or wanted > self._steady or time.monotonic() - self._steady_since > STEADY_S:
            self._steady_place, self._steady = place, wanted
        return self._steady

    @property
    def _timeline(self) -> ShownTimeline | None:
        return None if self._detail is None else self._detail.timeline

    def _draw(self, snapshot: Snapshot, lens: Lens) -> None:
        timeline, width = self._timeline, self.size.width
        if timeline is None:
            show(self._head, ())
            show(self._foot, ())
            blank = snapshot.is_blank
            self.list.show(EmptySource(start_here(snapshot, width, lens) if blank else ()))
            return
        self._view = replace(self._view, focused=self.has_pane_focus, cursor=self.list.shown_cursor)
        heads = 1 if lens.short else 2
        room = max(self.size.height - heads - 2, 1)
        height = heads + 1 + max(room, len(folded(timeline.attempts, room)))
        parts = timeline_parts(timeline, width, lens, self._view, height)
        show(self._head, parts.head)
        # A pane that has more rows than it needs keeps the sums directly below the attempts.
        spare = len(parts.rows) < room
        rows = (*parts.rows, *(TimelineRow(line) for line in parts.foot)) if spare else parts.rows
        show(self._foot, [EMPTY] if spare else parts.foot)
        self.list.show(AttemptsSource(rows))

    # Zoom and pan

    def fit(self) -> None:
        """The whole run again."""
        self._view = replace(self._view, window=None)

    @property
    def following(self) -> bool:
        """Whether the newest attempt stays on screen, until the person goes to another."""
        return self.list.following

    def follow(self, following: bool) -> None:
        """Keeps the live end and the newest attempt on screen, or stops doing so."""
        self.list.following = following
        if following:
            self.fit()

    def action_fit(self) -> None:
        self.fit()
        self._redraw()

    def action_zoom_in(self) -> None:
        self._zoom(ZOOM)

    def action_zoom_out(self) -> None:
        self._zoom(1 / ZOOM)

    def action_pan(self, step: int) -> None:
        if self._timeline is not None and self._lens is not None:
            window = window_of(self._timeline, self._lens, self._view).panned(PAN * step)
            self._view = replace(self._view, window=window)
            self._redraw()

    def _zoom(self, factor: float) -> None:
        timeline, lens = self._timeline, self._lens
        if timeline is None or lens is None:
            return
        window = window_of(timeline, lens, self._view)
        chosen = next((each for each in timeline.attempts if each.attempt_id == self.list.cursor_id), None)
        around = chosen.started_at if chosen else window.end
        self._view = replace(self._view, window=window.zoomed(factor, around))
        self._redraw()

    def _redraw(self) -> None:
        if self._lens is not None and self._snapshot is not None:
            self._draw(self._snapshot, self._lens)
            self.paint(self._snapshot, self._lens)

    def cursor_moved(self) -> None:
        """The sums line shows the attempt under the cursor exactly."""
        self._redraw()

    def keys(self) -> Keys:
        arrows = ("+ -", "zoom")
        return (("j k", "attempt"), ("← →", "pan"), arrows, ("0", "fit"), ("f", "follow"), ("Enter", "open"))

    def position(self) -> Line:
        timeline = self._timeline
        if timeline is None or not timeline.total:
            return EMPTY
        words = "1 attempt" if timeline.total == 1 else f"{timeline.total} attempts"
        return (Span(words, "muted"),)
