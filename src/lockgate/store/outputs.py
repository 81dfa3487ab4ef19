"""What attempts write to stdout and stderr: the first and the last MiB of each, with the gap between counted."""

import sqlite3
from collections.abc import Iterable

from lockgate.model.records import OutputChunk, Record
from lockgate.store.openfile import Transaction
from lockgate.store.statements import load

_OUTPUTS = load("outputs")
KEPT = 1 << 20
CHUNK = 32 << 10


class Written(Record, frozen=True, kw_only=True):
    """Captured output on its way into the store; `stream` is stdout or stderr."""

    run_id: str
    attempt_id: str
    stream: str
    content: bytes


def append(tx: Transaction, written: Iterable[Written]) -> None:
    """Appends in order, in chunks of at most 32 KiB, and drops what lies between the kept ends."""
    for part in written:
        named = {"run_id": part.run_id, "attempt_id": part.attempt_id}
        newest = tx.connection.execute(_OUTPUTS["end_of_output"], named).fetchone()
        chunk, end = (newest[0] + 1, newest[1]) if newest is not None else (0, 0)
        for offset in range(0, len(part.content), CHUNK):
            content = part.content[offset : offset + CHUNK]
            row = {"chunk": chunk, "stream": part.stream, "start_at": end, "at": tx.now.wall_ms, "content": content}
            tx.connection.execute(_OUTPUTS["insert_chunk"], {**named, **row})
            chunk, end = chunk + 1, end + len(content)
        if end > 2 * KEPT:
            tx.connection.execute(_OUTPUTS["drop_middle"], {**named, "head": KEPT, "tail": end - KEPT})


def output(
    connection: sqlite3.Connection, run_id: str, attempt_id: str, *, after: int = -1, limit: int = 64
) -> tuple[OutputChunk, ...]:
    """A window of chunks after the chunk number `after`; `gap` is what was dropped before each, in bytes."""
    named = {"run_id": run_id, "attempt_id": attempt_id, "after": after, "limit": limit}
    before = connection.execute(_OUTPUTS["end_before"], named).fetchone()
    end = before[0] if before is not None else 0
    chunks = []
    for attempt, stream, chunk, at, start_at, content in connection.execute(_OUTPUTS["chunks"], named).fetchall():
        gap = start_at - end
        chunks.append(OutputChunk(attempt_id=attempt, stream=stream, chunk=chunk, at=at, gap=gap, content=content))
        end = start_at + len(content)
    return tuple(chunks)
