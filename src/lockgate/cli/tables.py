"""Plain tables for people: columns lined up in terminal cells, clipped only where there is a terminal."""

import shutil
import sys
from collections.abc import Sequence

from lockgate.model.text import cell_width, clean, clip

_GAP = "  "


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows under their head; the last column takes the rest of the terminal's width."""
    cells = [[clean(cell) for cell in row] for row in (head, *rows)]
    widths = [max(cell_width(row[column]) for row in cells) for column in range(len(head))]
    lines = (_GAP.join(_padded(cell, width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    columns = terminal_columns()
    return "\n".join(line.rstrip() if columns is None else clip(line.rstrip(), columns) for line in lines)


def terminal_columns() -> int | None:
    """How wide the terminal is; None where stdout is none, and nothing is clipped."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - cell_width(cell))
