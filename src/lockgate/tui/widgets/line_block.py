"""A few fixed lines: header, banners, rules, the status line, the head and foot of a pane."""

from collections.abc import Sequence

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from lockgate.tui.paint import strip_of
from lockgate.tui.styling import styles_of
from lockgate.view.cells import Line


class LineBlock(Widget):
    """Shows the lines it was last given; what differs is painted again, nothing is laid out."""

    DEFAULT_CSS = """
    LineBlock { height: 1; width: 1fr; }
    """
    GROUND = "bg"

    def __init__(self, *, ground: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._ground = ground or self.GROUND
        self._lines: tuple[Line, ...] = ()
        self._selected: int | None = None

    @property
    def lines(self) -> tuple[Line, ...]:
        """What is shown now."""
        return self._lines

    def show(self, lines: Sequence[Line], *, selected: int | None = None) -> None:
        """Replaces the lines, one of them `selected`. The caller fits them to the width and keeps the height."""
        old, self._lines = self._lines, tuple(lines)
        before, self._selected = self._selected, selected
        for y in range(max(len(old), len(self._lines))):
            moved = before != selected and y in (before, selected)
            if moved or old[y : y + 1] != self._lines[y : y + 1]:
                self.refresh(Region(0, y, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        line = self._lines[y] if y < len(self._lines) else ()
        selected = y == self._selected
        return strip_of(line, styles_of(self), self._ground, self.size.width, selected=selected)


def show(block: LineBlock, lines: Sequence[Line], *, selected: int | None = None) -> None:
    """Shows lines in a block as high as they are; a block without lines takes no row."""
    if len(lines) != len(block.lines) or not lines:
        block.styles.height = max(len(lines), 1)
        block.display = bool(lines)
    block.show(lines, selected=selected)
