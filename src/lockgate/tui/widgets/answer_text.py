"""The text that goes with a choice: several lines, a paste is one edit and never more than may be recorded."""

from textual import events
from textual.message import Message
from textual.widgets import TextArea

from lockgate.model.text import clean


class AnswerText(TextArea):
    """A text area that knows how many characters its choice takes."""

    class Cut(Message):
        """A paste was longer than what may be recorded; `lost` characters of it were left out."""

        def __init__(self, lost: int) -> None:
            super().__init__()
            self.lost = lost

    class Pasted(Message):
        """Text arrived by a paste: keys in it are no presses."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id, soft_wrap=True, show_line_numbers=False, tab_behavior="focus", compact=True)
        self.limit = 0
        self.cursor_blink = False

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        self.post_message(self.Pasted())
        if self.read_only:
            return
        # A control character in a paste would reach the terminal when the text is painted.
        text = clean(event.text, multiline=True)
        room = max(0, self.limit - len(self.text) + len(self.selected_text))
        lost = max(0, len(text) - room)
        if result := self._replace_via_keyboard(text[:room], *self.selection):
            self.move_cursor(result.end_location)
        if lost:
            self.post_message(self.Cut(lost))

    @property
    def rows(self) -> int:
        """The rows that the text takes at its width."""
        return self.wrapped_document.height
