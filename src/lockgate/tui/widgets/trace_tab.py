"""The Trace tab: a window of the events, by their dense number, the newest at the end."""

from collections.abc import Mapping, Sequence

from lockgate.tui.widgets.line_list import LineList
from lockgate.tui.widgets.line_source import EmptySource
from lockgate.view.cells import EMPTY, Line, Span, blank, joined
from lockgate.view.lens import Lens
from lockgate.view.snapshots import ShownEvent, TracePage
from lockgate.view.trace import NO_EVENTS, seq_width, trace_line

REMEMBERED = 2_000


class TraceSource:
    """`seq` is the place plus one; events outside of the window are blank until they are read."""

    row_height = 1

    def __init__(self, total: int, events: Mapping[int, ShownEvent], lens: Lens) -> None:
        self._total, self._events, self._lens = total, events, lens
        self._seq_cells = seq_width(total)

    def __len__(self) -> int:
        return self._total

    def id_at(self, index: int) -> str | None:
        return str(index + 1)

    def index_of(self, row_id: str) -> int | None:
        index = int(row_id) - 1
        return index if index < self._total else None

    def lines(self, index: int, width: int, selected: bool) -> Sequence[Line]:
        event = self._events.get(index + 1)
        if event is None:
            return (EMPTY,)
        row = trace_line(event, width, self._lens, selected=selected, seq_cells=self._seq_cells)
        return (row,)


class TraceTab(LineList):
    """The list of events of one run."""

    def __init__(self) -> None:
        super().__init__(id="trace", from_end=True)
        self._run_id: str | None = None
        self._events: dict[int, ShownEvent] = {}
        self._below = ""
        self.following = True

    def show_page(self, run_id: str, page: TracePage, lens: Lens) -> None:
        """Shows a window of a run's trace, with what is remembered around it."""
        self._below = lens.glyphs.below
        if run_id != self._run_id:
            self.forget()
            self._run_id, self._events = run_id, {}
            self.following = True
        self._events.update((event.seq, event) for event in page.rows)
        if len(self._events) > REMEMBERED:
            self._events = {event.seq: event for event in page.rows}
        if page.total:
            self.show(TraceSource(page.total, self._events, lens))
        else:
            self.show(EmptySource([EMPTY, joined(blank(2), Span(NO_EVENTS))]))

    def event(self, row_id: str) -> ShownEvent | None:
        """An event by its row."""
        return self._events.get(int(row_id))

    def window(self) -> int | None:
        """The first event that the feed should read; None while the end is on screen."""
        if self.following or self.scroll_offset.y >= self.max_scroll_y:
            return None
        return max(1, self.first_visible + 1 - self.visible_count)

    def position(self) -> Line:
        """`20 of 20 events`, or how many are new below."""
        if self.new_below:
            return (Span(f"{self.new_below} new below {self._below}", "accent"),)
        return EMPTY
