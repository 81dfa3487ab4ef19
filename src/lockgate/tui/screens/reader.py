"""A text on the whole screen: an event's payload, a step's values."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from lockgate.tui.widgets.line_block import LineBlock
from lockgate.tui.widgets.lines_view import LinesView
from lockgate.tui.widgets.text_source import lines_source
from lockgate.view.cells import Line, Span, fitted, joined
from lockgate.view.lens import Lens
from lockgate.view.rules import keys, pane_rule


class ReaderScreen(ModalScreen[None]):
    """Scrolls; every way out closes it and changes nothing."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "close", "close", id="reader.close")]

    def __init__(self, title: str, lines: Sequence[Line], lens: Lens) -> None:
        super().__init__()
        self._title, self._lines, self._lens = title, lines, lens
        self._rule = LineBlock(id="reader-rule")
        self._list = LinesView(id="reader-list")
        self._keys = LineBlock(ground="surface", id="reader-keys")

    def compose(self) -> ComposeResult:
        with Vertical(id="reader"):
            yield self._rule
            yield self._list
            yield self._keys

    def on_mount(self) -> None:
        self._list.show(lines_source(self._lines))
        self.set_focus(self._list)

    def on_resize(self) -> None:
        width = self.app.size.width
        start = joined(Span(self._title, "accent", bold=True))
        end: Line = (Span(f"{len(self._lines)} lines", "muted"),)
        self._rule.show([pane_rule(start, end, width, self._lens, focused=True)])
        pairs = (("j k", "scroll"), ("PgDn", "page"), ("esc", "close"))
        self._keys.show([fitted(joined(Span(" "), keys(pairs, width - 2, self._lens)), width)])

    def action_close(self) -> None:
        self.dismiss()
