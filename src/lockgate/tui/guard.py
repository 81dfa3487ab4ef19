"""What counts as a deliberate press of the key that records a decision.

A decision must never come from a key that was held down, from pasted text, or from the key that was meant for the
screen below. So recording is armed only some time after the card opened and after each pick; a press that follows
another key within a repeat's distance is not a press; and one press is latched until its outcome is known.
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
    """Judges presses by a monotonic clock in milliseconds."""

    def __init__(self, clock_ms: Callable[[], float]) -> None:
        self._clock_ms = clock_ms
        self._armed_at = 0.0
        self._last_key = float("-inf")
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

    @property
    def is_armed(self) -> bool:
        return self.left_ms == 0 and not self._latched

    def saw_key(self) -> None:
        """Notes that any other key arrived."""
        self._last_key = self._clock_ms()

    def press(self) -> Press:
        """Judges one press; the one that counts latches, and nothing counts again before `arm`."""
        now = self._clock_ms()
        close, self._last_key = now - self._last_key < REPEAT_MS, now
        if self._latched:
            return Press.LATCHED
        if self._armed_at > now:
            return Press.EARLY
        if close:
            return Press.REPEATED
        self._latched = True
        return Press.COUNTS
