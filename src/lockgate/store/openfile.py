"""One open connection to a store file, and the two ways to use it: a reading and a writing transaction."""

import sqlite3
import threading
import uuid
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lockgate.model.errors import Refused, StoreDamaged, StoreDetached, StoreError, StoreReadOnly, StoreTooOld
from lockgate.model.records import Now
from lockgate.store import opening
from lockgate.store.anchor import Anchor, identity
from lockgate.store.clock import Clock
from lockgate.store.location import true_path
from lockgate.store.patience import Patience
from lockgate.store.statements import load

T = TypeVar("T")

_META = load("meta")
STILL = "a still picture: its directory cannot be written"
_NO_CHECKPOINT_ON_CLOSE = 1006
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class Transaction(msgspec.Struct, frozen=True):
    """A write transaction that is open: the connection, and the one reading of the clocks that belongs to it.

    `event_seqs` collects the events that it wrote, so that a follower can tell its own process's from others.
    """

    connection: sqlite3.Connection
    now: Now
    event_seqs: list[int]


@contextmanager
def apart(tx: Transaction) -> Iterator[None]:
    """What is raised inside undoes what was written inside, and nothing else of the transaction."""
    written = len(tx.event_seqs)
    tx.connection.execute("SAVEPOINT apart")
    try:
        yield
    except BaseException:
        del tx.event_seqs[written:]
        # Where SQLite has ended the whole transaction there is nothing left to undo.
        if tx.connection.in_transaction:
            tx.connection.execute("ROLLBACK TO apart")
        raise
    finally:
        if tx.connection.in_transaction:
            tx.connection.execute("RELEASE apart")


