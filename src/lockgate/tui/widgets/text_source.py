"""Lines that were built whole, as rows of a list without a cursor: output, info, a step's values, a payload."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from lockgate.view.cells import Line

Item = TypeVar("Item")


class TextSource(Generic[Item]):
    """Rows are known by their number; each is built when it is painted."""

    row_height = 1

    def __init__(self, items: Sequence[Item], build: Callable[[Item, int], Line]) -> None:
        self._items, self._build = items, build

    def __len__(self) -> int:
        return len(self._items)

    def id_at(self, index: int) -> str | None:
        return str(index)

    def index_of(self, row_id: str) -> int | None:
        index = int(row_id)
        return index if index < len(self._items) else None

    def lines(self, index: int, width: int, selected: bool) -> Sequence[Line]:
        return (self._build(self._items[index], width),)


def lines_source(lines: Sequence[Line]) -> TextSource[Line]:
    """Lines that already fit."""
    return TextSource(lines, lambda line, width: line)
