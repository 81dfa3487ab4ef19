"""Time as cells: windows on a run, ticks, and which cell a moment falls into."""

from collections.abc import Iterator
from datetime import tzinfo

import msgspec

from lockgate.view import times
from lockgate.view.times import DAY, HOUR, MINUTE, SECOND

TICK_CELLS = 10
LEAST_SPAN = 100
_STEPS = (
    *(step * SECOND for step in (1, 2, 5, 10, 15, 30)),
    *(step * MINUTE for step in (1, 2, 5, 10, 15, 30)),
    *(step * HOUR for step in (1, 2, 6, 12)),
    DAY,
)


class Window(msgspec.Struct, frozen=True):
    """The span of wall time that a bar's cells stand for, in epoch milliseconds."""

    start: int
    end: int

    @property
    def span(self) -> int:
        return max(self.end - self.start, LEAST_SPAN)

    def cell(self, at: int, width: int, parts: int = 1) -> int:
        """The cell of a moment, or with `parts` the part of a cell; may lie outside of the width."""
        return (at - self.start) * width * parts // self.span

    def zoomed(self, factor: float, around: int) -> "Window":
        """Narrower by `factor` (above 1), keeping `around` at its place."""
        span = max(int(self.span / factor), LEAST_SPAN)
        start = around - (around - self.start) * span // self.span
        return Window(start, start + span)

    def panned(self, part: float) -> "Window":
        """Moved by a part of its own span; negative is to the left."""
        step = int(self.span * part)
        return Window(self.start + step, self.end + step)


def fitting(start: int, end: int | None, now_ms: int) -> Window:
    """The whole run from its first second; while it lives, 3 % more than now so that the live end has room."""
    start -= start % SECOND
    if end is not None:
        return Window(start, max(end, start + LEAST_SPAN))
    span = max(now_ms - start, LEAST_SPAN)
    return Window(start, start + span + span * 3 // 100 + 1)


def step_of(window: Window, width: int) -> int:
    """The smallest step whose ticks stand at least ten cells apart; beyond days, whole numbers of days."""
    for step in _STEPS:
        if step * width >= TICK_CELLS * window.span:
            return step
    days = -(-TICK_CELLS * window.span // (width * DAY)) if width else 1
    return days * DAY


def ticks(window: Window, width: int, zone: tzinfo) -> Iterator[tuple[int, str]]:
    """The cell and the label of each tick; the first tick of another day has the date as its label."""
    if width < 1:
        return
    step = step_of(window, width)
    offset = times.at(window.start, zone).utcoffset()
    shift = int(offset.total_seconds()) * SECOND if offset else 0
    moment = -(-(window.start + shift) // step) * step - shift
    before = times.at(window.start, zone).date()
    while moment <= window.end:
        cell = window.cell(moment, width)
        if cell >= width:
            return
        today = times.at(moment, zone).date()
        if today != before or step >= DAY:
            label = times.day(moment, zone)
        elif step < MINUTE:
            label = times.second(moment, zone)
        else:
            label = times.minute(moment, zone)
        before = today
        yield cell, label
        moment += step
