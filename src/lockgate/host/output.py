"""What workers print: read from their pipes at once, kept per attempt, written for all runs together.

A worker that prints without pause must not fill the host's memory or the store: between two writes only the
last 1 MiB of a stream is held, and what was dropped is counted as the gap before the next chunk.
"""

from collections import deque

from lockgate.model.records import Record

FLUSH_S = 0.25
"""The shortest time between two writes of output."""

CHUNK_BYTES = 32 << 10
HELD_BYTES = 1 << 20


class Printed(Record, frozen=True, kw_only=True):
    """Output of one attempt to be written: `gap` bytes before it were dropped."""

    run_id: str
    attempt_id: str
    stream: str
    gap: int
    content: bytes


class Held:
    """The unwritten output of one stream of one attempt, bounded."""

    def __init__(self) -> None:
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._gap = 0

    def add(self, content: bytes) -> None:
        self._pieces.append(content)
        self._size += len(content)
        while self._size - len(self._pieces[0]) >= HELD_BYTES:
            dropped = self._pieces.popleft()
            self._size -= len(dropped)
            self._gap += len(dropped)

    def take(self) -> list[tuple[int, bytes]]:
        """The chunks with the gap before each; nothing is held afterwards."""
        content, gap = b"".join(self._pieces), self._gap
        self._pieces.clear()
        self._size = self._gap = 0
        starts = range(0, len(content), CHUNK_BYTES)
        return [(gap if start == 0 else 0, content[start : start + CHUNK_BYTES]) for start in starts]


class OutputDesk:
    """Collects the output of all runs of a host; `take` empties it."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str, str], Held] = {}

    def add(self, run_id: str, attempt_id: str, stream: str, content: bytes) -> None:
        self._held.setdefault((run_id, attempt_id, stream), Held()).add(content)

    @property
    def is_empty(self) -> bool:
        return not self._held

    def take(self) -> list[Printed]:
        held, self._held = self._held, {}
        return [
            Printed(run_id=run_id, attempt_id=attempt_id, stream=stream, gap=gap, content=content)
            for (run_id, attempt_id, stream), pieces in held.items()
            for gap, content in pieces.take()
        ]
