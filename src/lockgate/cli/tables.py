"""Plain tables for people: columns lined up in terminal cells, clipped only where there is a terminal."""

import shutil
import sys
from collections.abc import Sequence

from lockgate.model.text import cell_width, clean, clip

_GAP = "  "


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows under their head; the last column takes the rest of the terminal's width, and is not crowded out."""
    cells = [[clean(cell) for cell in row] for row in (head, *rows)]
    widths = [max(cell_width(row[column]) for row in cells) for column in range(len(head))]
    columns = terminal_columns()
    if columns is not None:
        widths = _fitting(widths, columns)
    lines = (_GAP.join(map(_padded, row, widths)) for row in cells)
    return "\n".join(line.rstrip() if columns is None else clip(line.rstrip(), columns) for line in lines)


def _fitting(widths: Sequence[int], columns: int) -> list[int]:
    """The widths, of which the widest but the last give way, down to a third of the terminal."""
    inner, third = list(widths[:-1]), columns // 3
    over = sum(inner) + len(_GAP) * len(inner) + min(widths[-1], third) - columns
    for column in sorted(range(len(inner)), key=inner.__getitem__, reverse=True):
        given = max(0, min(over, inner[column] - third))
        inner[column] -= given
        over -= given
    return [*inner, widths[-1]]


def terminal_columns() -> int | None:
    """How wide the terminal is; None where stdout is none, and nothing is clipped."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _padded(cell: str, width: int) -> str:
    shown = _shortened(cell, width)
    return shown + " " * (width - cell_width(shown))


def _shortened(cell: str, most: int) -> str:
    """A cell of at most `most` cells, cut in its middle: of an attempt in an include the end says which it is."""
    if cell_width(cell) <= most:
        return cell
    end = cell[len(cell) // 2 :]
    while end and cell_width(end) > most // 2:
        end = end[1:]
    return clip(cell, most - cell_width(end)) + end
