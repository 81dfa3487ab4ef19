"""The line in which a filter is typed: it filters while it is typed, Enter keeps it, Escape clears it."""

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from lockgate.tui.widgets.line_block import LineBlock
from lockgate.view.cells import Span


class FilterRow(Horizontal):
    """One input behind a slash, above the status line; hidden while nothing is typed."""

    class Changed(Message):
        """The text is another one now; `kept` tells that the person is done."""

        def __init__(self, text: str, *, kept: bool) -> None:
            super().__init__()
            self.text, self.kept = text, kept

    def __init__(self) -> None:
        super().__init__(id="filter-row")
        self._label = LineBlock(ground="surface", id="filter-label")
        self.input = Input(id="filter-input", select_on_focus=False)

    def compose(self) -> ComposeResult:
        yield self._label
        yield self.input

    def open(self, text: str) -> None:
        """Shows the row with the filter in force, and takes the keys."""
        self._label.show([(Span("  /", "accent", bold=True),)])
        self.add_class("-open")
        self.input.value = text
        self.input.cursor_position = len(text)
        # At once: the next key of a burst is text already, and must not act on a run.
        self.screen.set_focus(self.input, scroll_visible=False)

    def close(self) -> None:
        self.remove_class("-open")

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_open:
            self.post_message(self.Changed(event.value.strip(), kept=False))

    @on(Input.Submitted)
    def _done(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Changed(event.value.strip(), kept=True))

    def on_key(self, event: events.Key) -> None:
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.post_message(self.Changed("", kept=True))
