"""The cursor of a list: an id, the place where its row stands or stood, and the ghost of a row that is gone.

Places of rows *as they are shown* count the ghost as a row of its own, at the cursor's place.
"""

from collections.abc import Sequence
from enum import Enum, auto

from lockgate.tui.widgets.line_source import LineSource
from lockgate.view.cells import Line


class Placed(Enum):
    """What newer rows did to the cursor."""

    SAME = auto()
    FIRST = auto()
    """It had no row yet, and has one now."""
    GONE = auto()
    """Its row left just now."""


class RowCursor:
    """Knows no widget: rows go in, places come out."""

    def __init__(self, *, from_end: bool) -> None:
        self._from_end = from_end
        self.row_id: str | None = None
        self.index = 0
        self.ghost: tuple[Line, ...] | None = None

    def forget(self) -> None:
        """Has no row, as at the beginning."""
        self.row_id, self.index, self.ghost = None, 0, None

    @property
    def target(self) -> str | None:
        """What an action acts on: nothing while the row is a ghost."""
        return None if self.ghost is not None else self.row_id

    def place(self, source: LineSource) -> Placed:
        """Finds its row among newer ones; the caller gives a ghost its lines when the row is GONE."""
        if self.row_id is None:
            end = len(source) - 1
            found = self.settle(source, end, -1) if self._from_end else self.settle(source, 0, 1)
            return Placed.FIRST if found else Placed.SAME
        index = source.index_of(self.row_id)
        if index is not None:
            self.index, self.ghost = index, None
            return Placed.SAME
        self.index = min(self.index, len(source))
        return Placed.SAME if self.ghost is not None else Placed.GONE

    def settle(self, source: LineSource, index: int, step: int) -> bool:
        """Takes the nearest row with an id from `index` on; past headings in steps of `step`."""
        while 0 <= index < len(source):
            row_id = source.id_at(index)
            if row_id is not None:
                self.row_id, self.index, self.ghost = row_id, index, None
                return True
            index += step
        return False

    def beside(self, step: int) -> int:
        """The place in the source that is `step` rows on; a ghost has none of its own there."""
        return self.index + step - (1 if self.ghost is not None and step > 0 else 0)

    def shown_at(self, index: int) -> int:
        """Where a row of the source is shown."""
        return index + 1 if self.ghost is not None and index >= self.index else index

    def source_index(self, shown: int) -> int | None:
        """The row of the source that is shown there; None for the ghost."""
        if self.ghost is None or shown < self.index:
            return shown
        return None if shown == self.index else shown - 1

    def shown_rows(self, source: LineSource) -> int:
        """How many rows are shown, the ghost among them."""
        return len(source) + (1 if self.ghost is not None else 0)


def lines_of(source: LineSource, cursor: RowCursor, shown: int, width: int, selected: bool) -> Sequence[Line]:
    """The lines of a row as it is shown; none past the end."""
    index = cursor.source_index(shown)
    if index is None:
        return cursor.ghost or ()
    return source.lines(index, width, selected) if 0 <= index < len(source) else ()
