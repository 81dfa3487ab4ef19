"""One list for every pane: rows with an identity, painted a line at a time, at any length.

The cursor is an id, never a position: rows may arrive, move or leave and the cursor stays on what the person
chose. When its row is gone a ghost row keeps its place and nothing can be done to it until the person moves.
The scroll position is tied to the row under the cursor, or, while following, to the end.

Cost: a move of the cursor paints two rows, new data paints the rows on screen that differ, and only a list
that outgrows its block of virtual rows is laid out again.
"""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from lockgate.tui.paint import strip_of
from lockgate.tui.styling import styles_of
from lockgate.tui.widgets.line_source import EmptySource, GhostLines, LineSource, muted_ghost, same_cells
from lockgate.tui.widgets.row_cursor import Placed, RowCursor, lines_of
from lockgate.view.cells import Line

BLOCK = 512
"""Virtual lines are added this many at a time: each change of the virtual size lays the screen out again."""


class LineList(ScrollView, can_focus=True):
    """Paints a `LineSource` and keeps a cursor on it."""

    DEFAULT_CSS = """
    LineList { scrollbar-size: 0 0; overflow-x: hidden; overflow-y: auto; height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "down", id="list.down", show=False),
        Binding("k,up", "move(-1)", "up", id="list.up", show=False),
        Binding("g,home", "first", "first", id="list.first", show=False),
        Binding("G,end", "last", "last", id="list.last", show=False),
        Binding("pagedown", "page(1)", "page down", id="list.page_down", show=False),
        Binding("pageup", "page(-1)", "page up", id="list.page_up", show=False),
        Binding("enter", "open", "open", id="list.open", show=False),
    ]

    following: var[bool] = var(False)

    class Moved(Message):
        """The cursor is elsewhere; `row_id` is None on a ghost. `by_person` is False where a list that just got
        its rows gave the cursor its first place, or where its row left."""

        def __init__(self, sender: "LineList", row_id: str | None, *, by_person: bool = True) -> None:
            super().__init__()
            self.list, self.row_id, self.by_person = sender, row_id, by_person

    class Opened(Message):
        """The person opened the row under the cursor."""

        def __init__(self, sender: "LineList", row_id: str) -> None:
            super().__init__()
            self.list, self.row_id = sender, row_id

    class Scrolled(Message):
        """Other rows are on screen now: `first` is the index of the top one, `count` how many fit."""

        def __init__(self, sender: "LineList", first: int, count: int) -> None:
            super().__init__()
            self.list, self.first, self.count = sender, first, count

    def __init__(
        self, *, id: str | None = None, cursor: bool = True, from_end: bool = False, ground: str = "bg"
    ) -> None:
        super().__init__(id=id)
        self._ground = ground
        self._source: LineSource = EmptySource()
        self._cursor = RowCursor(from_end=from_end)
        self._has_cursor = cursor
        self._visited = False
        self._rows: dict[int, tuple[Line, ...]] = {}
        self._seen = 0
        self.bar = "▌"
        self.ghost: GhostLines = muted_ghost

    # What the screen asks

    @property
    def source(self) -> LineSource:
        return self._source

    @property
    def cursor_id(self) -> str | None:
        """The id that the person chose, also while its row is a ghost."""
        return self._cursor.row_id

    @property
    def target(self) -> str | None:
        """What an action acts on: the row under the cursor, None on a ghost."""
        return self._cursor.target

    @property
    def shown_cursor(self) -> str | None:
        """The row that is painted as the chosen one: none before the list had the focus once."""
        return self._cursor.row_id if self._visited else None

    @property
    def cursor_index(self) -> int:
        """Where the cursor stands in the source, from 0."""
        return self._cursor.index

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

    # What the screen says

    def show(self, source: LineSource) -> None:
        """Takes the rows of a newer snapshot; paints what differs and moves nothing under the cursor."""
        at_top = self.scroll_offset.y == 0
        anchor = self._anchor()
        self._source = source
        self._place_cursor()
        self._grow()
        if self.following:
            self._go_to_end()
        elif anchor is not None:
            self._keep(anchor, at_top)
        self._note_seen()
        self._repaint_changes()

    def select(self, row_id: str) -> None:
        """Puts the cursor on a row by its id, without a message; a row that is not there is ignored."""
        index = self._source.index_of(row_id)
        if index is not None and (row_id != self._cursor.row_id or self._cursor.ghost is not None):
            self._set_cursor(index, 1)

    def forget(self) -> None:
        """Begins anew with the next source: its rows are those of something else."""
        self._cursor.forget()
        self._seen = 0
        self._visited = self._has_cursor and self.has_focus
        self._source = EmptySource()
        self._rows.clear()

    def retime(self, source: LineSource, ids: Sequence[str]) -> None:
        """Takes the same rows at a later moment: of these rows, the cells that changed are painted again."""
        self._source = source
        for row_id in ids:
            index = source.index_of(row_id)
            if index is None:
                continue
            shown = self._cursor.shown_at(index)
            old = self._rows.pop(shown, None)
            if old is not None:
                self._refresh_cells(shown, old, self._row(shown))

    # Cursor

    def _place_cursor(self) -> None:
        cursor = self._cursor
        placed = cursor.place(self._source)
        if placed is Placed.GONE and cursor.row_id is not None:
            last = self._rows.get(cursor.index, ((),))
            cursor.ghost = tuple(self.ghost(cursor.row_id, last))
        if placed is not Placed.SAME:
            self.post_message(self.Moved(self, cursor.target, by_person=False))

    def _set_cursor(self, index: int, step: int) -> bool:
        cursor, old, had_ghost = self._cursor, self._cursor.index, self._cursor.ghost is not None
        before = cursor.target
        if not cursor.settle(self._source, index, step):
            return False
        if had_ghost:
            self._grow()
            self._rows.clear()
            self.refresh()
        self._scroll_into_view(cursor.index)
        for shown in {old, cursor.index}:
            self._rows.pop(shown, None)
            self._refresh_row(shown)
        return cursor.target != before

    def move_cursor(self, index: int, step: int = 1) -> None:
        """Moves to a row by position, past headings in the direction of `step`, and says so upwards."""
        index = max(0, min(index, len(self._source) - 1))
        if self._set_cursor(index, step):
            self.post_message(self.Moved(self, self._cursor.row_id))

    def action_move(self, step: int) -> None:
        if step < 0:
            self.following = False
        if self._has_cursor and self._cursor.row_id is not None:
            self.move_cursor(self._cursor.beside(step), step)
        else:
            self._scroll_by(step)

    def action_page(self, step: int) -> None:
        rows = step * max(1, self.visible_count - 1)
        if step < 0:
            self.following = False
        if self._has_cursor and self._cursor.row_id is not None:
            self.move_cursor(self._cursor.index + rows, step)
        else:
            self._scroll_by(rows * self._source.row_height)

    def action_first(self) -> None:
        self.following = False
        if self._has_cursor:
            self.move_cursor(0, 1)
        self._scroll_to_line(0)

    def action_last(self) -> None:
        if self._has_cursor:
            self.move_cursor(len(self._source) - 1, -1)
        self._scroll_to_line(self.max_scroll_y)

    def action_open(self) -> None:
        if self.target is not None and self._has_cursor:
            self.post_message(self.Opened(self, self.target))

    # Scrolling

    @property
    def max_scroll_y(self) -> int:
        """Exact, although the virtual size is rounded up to whole blocks."""
        lines = self._cursor.shown_rows(self._source) * self._source.row_height
        return max(0, lines - self.size.height)

    def _grow(self) -> None:
        lines = self._cursor.shown_rows(self._source) * self._source.row_height
        wanted = Size(self.size.width, -(-max(lines, 1) // BLOCK) * BLOCK)
        if wanted != self.virtual_size:
            self.virtual_size = wanted
        if self.scroll_offset.y > self.max_scroll_y:
            self._scroll_to_line(self.max_scroll_y)

    def _scroll_to_line(self, y: int) -> None:
        # Forced: a list that just got more rows than it shows is not "scrollable" before the next layout.
        self.scroll_to(y=max(0, min(y, self.max_scroll_y)), animate=False, force=True)

    def _scroll_by(self, lines: int) -> None:
        self._scroll_to_line(self.scroll_offset.y + lines)

    def _scroll_into_view(self, index: int) -> None:
        top = index * self._source.row_height
        bottom = top + self._source.row_height
        y, height = self.scroll_offset.y, self.size.height
        if height and top < y:
            self._scroll_to_line(top)
        elif height and bottom > y + height:
            self._scroll_to_line(bottom - height)

    def _anchor(self) -> tuple[str, int] | None:
        """The row that must not move on screen, with its distance in lines from the top."""
        height = self._source.row_height
        offset = self._cursor.index * height - self.scroll_offset.y
        if self._cursor.row_id is not None and 0 <= offset < self.size.height:
            return self._cursor.row_id, offset
        first = self.first_visible
        row_id = self._source.id_at(first) if first < len(self._source) else None
        return None if row_id is None else (row_id, first * height - self.scroll_offset.y)

    def _keep(self, anchor: tuple[str, int], at_top: bool) -> None:
        row_id, offset = anchor
        index = self._source.index_of(row_id)
        if index is None:
            return
        top = index * self._source.row_height
        # A list that shows its newest rows goes on doing so, as long as the cursor's row stays on screen.
        if at_top and top + self._source.row_height <= self.size.height:
            return
        if top - offset != self.scroll_offset.y:
            self._scroll_to_line(top - offset)

    def _go_to_end(self) -> None:
        if self._has_cursor:
            self._cursor.settle(self._source, len(self._source) - 1, -1)
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
        if self.following:
            self._go_to_end()
        elif self._cursor.row_id is not None and self._has_cursor:
            self._scroll_into_view(self._cursor.index)
        self._note_seen()
        self._say_scrolled()

    def _say_scrolled(self) -> None:
        self.post_message(self.Scrolled(self, self.first_visible, self.visible_count))

    # Painting

    def _row(self, shown: int) -> tuple[Line, ...]:
        """The lines of a row as it is shown, the ghost among them; remembered until it may have changed."""
        lines = self._rows.get(shown)
        if lines is None:
            selected = self._is_cursor(shown)
            lines = tuple(lines_of(self._source, self._cursor, shown, self.size.width, selected))
            self._rows[shown] = lines
        return lines

    def _is_cursor(self, shown: int) -> bool:
        return self._visited and self._cursor.row_id is not None and shown == self._cursor.index

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

    def on_focus(self) -> None:
        self._visited = self._has_cursor
        self._rows.pop(self._cursor.index, None)
        self._refresh_row(self._cursor.index)

    def on_blur(self) -> None:
        self._rows.pop(self._cursor.index, None)
        self._refresh_row(self._cursor.index)

    def render_line(self, y: int) -> Strip:
        shown, part = divmod(y + self.scroll_offset.y, self._source.row_height)
        lines = self._row(shown)
        selected = self._is_cursor(shown)
        width, styles = self.size.width, styles_of(self)
        line = lines[part] if part < len(lines) else ()
        strip = strip_of(line, styles, self._ground, width, selected=selected)
        if not selected:
            return strip
        bar = styles.select + styles.on_select["accent" if self.has_focus else "muted"]
        return Strip.join([Strip([Segment(self.bar, bar)], 1), strip.crop(1, width)])

    def on_click(self, event: events.Click) -> None:
        shown = (event.y + self.scroll_offset.y) // self._source.row_height
        index = self._cursor.source_index(shown)
        if not self._has_cursor or index is None or index >= len(self._source):
            return
        if self._source.id_at(index) is None:
            return
        event.stop()
        self.move_cursor(index)
        if event.chain == 2:
            self.action_open()
