"""Where a list gets its rows: a frozen value made from one snapshot."""

from collections.abc import Callable, Sequence
from typing import Protocol

from lockgate.view.cells import Line, line_width, restyled


class LineSource(Protocol):
    """Rows of one height, each with an identity, built when they are painted."""

    @property
    def row_height(self) -> int:
        """Lines of every row."""
        ...

    def __len__(self) -> int: ...

    def id_at(self, index: int) -> str | None:
        """The id of a row; None for a heading, which the cursor skips, and for a row not known yet."""
        ...

    def index_of(self, row_id: str) -> int | None:
        """Where a row stands; None when it is gone."""
        ...

    def lines(self, index: int, width: int, selected: bool) -> Sequence[Line]:
        """The `row_height` lines of a row, cell 0 left blank for the cursor bar."""
        ...


class EmptySource:
    """No rows; what stands in the list then is `words`, which nothing can be done to."""

    row_height = 1

    def __init__(self, words: Sequence[Line] = ()) -> None:
        self._words = tuple(words)

    def __len__(self) -> int:
        return len(self._words)

    def id_at(self, index: int) -> str | None:
        return None

    def index_of(self, row_id: str) -> int | None:
        return None

    def lines(self, index: int, width: int, selected: bool) -> Sequence[Line]:
        return (self._words[index],)


GhostLines = Callable[[str, Sequence[Line]], Sequence[Line]]
"""How a row that is gone is shown, from its id and the lines that it had."""


def muted_ghost(row_id: str, last: Sequence[Line]) -> Sequence[Line]:
    """The lines that the row had, without colour."""
    return [restyled(line, "muted") for line in last]


def same_cells(before: Line, after: Line) -> int:
    """How many cells at the start of two lines are the same."""
    cells = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        cells += line_width((new,))
    return cells
