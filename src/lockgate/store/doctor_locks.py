"""Who holds SQLite's locks on a store, and how much its write-ahead log has grown (Linux: /proc/locks, unopened).

In WAL mode the locks lie on the shared-memory file: byte 120 is the writer's, 123 to 127 are readers' marks. A
reader that stays keeps the log from being used again from its start.
"""

import os
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

from lockgate.model.records import Record
from lockgate.store.anchor import identity
from lockgate.store.doctor_place import named
from lockgate.store.doctor_rows import Finding

_LOCKS = Path("/proc/locks")
_WRITER, _READERS = 120, range(123, 128)
WAL_LIMIT = 64 << 20
LOOKS, PAUSE_S = 8, 0.2


class Locks(Record, frozen=True, kw_only=True):
    """The processes that hold the writer's lock and readers' marks, this one left out."""

    writers: frozenset[int]
    readers: frozenset[int]


def locks(path: Path) -> Locks | None:
    """Who holds what at this moment; None where the system does not tell."""
    if sys.platform != "linux":
        return None
    known = identity(f"{path}-shm")
    if known is None:
        return Locks(writers=frozenset(), readers=frozenset())
    try:
        lines = _LOCKS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    writers, readers = set(), set()
    for line in lines:
        lock = _lock(line, known)
        if lock is None:
            continue
        pid, first, last = lock
        if first <= _WRITER <= last:
            writers.add(pid)
        if any(first <= byte <= last for byte in _READERS):
            readers.add(pid)
    me = os.getpid()
    return Locks(writers=frozenset(writers - {me}), readers=frozenset(readers - {me}))


def _lock(line: str, known: tuple[int, int]) -> tuple[int, int, int] | None:
    """(pid, first, last) of a lock on the known file; the inode counts, some file systems show another device."""
    fields = line.split()
    if len(fields) < 8 or fields[1] == "->" or fields[1] != "POSIX":
        return None
    inode = fields[5].rpartition(":")[2]
    if inode != str(known[1]):
        return None
    last = (1 << 62) if fields[7] == "EOF" else int(fields[7])
    return int(fields[4]), int(fields[6]), last


def check_locks(
    path: Path,
    connection: sqlite3.Connection,
    *,
    wal_limit: int = WAL_LIMIT,
    look: Callable[[Path], Locks | None] = locks,
    pause: Callable[[float], None] = time.sleep,
) -> tuple[list[Finding], list[str], list[str]]:
    """Findings, remarks and what cannot be known. `connection` is outside any transaction.

    One look shows a writer at work, which is no trouble: it is one that holds the lock through every look
    without committing anything.
    """
    first = look(path)
    size = _size(f"{path}-wal")
    if first is None:
        unknown = "who holds SQLite's locks: Linux tells, this system does not"
        return [], [f"the write-ahead log has {size} bytes"], [unknown]
    writers, readers = first.writers, first.readers
    before = connection.execute("PRAGMA data_version").fetchone()[0]
    for _ in range(LOOKS if writers or size > wal_limit else 0):
        pause(PAUSE_S)
        again = look(path)
        if again is None or connection.execute("PRAGMA data_version").fetchone()[0] != before:
            writers = frozenset()
            break
        writers, readers = writers & again.writers, readers & again.readers
    findings = [_stuck(path, pid) for pid in sorted(writers)]
    if size > wal_limit:
        findings.append(_grown(path, size, wal_limit, readers))
    who = ", ".join(named(pid) for pid in sorted(readers)) or "nobody"
    return findings, [f"the write-ahead log has {size} bytes; reading now: {who}"], []


def _stuck(path: Path, pid: int) -> Finding:
    said = (
        f"process {named(pid)} holds the write lock for {LOOKS * PAUSE_S:.1f} s and commits nothing: nobody can write"
    )
    action = f"let it finish; if it hangs, stop process {pid}: SQLite undoes what it did not commit"
    return Finding(code="write_lock_held", what=said, where=f"{path}-shm", action=action)


def _grown(path: Path, size: int, limit: int, readers: frozenset[int]) -> Finding:
    pinned = ", ".join(named(pid) for pid in sorted(readers))
    said = f"the write-ahead log has {size} bytes, more than {limit}: " + (
        f"read by {pinned}, so that it cannot start again" if pinned else "nobody who can be seen pins it"
    )
    action = f"close or stop {pinned}" if pinned else "let any command write, or restart the host"
    return Finding(code="wal_grown", what=said, where=f"{path}-wal", action=action)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
