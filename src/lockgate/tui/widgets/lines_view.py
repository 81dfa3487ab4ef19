"""Rows painted a line at a time, at any length, with exact scrolling; what a list with a cursor is built on.

Cost: new data paints the rows on screen that differ, and only a view that outgrows its block of virtual lines is
laid out again.
"""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from lockgate.tui.paint import strip_of
from lockgate.tui.styling import styles_of
from lockgate.tui.widgets.line_source import EmptySource, LineSource, same_cells
from lockgate.view.cells import Line

BLOCK = 512
"""Virtual lines are added this many at a time: each change of the virtual size lays the screen out again."""


class LinesView(ScrollView, can_focus=True):
    """Paints a `LineSource`; the keys scroll it. `following` keeps its end on screen."""

    DEFAULT_CSS = """
    LinesView { scrollbar-size: 0 0; overflow-x: hidden; overflow-y: auto; height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "down", id="list.down", show=False),
        Binding("k,up", "move(-1)", "up", id="list.up", show=False),
        Binding("g,home", "first", "first", id="list.first", show=False),
        Binding("G,end", "last", "last", id="list.last", show=False),
        Binding("pagedown", "page(1)", "page down", id="list.page_down", show=False),
        Binding("pageup", "page(-1)", "page up", id="list.page_up", show=False),
    ]

    following: var[bool] = var(False)

    class Scrolled(Message):
        """Other rows are on screen now: `first` is the index of the top one, `count` how many fit."""

        def __init__(self, sender: "LinesView", first: int, count: int) -> None:
            super().__init__()
            self.list, self.first, self.count = sender, first, count

    def __init__(self, *, id: str | None = None, ground: str = "bg") -> None:
        super().__init__(id=id)
        self._ground = ground
        self._source: LineSource = EmptySource()
        self._rows: dict[int, tuple[Line, ...]] = {}
        self._seen = 0
        self.bar = "▌"

    @property
    def source(self) -> LineSource:
        return self._source

    @property
    def target(self) -> str | None:
        """What an action acts on: nothing, in a view without a cursor."""
        return None

    @property
    def first_visible(self) -> int:
        """The index of the row at the top."""
        return self.scroll_offset.y // self._source.row_height

    @property
    def visible_count(self) -> int:
        """How many rows fit, at least one."""
        return max(1, self.size.height // self._source.row_height)

    @property
    def new_below(self) -> int:
        """Rows that arrived at the end since it was last on screen."""
        return max(0, len(self._source) - self._seen)

    def show(self, source: LineSource) -> None:
        """Takes the rows of a newer snapshot; paints what differs and moves nothing that is being read."""
        at_top = self.scroll_offset.y == 0
        anchor = self._anchor()
        self._source = source
        self._take_rows()
        self._grow()
        if self.following:
            self._go_to_end()
        elif anchor is not None:
            self._keep(anchor, at_top)
        self._note_seen()
        self._repaint_changes()

    def forget(self) -> None:
        """Begins anew with the next source: its rows are those of something else."""
        self._seen = 0
        self._source = EmptySource()
        self._rows.clear()

    async def on_event(self, event: events.Event) -> None:
        """Acts on keys one after the other, as they come in a burst over a slow line.

        The framework takes a key to its action by way of several queues, so the keys behind it would meet the
        focus of before: a letter behind a slash is text of the filter, and must not act on a run.
        """
        if isinstance(event, events.Key) and self.app.screen_stack:  # empty while the app ends
            focused = self.app.focused
            if focused is not self:
                (focused or self.app.screen).post_message(event)
                return
            if await self.app._check_bindings(event.key):
                return
        await super().on_event(event)

    # What a list with a cursor does otherwise

    def _take_rows(self) -> None:
        """The source is another one: looks after what is kept by its ids."""

    def _shown_rows(self) -> int:
        """How many rows are shown."""
        return len(self._source)

    def _shown_at(self, index: int) -> int:
        """Where a row of the source is shown."""
        return index

    def _build(self, shown: int) -> Sequence[Line]:
        """The lines of a row as it is shown; none past the end."""
        known = 0 <= shown < len(self._source)
        return self._source.lines(shown, self.size.width, False) if known else ()

    def _anchor(self) -> tuple[str, int] | None:
        """The row that must not move on screen, with its distance in lines from the top."""
        first = self.first_visible
        row_id = self._source.id_at(first) if first < len(self._source) else None
        return None if row_id is None else (row_id, first * self._source.row_height - self.scroll_offset.y)

    def action_move(self, step: int) -> None:
        self._scroll_by(step)

    def action_page(self, step: int) -> None:
        self._scroll_by(step * max(1, self.size.height - 1))

    def action_first(self) -> None:
        self.following = False
        self._scroll_to_line(0)

    def action_last(self) -> None:
        self._scroll_to_line(self.max_scroll_y)

    # Scrolling

    @property
    def max_scroll_y(self) -> int:
        """Exact, although the virtual size is rounded up to whole blocks."""
        return max(0, self._shown_rows() * self._source.row_height - self.size.height)

    def _grow(self) -> None:
        lines = self._shown_rows() * self._source.row_height
        wanted = Size(self.size.width, -(-max(lines, 1) // BLOCK) * BLOCK)
        if wanted != self.virtual_size:
            self.virtual_size = wanted
        if self.scroll_offset.y > self.max_scroll_y:
            self._scroll_to_line(self.max_scroll_y)

    def _scroll_to_line(self, y: int) -> None:
        # Forced: a list that just got more rows than it shows is not "scrollable" before the next layout.
        self.scroll_to(y=max(0, min(y, self.max_scroll_y)), animate=False, force=True)

    def _scroll_by(self, lines: int) -> None:
        if lines < 0:
            self.following = False
        self._scroll_to_line(self.scroll_offset.y + lines)

    def _keep(self, anchor: tuple[str, int], at_top: bool) -> None:
        row_id, offset = anchor
        index = self._source.index_of(row_id)
        if index is None:
            return
        top = index * self._source.row_height
        # A list that shows its newest rows goes on doing so, as long as the anchored row stays on screen.
        if at_top and top + self._source.row_height <= self.size.height:
            return
        if top - offset != self.scroll_offset.y:
            self._scroll_to_line(top - offset)

    def _go_to_end(self) -> None:
        self._scroll_to_line(self.max_scroll_y)

    def _note_seen(self) -> None:
        if self.scroll_offset.y >= self.max_scroll_y:
            self._seen = len(self._source)

    def watch_following(self, following: bool) -> None:
        if following and self.is_attached:
            self._go_to_end()
            self._note_seen()
            self._rows.clear()
            self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) == round(new_value):
            return
        if self.following and round(new_value) < self.max_scroll_y:
            self.following = False
        self._note_seen()
        self._say_scrolled()

    def on_resize(self, event: events.Resize) -> None:
        self._rows.clear()  # they have the width of before, and may have been painted with it
        self.refresh()
        self._grow()
        self._fit_cursor()
        self._note_seen()
        self._say_scrolled()

    def _fit_cursor(self) -> None:
        """The size is another one: what was on screen and matters still is."""
        if self.following:
            self._go_to_end()

    def _say_scrolled(self) -> None:
        self.post_message(self.Scrolled(self, self.first_visible, self.visible_count))

    # Painting

    def retime(self, source: LineSource, ids: Sequence[str]) -> None:
        """Takes the same rows at a later moment: of these rows, the cells that changed are painted again."""
        self._source = source
        for row_id in ids:
            index = source.index_of(row_id)
            if index is None:
                continue
            shown = self._shown_at(index)
            old = self._rows.pop(shown, None)
            if old is not None:
                self._refresh_cells(shown, old, self._row(shown))

    def _row(self, shown: int) -> tuple[Line, ...]:
        """The lines of a row as it is shown; remembered until it may have changed."""
        lines = self._rows.get(shown)
        if lines is None:
            lines = self._rows[shown] = tuple(self._build(shown))
        return lines

    def _repaint_changes(self) -> None:
        old, self._rows = self._rows, {}
        first = self.first_visible
        for shown in range(first, first + self.visible_count + 2):
            if old.get(shown) != self._row(shown):
                self._refresh_row(shown)

    def _refresh_row(self, shown: int) -> None:
        height = self._source.row_height
        y = shown * height - self.scroll_offset.y
        if -height < y < self.size.height:
            self.refresh(Region(0, y, self.size.width, height))

    def _refresh_cells(self, shown: int, old: Sequence[Line], new: Sequence[Line]) -> None:
        top = shown * self._source.row_height - self.scroll_offset.y
        for part, line in enumerate(new):
            before = old[part] if part < len(old) else ()
            if line != before and 0 <= top + part < self.size.height:
                start = same_cells(before, line)
                self.refresh(Region(start, top + part, self.size.width - start, 1))

    def render_line(self, y: int) -> Strip:
        shown, part = divmod(y + self.scroll_offset.y, self._source.row_height)
        return self._strip(shown, part)

    def _strip(self, shown: int, part: int, *, selected: bool = False) -> Strip:
        lines = self._row(shown)
        line = lines[part] if part < len(lines) else ()
        return strip_of(line, styles_of(self), self._ground, self.size.width, selected=selected)
