"""What counts as a deliberate press of the key that records a decision.

A decision must never come from a key that was held down, from pasted text, or from the key that was meant for the
screen below. So recording is armed only some time after the card opened and after each pick; a press that follows
another key within a repeat's distance is not a press; and one press is latched until its outcome is known.

Keys are judged by the moment they arrived. While the screen is slow they wait, and the moment at which a key is
acted on says nothing: between two keys of one paste there may be any time.
"""

from collections.abc import Callable
from enum import StrEnum

ARM_MS = 400
"""How long after opening and after a pick nothing can be recorded."""

REPEAT_MS = 125
"""Keys closer together than this come from a held key or a paste: the slowest usual repeat is 92 ms."""


class Press(StrEnum):
    """What a press of the recording key came to."""

    COUNTS = "counts"
    EARLY = "early"
    REPEATED = "repeated"
    LATCHED = "latched"


class Guard:
    """Judges presses by a monotonic clock in milliseconds; `arrived` is told each key before it acts."""

    def __init__(self, clock_ms: Callable[[], float]) -> None:
        self._clock_ms = clock_ms
        self._armed_at = 0.0
        self._arrived_at = self._before = float("-inf")
        self._latched = False
        self.arm()

    def arm(self) -> None:
        """Starts the time in which nothing can be recorded, and lets the next press count again."""
        self._armed_at = self._clock_ms() + ARM_MS
        self._latched = False

    @property
    def left_ms(self) -> float:
        """Until it is armed; 0 when it is."""
        return max(0.0, self._armed_at - self._clock_ms())

    def arrived(self, at_ms: float) -> None:
        """Notes that any key, paste or click arrived then, also the one that is judged next."""
        self._before, self._arrived_at = max(self._before, self._arrived_at), at_ms

    def press(self) -> Press:
        """Judges what arrived last; the one that counts latches, and nothing counts again before `arm`."""
        if self._latched:
            return Press.LATCHED
        if self._arrived_at < self._armed_at:
            return Press.EARLY
        if self._arrived_at - self._before < REPEAT_MS:
            return Press.REPEATED
        self._latched = True
        return Press.COUNTS