class OpenFile:
    """A connection with its patience and its anchor; used by one thread at a time."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, patience: Patience, *, read_only: bool, still: bool
    ) -> None:
        self.path = path
        self.connection = connection
        self.patience = patience
        self.read_only = read_only
        self.why_not = "it was opened for reading"
        self.limits: str | None = None
        """What the place allows, where that is less than reading and writing."""
        self.still = still
        self._is_closed = False
        patience.until_free(lambda: connection.execute(_META["meta"]).fetchone())
        self.anchor = Anchor(str(path))
        if not still:
            with _using:
                _in_use.add(self)

    def read(self, fn: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `fn` in one read transaction: all that it reads is of one moment."""
        with errors_of_the_store(self.path):
            self._begin_reading()
            try:
                return fn(self.connection)
            finally:
                self.end_reading()

    def _begin_reading(self) -> None:
        self.connection.execute("BEGIN")
        try:
            # The first statement takes the snapshot, and is the only one that can meet a lock.
            self.patience.until_free(lambda: opening.check_version(self.connection, str(self.path)))
            if not self.still:
                self.anchor.check()
        except BaseException:
            self.end_reading()
            raise

    def end_reading(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def write(self, fn: Callable[[Transaction], T], clock: Clock) -> T:
        """Runs `fn` in one write transaction; whatever it raises leaves the store as it was."""
        with errors_of_the_store(self.path):
            transaction = self.begin(clock)
            try:
                result = fn(transaction)
                self.commit()
            finally:
                self.roll_back()
            return result

    def begin(self, clock: Clock) -> Transaction:
        """BEGIN IMMEDIATE, the version again, and then the clock: never a time from before the wait for the lock.

        A connection that was cut off may not write at all: its pages could land on what others have committed.
        """
        if self.read_only:
            raise StoreReadOnly(str(self.path), self.why_not)
        self.patience.until_free(lambda: self.connection.execute("BEGIN IMMEDIATE"))
        try:
            opening.check_version(self.connection, str(self.path))
            self.anchor.check()
        except BaseException:
            self.roll_back()
            raise
        return Transaction(self.connection, clock.now(), [])

    def commit(self) -> None:
        """Commits, and only then looks whether the files are still ours: nothing is acknowledged before."""
        if not self.connection.in_transaction:
            raise StoreError(f"the store {self.path} ended the transaction by itself: nothing was written")
        self.patience.until_free(lambda: self.connection.execute("COMMIT"))
        self.anchor.check()

    def roll_back(self) -> None:
        """Ends what is open; nothing to do after a commit, or where SQLite rolled back by itself."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def close(self) -> None:
        """Closes. Where others have had a log of their own by now, ours is neither copied into the file, over what they
        committed, nor is theirs removed in its place: SQLite is told so, or the connection is never closed."""
        if self._is_closed:
            return
        self._is_closed = True
        cut_off = False
        with suppress(OSError):
            cut_off = self.anchor.is_cut_off()
        if cut_off and not _tell_not_to_checkpoint(self.connection):
            abandon(self)
            return
        if not cut_off:
            # Before: the last one to close takes the log away, and must not be thought cut off from it meanwhile.
            self._leave()
        self.connection.close()
        self._leave()

    def _leave(self) -> None:
        with _using:
            _in_use.discard(self)


_using = threading.Lock()
"""Each connection is opened and closed on a thread of its own."""

_in_use: "weakref.WeakSet[OpenFile]" = weakref.WeakSet()
"""The open files of this process. To those of one file SQLite lends the same shared memory: one that was cut off would
pass its own on to the next, which would see and overwrite what nobody else does."""

_abandoned: list[OpenFile] = []


def _tell_not_to_checkpoint(connection: sqlite3.Connection) -> bool:
    """Whether closing will leave the files alone. Python 3.11 cannot ask SQLite for it."""
    configure = getattr(connection, "setconfig", None)
    if configure is None:
        return False
    with suppress(sqlite3.ProgrammingError):
        configure(_NO_CHECKPOINT_ON_CLOSE)
    return True


def abandon(file: OpenFile) -> None:
    """Leaves a connection open until the process has ended, on purpose: the end of a process closes files, but asks
    SQLite for nothing. Python itself would close it on its way out if it knew of the last reference."""
    import ctypes

    if file not in _abandoned:
        _abandoned.append(file)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(file.connection))


def refuse_beside_a_lost_one(path: Path) -> None:
    """Raises StoreDetached while this process still has the file open by a connection that was cut off."""
    main = identity(str(path))
    with _using:
        for file in (*_in_use, *_abandoned):
            if main is not None and file.anchor.main == main:
                if file in _abandoned:
                    raise StoreDetached(str(path), "cut off from its write-ahead log", for_good=True)
                file.anchor.check()


def open_file(
    path: Path, clock: Clock, *, create: bool = False, read_only: bool = False, patience: Patience | None = None
) -> OpenFile:
    """Opens a store; falls back to reading where the file or its directory cannot be written.

    With `create` it is made where there is none, and migrated where it is too old. Otherwise raises StoreMissing
    and StoreTooOld; always StoreDetached where this process has the file open already and was cut off, StoreForeign,
    StoreTooNew, StoreUnsafeLocation, StoreReadOnly, before anything is written.
    """
    path = true_path(path)
    waiting = patience or Patience(str(path))
    with errors_of_the_store(path):
        if create and not read_only:
            opening.create(path, waiting, store_id=str(uuid.uuid4()), at=clock.now().wall_ms)
        opening.check_place(path)
        refuse_beside_a_lost_one(path)
        why_not = opening.unwritable(path)
        if read_only or why_not is not None:
            connection, still = opening.open_reading(path, waiting)
            file = OpenFile(path, connection, waiting, read_only=True, still=still)
            if why_not is not None:
                file.why_not = why_not
                file.limits = STILL if still else f"read-only: {why_not}"
            return file
        connection = _open_writing(path, waiting, clock, migrates=create)
        return OpenFile(path, connection, waiting, read_only=False, still=False)


def _open_writing(path: Path, patience: Patience, clock: Clock, *, migrates: bool) -> sqlite3.Connection:
    """Those who may make a store also bring an older one to the present schema, after a backup."""
    try:
        return opening.open_writing(path, patience)
    except StoreTooOld:
        if not migrates:
            raise
    from lockgate.store.migrations import migrate

    migrate(path, clock=clock)
    return opening.open_writing(path, patience)


@contextmanager
def errors_of_the_store(path: Path) -> Iterator[None]:
    """Turns what the driver raises into the store's own errors; a programmer's error stays what it is."""
    try:
        yield
    except (UnicodeEncodeError, OverflowError) as error:
        raise Refused("invalid_value", f"a value that no store can hold: {error}") from error
    except msgspec.MsgspecError as error:
        raise StoreDamaged(str(path), f"a row holds what no version writes: {error}") from error
    except UnicodeDecodeError as error:
        raise StoreDamaged(str(path), f"a stored text is no UTF-8: {error}") from error
    except sqlite3.Error as error:
        told = _translated(str(path), error)
        if told is None:
            raise
        raise told from error


def _translated(path: str, error: sqlite3.Error) -> StoreError | None:
    if opening.is_undecodable(error):
        return StoreDamaged(path, "a stored text is no UTF-8: " + str(error).partition(" with text")[0])
    code: Any = getattr(error, "sqlite_errorcode", None)
    if not isinstance(code, int):
        return None
    primary = code & 0xFF
    if primary in _DAMAGE:
        return StoreDamaged(path, str(error))
    if primary == sqlite3.SQLITE_CONSTRAINT:
        # What the law makes never breaks a constraint over rows that it has made.
        return StoreDamaged(path, f"what is there and what follows from it contradict each other: {error}")
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
        return StoreReadOnly(path, str(error))
    if primary in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return StoreError(f"the store {path} failed: {error}", path=path)
    return None
