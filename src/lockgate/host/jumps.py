"""Noticing that the wall clock was set, or that the machine slept: leases do not care, deadlines and people do."""

from lockgate.model.records import Now

TOLERANCE_MS = 2_000


class JumpWatch:
    """Compares the wall clock with the monotonic one, which nobody can set and which stands still in suspend."""

    def __init__(self, now: Now) -> None:
        self._offset = now.wall_ms - now.mono_ms

    def look(self, now: Now) -> int:
        """By how many ms the wall clock has jumped since the last look; 0 for what is only drift."""
        moved = now.wall_ms - now.mono_ms - self._offset
        # Always from the last look: a clock that is slewed drifts, and that is no jump however long it goes on.
        self._offset += moved
        return moved if abs(moved) > TOLERANCE_MS else 0
