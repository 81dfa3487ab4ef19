"""A time in which keys do nothing: what follows of a text must not act on the screen that took its place."""

RECORD_S = 1.5
"""After a card turned into a record under the hands of a person."""

PAUSE_S = 1.0
"""Who was typing has noticed when this long no key came; and how long letters rest after Enter closed a record."""


class Hush:
    """Judges keys by the moment they arrived, in seconds of the monotonic clock."""

    def __init__(self) -> None:
        self._until = float("-inf")

    def begin(self, now: float, seconds: float) -> None:
        """Keys rest from now on for this long."""
        self._until = now + seconds

    def end(self) -> None:
        """Keys act again."""
        self._until = float("-inf")

    def covers(self, at: float) -> bool:
        """Whether a key that arrived then rests."""
        return at < self._until

    def prolong(self, at: float) -> None:
        """A key that rested says that the person types on."""
        self._until = max(self._until, at + PAUSE_S)
