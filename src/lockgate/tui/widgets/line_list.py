"""One list for every pane: rows with an identity, and a cursor on one of them.

The cursor is an id, never a position: rows may arrive, move or leave and the cursor stays on what the person
chose. When its row is gone a ghost row keeps its place and nothing can be done to it until the person moves.
The scroll position is tied to the row under the cursor, or, while following, to the end. A move of the cursor
paints two rows.
"""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from lockgate.tui.styling import styles_of
from lockgate.tui.widgets.line_source import GhostLines, muted_ghost
from lockgate.tui.widgets.lines_view import LinesView
from lockgate.tui.widgets.row_cursor import Placed, RowCursor, lines_of
from lockgate.view.cells import Line


class LineList(LinesView):
    """Paints a `LineSource` and keeps a cursor on it; the cursor is painted once the list has had the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="list.open", show=False),
    ]

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

    def __init__(self, *, id: str | None = None, from_end: bool = False, ground: str = "bg") -> None:
        super().__init__(id=id, ground=ground)
        self._cursor = RowCursor(from_end=from_end)
        self._visited = False
        self._aimed = False
        self.ghost: GhostLines = muted_ghost

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

    def aim(self, row_id: str) -> None:
        """Puts the cursor on a row that may not have been read yet: it is found with the rows that have it."""
        self._cursor.row_id = row_id
        self._aimed = self._visited = True

    @property
    def has_ghost(self) -> bool:
        """Whether the row under the cursor is gone."""
        return self._cursor.ghost is not None

    def haunt(self, ghost: GhostLines) -> None:
        """Words the ghost anew, when what became of its row is known."""
        cursor = self._cursor
        if cursor.ghost is not None and cursor.row_id is not None:
            cursor.ghost = tuple(ghost(cursor.row_id, cursor.ghost))
            self._repaint_cursor()

    def select(self, row_id: str) -> None:
        """Puts the cursor on a row by its id, without a message; a row that is not there is ignored."""
        index = self._source.index_of(row_id)
        if index is not None and (row_id != self._cursor.row_id or self._cursor.ghost is not None):
            self._set_cursor(index, 1)

    def forget(self) -> None:
        super().forget()
        self._cursor.forget()
        self._visited = self.has_focus

    def _take_rows(self) -> None:
        cursor = self._cursor
        placed = cursor.place(self._source)
        if placed is Placed.GONE and not self._visited:
            cursor.forget()  # nobody chose that row: the next one will do
            placed = cursor.place(self._source)
        if placed is Placed.GONE and cursor.row_id is not None:
            last = self._rows.get(cursor.index, ((),))
            cursor.ghost = tuple(self.ghost(cursor.row_id, last))
        if placed is not Placed.SAME:
            self.post_message(self.Moved(self, cursor.target, by_person=False))

    def _shown_rows(self) -> int:
        return self._cursor.shown_rows(self._source)

    def _shown_at(self, index: int) -> int:
        return self._cursor.shown_at(index)

    def _build(self, shown: int) -> Sequence[Line]:
        return lines_of(self._source, self._cursor, shown, self.size.width, self._is_cursor(shown))

    def _grow(self) -> None:
        super()._grow()
        if self._aimed and self._cursor.target is not None and self._source.index_of(self._cursor.target) is not None:
            self._aimed = False
            self._scroll_into_view(self._cursor.index)

    def _anchor(self) -> tuple[str, int] | None:
        offset = self._cursor.index * self._source.row_height - self.scroll_offset.y
        if self._cursor.row_id is not None and 0 <= offset < self.size.height:
            return self._cursor.row_id, offset
        return super()._anchor()

    def _go_to_end(self) -> None:
        self._cursor.settle(self._source, len(self._source) - 1, -1)
        super()._go_to_end()

    def _fit_cursor(self) -> None:
        if not self.following and self._cursor.row_id is not None:
            self._scroll_into_view(self._cursor.index)
        super()._fit_cursor()

    # Moving

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

    def _scroll_into_view(self, index: int) -> None:
        top = index * self._source.row_height
        bottom = top + self._source.row_height
        y, height = self.scroll_offset.y, self.size.height
        if height and top < y:
            self._scroll_to_line(top)
        elif height and bottom > y + height:
            self._scroll_to_line(bottom - height)

    def move_cursor(self, index: int, step: int = 1) -> None:
        """Moves to a row by position, past headings in the direction of `step`, and says so upwards."""
        index = max(0, min(index, len(self._source) - 1))
        if self._set_cursor(index, step):
            self.post_message(self.Moved(self, self._cursor.row_id))

    def action_move(self, step: int) -> None:
        if self._cursor.row_id is None:
            super().action_move(step)
            return
        if step < 0:
            self.following = False
        self.move_cursor(self._cursor.beside(step), step)

    def action_page(self, step: int) -> None:
        if self._cursor.row_id is None:
            super().action_page(step)
            return
        if step < 0:
            self.following = False
        self.move_cursor(self._cursor.index + step * max(1, self.visible_count - 1), step)

    def action_first(self) -> None:
        self.move_cursor(0, 1)
        super().action_first()

    def action_last(self) -> None:
        self.move_cursor(len(self._source) - 1, -1)
        super().action_last()

    def action_open(self) -> None:
        if self.target is not None:
            self.post_message(self.Opened(self, self.target))

    def on_click(self, event: events.Click) -> None:
        shown = (event.y + self.scroll_offset.y) // self._source.row_height
        index = self._cursor.source_index(shown)
        if index is None or index >= len(self._source) or self._source.id_at(index) is None:
            return
        event.stop()
        self.move_cursor(index)
        if event.chain == 2:
            self.action_open()

    # Painting

    def _is_cursor(self, shown: int) -> bool:
        return self._visited and self._cursor.row_id is not None and shown == self._cursor.index

    def on_focus(self) -> None:
        self._visited = True
        self._repaint_cursor()

    def on_blur(self) -> None:
        self._repaint_cursor()

    def _repaint_cursor(self) -> None:
        self._rows.pop(self._cursor.index, None)
        self._refresh_row(self._cursor.index)

    def _strip(self, shown: int, part: int, *, selected: bool = False) -> Strip:
        if not self._is_cursor(shown):
            return super()._strip(shown, part)
        strip, styles = super()._strip(shown, part, selected=True), styles_of(self)
        bar = styles.select + styles.on_select["accent" if self.has_focus else "muted"]
        return Strip.join([Strip([Segment(self.bar, bar)], 1), strip.crop(1, self.size.width)])
