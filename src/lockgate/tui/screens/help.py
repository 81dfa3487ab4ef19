"""Help: the keys of the focused pane, of its run and of everywhere; the glyphs; the two clocks."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from lockgate.tui.widgets.line_block import LineBlock
from lockgate.tui.widgets.lines_view import LinesView
from lockgate.tui.widgets.text_source import lines_source
from lockgate.view.cells import Line, Span, fitted, joined, spread
from lockgate.view.help import Keys, help_lines
from lockgate.view.lens import Lens

WIDTH = 84
PADDING = 3


class HelpScreen(ModalScreen[None]):
    """Explains the pane that had the focus; every way out closes it."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "close", "close", id="help.close"),
    ]

    def __init__(self, name: str, groups: Sequence[tuple[str, Keys]], lens: Lens) -> None:
        super().__init__()
        self._name, self._groups, self._lens = name, groups, lens
        self._top = LineBlock(ground="card", id="help-top")
        self._list = LinesView(id="help-list", ground="card")
        self._foot = LineBlock(ground="card", id="help-foot")

    def compose(self) -> ComposeResult:
        with Vertical(id="help"):
            yield self._top
            with Vertical(id="help-body"):
                yield self._list
                yield self._foot

    def on_mount(self) -> None:
        self.set_focus(self._list)

    def on_resize(self) -> None:
        width = min(WIDTH, self.app.size.width)
        inside = width - 2 - 2 * PADDING
        lines = help_lines(self._groups, inside, self._lens)
        self.query_one("#help").styles.width = width
        self.query_one("#help").styles.height = min(len(lines) + 6, self.app.size.height)
        self._top.show([self._border(width)])
        self._list.show(lines_source(lines))
        end: Line = joined(Span("esc", "strong", bold=True), Span(" close", "muted"))
        start: Line = (Span("j k PgDn scroll", "muted"),)
        self._foot.show([spread(start, end, inside, self._lens.glyphs.ellipsis)])

    def _border(self, width: int) -> Line:
        glyphs = self._lens.glyphs
        head = Span(f" Help: {self._name} ", "accent", bold=True)
        tail = Span(" keys of the focused pane first ", "muted") if width >= 70 else Span("")
        room = width - 4 - len(head.text) - len(tail.text)
        start = Span(f"{glyphs.box[0]}{glyphs.rule}", "accent")
        end = Span(f"{glyphs.rule}{glyphs.box[1]}", "accent")
        return fitted(joined(start, head, Span(glyphs.rule * max(room, 0), "accent"), tail, end), width)

    def action_close(self) -> None:
        self.dismiss()
