"""The blocks of a card: they scroll, and they know whether the last line has been on screen."""

from textual import events
from textual.message import Message
from textual.strip import Strip

from lockgate.tui.paint import strip_of
from lockgate.tui.styling import styles_of
from lockgate.tui.widgets.lines_view import LinesView
from lockgate.tui.widgets.text_source import lines_source
from lockgate.view.cells import Line, Span
from lockgate.view.glyphs import UNICODE, Glyphs


class BlocksView(LinesView, can_focus=False):
    """A list without a cursor, with a scrollbar of one cell where it is needed."""

    class Read(Message):
        """Other lines are on screen now."""

    def __init__(self) -> None:
        super().__init__(id="card-blocks", ground="card")
        self.glyphs: Glyphs = UNICODE
        self.is_seen = False
        """Whether the last line has been on screen since `begin`."""
        self.room = 0
        """The rows that the next layout gives this view: with more than these it is still laid out as before."""

    def begin(self) -> None:
        """Shows another request: nothing of it has been seen."""
        self.forget()
        self.is_seen, self.room = False, 0
        self._scroll_to_line(0)

    def show_lines(self, lines: list[Line]) -> None:
        self.show(lines_source(lines))
        self._look()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._look)

    @property
    def last_visible(self) -> int:
        """How many lines have been passed at the bottom of the view."""
        return min(self.scroll_offset.y + self.size.height, len(self.source))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._look()

    def _look(self) -> None:
        laid_out = 0 < self.size.height <= self.room
        if laid_out and self.last_visible >= len(self.source):
            self.is_seen = True
        self.post_message(self.Read())

    def page(self, step: int) -> None:
        """Reads on, or back, by one view less a line."""
        self._scroll_by(step * max(1, self.size.height - 1))

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        total, height, width = len(self.source), self.size.height, self.size.width
        if total <= height or width < 2:
            return strip
        thumb = max(1, height * height // total)
        top = (height - thumb) * self.scroll_offset.y // max(1, self.max_scroll_y)
        inside = top <= y < top + thumb
        bar: Line = (Span(self.glyphs.thumb if inside else self.glyphs.upright, "muted" if inside else "line"),)
        mark = strip_of(bar, styles_of(self), "card", 1)
        return Strip.join([strip.crop(0, width - 2), mark, strip.crop(width - 1, width)])
