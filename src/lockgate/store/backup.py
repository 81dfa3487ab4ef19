"""Backups of a live store, and the drill that shows that a copy would restore.

A copy is made by SQLite's backup API inside one read transaction, so it is of one moment and writers go on. It
counts as a backup only once it has been read back; one that cannot be verified is removed again.
"""

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from lockgate.model.errors import Refused, StoreDamaged, StoreError
from lockgate.model.records import Record
from lockgate.store import opening
from lockgate.store.anchor import identity
from lockgate.store.clock import Clock, SystemClock
from lockgate.store.openfile import errors_of_the_store, open_file
from lockgate.store.soundness import Contents, contents, damage, loose_heads


class Backup(Record, frozen=True, kw_only=True):
    """A verified copy: where it is, how big, and what it holds."""

    path: str
    size: int
    contents: Contents


def default_target(store: Path, at_ms: int, what: str = "backup") -> Path:
    """Beside the store, named by the UTC time: `state.backup-20261129T140211Z.sqlite`."""
    stamp = datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")
    return store.with_name(f"{store.stem}.{what}-{stamp}{store.suffix}")


def back_up(store: Path, target: Path | None = None, clock: Clock | None = None) -> Backup:
    """Copies a store that may be in use into a new private file, and verifies the copy.

    Raises Refused `backup_exists`, the store's errors, StoreDamaged where the copy does not hold together.
    """
    clock = clock or SystemClock()
    file = open_file(store, clock, read_only=True)
    try:
        wanted = target or default_target(file.path, clock.now().wall_ms)
        return file.read(lambda connection: copy_into(connection, file.path, wanted.absolute()))
    finally:
        file.close()


def copy_into(connection: sqlite3.Connection, store: Path, target: Path) -> Backup:
    """Copies what the open read transaction sees, whatever its schema version, and verifies the copy."""
    if os.path.lexists(target):
        raise _exists(target)
    _need_room(connection, target)
    before = contents(connection)
    with _part(target) as part:
        made = opening.connect(part, "mode=rw")
        try:
            connection.backup(made)
            # One file, which nobody has in use: a log beside it would belong to a store.
            made.execute("PRAGMA journal_mode=DELETE")
        finally:
            made.close()
        _verify_copy(store, part, before)
        _name(part, target)
    return Backup(path=str(target), size=target.stat().st_size, contents=before)


@contextmanager
def _part(target: Path) -> Iterator[Path]:
    """A file beside the target, readable by nobody else: it gets the target's name only once it is verified, so
    that what a killed backup leaves behind never looks like one."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    opening.new_file(part)
    try:
        yield part
    finally:
        for leftover in (part, *(part.with_name(f"{part.name}{end}") for end in ("-journal", "-wal", "-shm"))):
            leftover.unlink(missing_ok=True)


def _name(part: Path, target: Path) -> None:
    """Gives the file its name, which nobody may have taken meanwhile."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise _exists(target) from None
    except OSError:
        # A file system without hard links: looking first is the best that there is.
        if os.path.lexists(target):
            raise _exists(target) from None
        part.rename(target)
    opening.sync_directory(target.parent)


def _exists(target: Path) -> Refused:
    return Refused("backup_exists", f"{target} exists already: a backup never overwrites", path=str(target))


def _need_room(connection: sqlite3.Connection, target: Path) -> None:
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    room = os.statvfs(target.parent)
    free = room.f_bavail * room.f_frsize
    if free < pages * size:
        raise StoreError(
            f"{target.parent} has {free} bytes free, the backup needs {pages * size}", free=free, needed=pages * size
        )


def _verify_copy(store: Path, target: Path, expected: Contents) -> None:
    with reading_inactive(target) as copy:
        wrong = [*damage(copy), *loose_heads(copy)]
        if not wrong and contents(copy) != expected:
            wrong = ["the copy does not hold what the store held"]
    if wrong:
        raise StoreDamaged(str(store), f"its backup was removed again: {wrong[0]}")


@contextmanager
def reading_inactive(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a file that nobody writes: it takes no lock and leaves nothing beside the file."""
    with errors_of_the_store(path):
        connection = opening.connect(path, "immutable=1")
        try:
            connection.execute("PRAGMA query_only=ON")
            connection.execute("PRAGMA trusted_schema=OFF")
            yield connection
        finally:
            connection.close()


def refuse_active(copy: Path, live: Path) -> None:
    """Raises Refused `store_active` for the live store under whatever name, and for any file that is in use."""
    if identity(str(copy)) == identity(str(live)):
        raise Refused("store_active", f"{copy} is the store {live} itself: a drill needs a copy", path=str(copy))
    wal = Path(f"{copy}-wal")
    if wal.exists() and wal.stat().st_size > 0:
        raise Refused("store_active", f"{copy} has a write-ahead log: it is in use, or was not closed", path=str(copy))
    for pid in holders(copy):
        raise Refused("store_active", f"process {pid} has {copy} open: a drill needs an inactive copy", pid=pid)


def holders(path: Path) -> list[int]:
    """The processes that have a file open, as far as this user may see (Linux; elsewhere none)."""
    wanted = identity(str(path))
    if wanted is None or sys.platform != "linux":
        return []
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid() and _has_open(entry.path, wanted):
            found.append(int(entry.name))
    return sorted(found)


def _has_open(process: str, wanted: tuple[int, int]) -> bool:
    try:
        with os.scandir(f"{process}/fd") as descriptors:
            return any(identity(descriptor.path) == wanted for descriptor in descriptors)
    except OSError:
        return False
