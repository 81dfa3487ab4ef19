"""Bounds the keys that wait: text that is pasted as thousands of keys must not make the dashboard deaf.

Keys that waited too long behind many others are left out, and with them the rest of their burst; so is what
follows of a burst that is longer than any text that belongs here. A held key is no burst: of it only as much is left
out as the screen cannot follow.
"""

MANY = 32
MOST = 256
"""So many messages may wait; no further key is taken in."""

LATE_S = 1.0
BURST_S = 0.012
"""Keys closer together than this are pasted: no key repeats so fast."""

BURST_MOST = 500
"""Keys of one burst that are taken; taking each costs a paint, and the terminal holds back the keys behind."""

BURST_ENDS_S = 0.25


class Flood:
    """Judges keys by the moment they arrived, in seconds of the monotonic clock."""

    def __init__(self) -> None:
        self._last = float("-inf")
        self._is_on = False
        self._length = 0

    def refuses(self, at: float, waiting: int) -> bool:
        """Whether a key that arrives now is not even taken in."""
        if waiting < MOST:
            return False
        self._last, self._is_on = max(self._last, at), True
        return True

    def drops(self, at: float, now: float, waiting: int) -> bool:
        """Whether a key whose turn has come is left out."""
        gap = at - self._last
        self._length = self._length + 1 if gap < BURST_ENDS_S else 1
        late = waiting >= MANY and now - at > LATE_S
        rest = (self._is_on or self._length > BURST_MOST) and gap < BURST_S
        self._last, self._is_on = max(self._last, at), late or rest
        return self._is_on
