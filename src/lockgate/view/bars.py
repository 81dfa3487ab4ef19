"""One bar of the timeline: segments, gridlines, live end and outcome painted into cells."""

from collections.abc import Iterable, Sequence

from lockgate.view.axis import Window
from lockgate.view.cells import Line, Role, Span
from lockgate.view.glyphs import Glyphs
from lockgate.view.snapshots import Segment, SegmentKind

ROLES: dict[SegmentKind, Role] = {
    SegmentKind.WORK: "work",
    SegmentKind.PERSON: "you-bar",
    SegmentKind.AGENT: "agent",
    SegmentKind.PAUSED: "paused",
    SegmentKind.LOST: "bad",
}


def stroke(kind: SegmentKind, glyphs: Glyphs) -> str:
    """The character of a segment, in bars and in the legend."""
    return {
        SegmentKind.WORK: glyphs.work,
        SegmentKind.PERSON: glyphs.person,
        SegmentKind.AGENT: glyphs.agent,
        SegmentKind.PAUSED: glyphs.paused,
        SegmentKind.LOST: glyphs.lost,
    }[kind]


class Bar:
    """A row of cells that is painted from the back to the front; `first` and `last` are the segments' extent."""

    def __init__(self, width: int, window: Window, glyphs: Glyphs) -> None:
        self.width, self.window, self.glyphs = width, window, glyphs
        self.first: int | None = None
        self.last: int | None = None
        self._cells: list[tuple[str, Role, bool]] = [(" ", "text", False)] * width
        self._halves = [0] * width

    def grid(self, ticks: Iterable[int]) -> None:
        """Gridlines behind everything."""
        for cell in ticks:
            if 0 <= cell < self.width and self.glyphs.grid != " ":
                self._cells[cell] = (self.glyphs.grid, "line", False)

    def paint(self, segments: Sequence[Segment], now_ms: int) -> None:
        """The segments in order of their start; a later one wins a shared cell."""
        for segment in sorted(segments, key=lambda each: each.start):
            end = max(now_ms if segment.end is None else segment.end, segment.start)
            if end < self.window.start or segment.start > self.window.end:
                continue
            if segment.kind is SegmentKind.WORK:
                self._work(segment.start, end)
            else:
                self._solid(segment.kind, segment.start, end)

    def _solid(self, kind: SegmentKind, start: int, end: int) -> None:
        begin = min(self.window.cell(start, self.width), self.width - 1)
        stop = max(self.window.cell(end, self.width), begin + 1)
        mark = (stroke(kind, self.glyphs), ROLES[kind], kind is SegmentKind.LOST and self.glyphs.lost == "x")
        for cell in range(max(begin, 0), min(stop, self.width)):
            self._cells[cell] = mark
            self._halves[cell] = 0
            self._extend(cell)

    def _work(self, start: int, end: int) -> None:
        """Work ends in half cells, and is never less than half a cell."""
        begin = min(self.window.cell(start, self.width, 2), self.width * 2 - 1)
        stop = max(self.window.cell(end, self.width, 2), begin + 1)
        for half in range(max(begin, 0), min(stop, self.width * 2)):
            cell = half // 2
            if self._cells[cell][1] != "work":
                self._halves[cell] = 0
            self._halves[cell] |= 1 << (half % 2)
            glyph = ("", self.glyphs.work_left, self.glyphs.work_right, self.glyphs.work)[self._halves[cell]]
            self._cells[cell] = (glyph, "work", False)
            self._extend(cell)

    def _extend(self, cell: int) -> None:
        self.first = cell if self.first is None else min(self.first, cell)
        self.last = cell if self.last is None else max(self.last, cell)

    def live_end(self, kind: SegmentKind) -> None:
        """The tip of a bar that still grows, in the cell after it."""
        if self.last is not None and self.last + 1 < self.width:
            self.last += 1
            self._cells[self.last] = (self.glyphs.live_end, ROLES[kind], True)

    def cut_ends(self, start: int, end: int) -> None:
        """Marks where the bar of a span goes on outside of the window."""
        if not self.width:
            return
        if start < self.window.start:
            self._cells[0] = (self.glyphs.goes_left, "muted", False)
            self._extend(0)
        if end > self.window.end:
            self._cells[-1] = (self.glyphs.goes_right, "muted", False)
            self._extend(self.width - 1)

    def place(self, at: int) -> None:
        """Gives a bar without a segment a place for its outcome."""
        if self.first is None:
            cell = min(max(self.window.cell(at, self.width), 0), self.width - 1)
            self.first, self.last = cell + 1, cell - 1

    def write(self, texts: Sequence[str], role: Role, *, bold: bool = False, glyph_role: Role | None = None) -> None:
        """The outcome one cell right of the bar, else left of it; the first text that has room, else nothing.

        Texts start with a glyph of one cell; it overwrites gridlines, never segments.
        """
        first = 0 if self.first is None else self.first
        last = -1 if self.last is None else self.last
        for text in texts:
            if last + 2 + len(text) <= self.width:
                return self._write(last + 2, text, role, bold, glyph_role)
            if first - 1 - len(text) >= 0:
                return self._write(first - 1 - len(text), text, role, bold, glyph_role)
        return None

    def _write(self, cell: int, text: str, role: Role, bold: bool, glyph_role: Role | None) -> None:
        for index, character in enumerate(text):
            style = glyph_role if index == 0 and glyph_role else role
            self._cells[cell + index] = (character, style, bold)

    def line(self) -> Line:
        """The cells as spans, neighbours of one style joined."""
        spans: list[Span] = []
        text = ""
        style: tuple[Role, bool] = ("text", False)
        for character, role, bold in self._cells:
            if (role, bold) != style and character != " ":
                if text:
                    spans.append(Span(text, style[0], style[1]))
                text, style = "", (role, bold)
            text += character
        if text:
            spans.append(Span(text, style[0], style[1]))
        return tuple(spans)
