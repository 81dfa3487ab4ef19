"""What workers print: kept per attempt in the order of its arrival, written for all runs together.

A worker that prints without pause must fill neither the host's memory nor the store: between two writes only
the last 1 MiB of an attempt is held, and what was dropped is counted as the gap before the next chunk.
"""

import asyncio
from collections import deque
from itertools import groupby

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
    """The unwritten output of one attempt, bounded."""

    def __init__(self) -> None:
        self._pieces: deque[tuple[str, bytes]] = deque()
        self._size = 0
        self._gap = 0

    def add(self, stream: str, content: bytes) -> None:
        self._pieces.append((stream, content))
        self._size += len(content)
        while self._size - len(self._pieces[0][1]) >= HELD_BYTES:
            _, dropped = self._pieces.popleft()
            self._size -= len(dropped)
            self._gap += len(dropped)

    def chunks(self) -> list[tuple[str, int, bytes]]:
        """(stream, gap before it, content), at most CHUNK_BYTES each."""
        found: list[tuple[str, int, bytes]] = []
        gap = self._gap
        for stream, pieces in groupby(self._pieces, key=lambda piece: piece[0]):
            content = b"".join(piece for _, piece in pieces)
            for start in range(0, len(content), CHUNK_BYTES):
                found.append((stream, gap, content[start : start + CHUNK_BYTES]))
                gap = 0
        return found


class OutputDesk:
    """Collects the output of all runs of a host; `take` empties it. `filled` is set while there is something."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], Held] = {}
        self.filled = asyncio.Event()

    def add(self, run_id: str, attempt_id: str, stream: str, content: bytes) -> None:
        self._held.setdefault((run_id, attempt_id), Held()).add(stream, content)
        self.filled.set()

    @property
    def is_empty(self) -> bool:
        return not self._held

    def take(self) -> list[Printed]:
        held, self._held = self._held, {}
        self.filled.clear()
        return [
            Printed(run_id=run_id, attempt_id=attempt_id, stream=stream, gap=gap, content=content)
            for (run_id, attempt_id), pieces in held.items()
            for stream, gap, content in pieces.chunks()
        ]
