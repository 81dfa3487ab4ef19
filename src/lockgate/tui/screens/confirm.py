"""Asks before something that cannot be undone: the answer is a key of its own, never Enter and never a held key."""

import time
from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from lockgate.tui.guard import Guard, Press
from lockgate.tui.widgets.line_block import LineBlock
from lockgate.view.cells import EMPTY, Line, Span, fitted, joined

WIDTH = 66


class ConfirmScreen(ModalScreen[None]):
    """A question with its consequence; `y` does it, any other answer does not."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", "yes", id="confirm.yes"),
        Binding("n,escape,q", "no", "no", id="confirm.no"),
    ]

    def __init__(self, question: str, about: str, consequence: str, verb: str, act: Callable[[], None]) -> None:
        super().__init__()
        self._words = (question, about, consequence, verb)
        self._act = act
        self._guard = Guard(lambda: time.monotonic() * 1000)
        self._lines = LineBlock(ground="card", id="confirm-lines")

    def compose(self) -> ComposeResult:
        with Vertical(id="confirm"):
            yield self._lines

    def on_mount(self) -> None:
        self._guard.arm()
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    async def on_event(self, event: events.Event) -> None:
        """Acts on keys one after the other, so that each is judged by its own moment."""
        if isinstance(event, events.Key) and self.app.screen_stack:  # empty while the app ends
            self._guard.arrived(event.time * 1000)
            if await self.app._check_bindings(event.key):
                event.stop()
                return
        await super().on_event(event)

    def _draw(self, note: str = "") -> None:
        width = min(WIDTH, self.app.size.width - 2) - 6
        question, about, consequence, verb = self._words
        keys: Line = joined(
            Span("y", "strong", bold=True),
            Span(f" {verb}   ", "muted"),
            Span("n", "strong", bold=True),
            Span(" leave it", "muted"),
            Span(f"   {note}", "muted"),
        )
        rows = [(Span(question, "strong", bold=True),), (Span(about),), EMPTY, (Span(consequence, "muted"),), EMPTY]
        self._lines.show([fitted(line, max(width, 1)) for line in (*rows, keys)])

    def action_yes(self) -> None:
        press = self._guard.press()
        if press is Press.COUNTS:
            self.dismiss()
            self._act()
        elif press is Press.EARLY:
            self._draw("in a moment")

    def action_no(self) -> None:
        self.dismiss()
