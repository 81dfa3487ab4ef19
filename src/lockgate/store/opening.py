"""Opening a store file: every check before any write, each with its own error, and creation in private.

Damage is not looked for here (it would cost seconds on a large store): that is `doctor`'s work.
"""

import hashlib
import os
import sqlite3
import stat
from pathlib import Path
from typing import LiteralString
from urllib.parse import quote

from lockgate.model.errors import StoreError, StoreForeign, StoreMissing, StoreReadOnly, StoreTooNew, StoreTooOld
from lockgate.store.location import check_location
from lockgate.store.patience import Patience
from lockgate.store.statements import load, schema

_META = load("meta")

APPLICATION_ID = 0x4C4F434B
VERSION = 3
SCHEMA_DIGEST = "0c85ba46af629c60db43ddd27d5ee954a231152a4dfa134ed02c8ed6eb974439"
"""SHA-256 over the names and texts of everything that schema.sql makes; a test holds it."""

_OLDEST_SQLITE = (3, 37, 0)
_STATEMENTS_CACHED = 512
_PRAGMAS = (
    ("PRAGMA busy_timeout=0", "PRAGMA busy_timeout", 0),
    ("PRAGMA foreign_keys=ON", "PRAGMA foreign_keys", 1),
    ("PRAGMA synchronous=FULL", "PRAGMA synchronous", 2),
    ("PRAGMA trusted_schema=OFF", "PRAGMA trusted_schema", 0),
    ("PRAGMA mmap_size=0", "PRAGMA mmap_size", 0),
    ("PRAGMA journal_size_limit=67108864", "PRAGMA journal_size_limit", 64 << 20),
    ("PRAGMA wal_autocheckpoint=1000", "PRAGMA wal_autocheckpoint", 1000),
)
_WRITERS = (("PRAGMA cache_size=-8000", "PRAGMA cache_size", -8000),)
_QUERY_ONLY = ("PRAGMA query_only=ON", "PRAGMA query_only", 1)


def open_writing(path: Path, patience: Patience) -> sqlite3.Connection:
    """A connection that may write an existing store of the present schema."""
    connection = connect(path, "mode=rw")
    try:
        _check(connection, path, patience)
        mode = patience.until_free(lambda: connection.execute("PRAGMA journal_mode=WAL").fetchone()[0])
        if mode != "wal":
            raise StoreError(f"the store {path} cannot use a write-ahead log: journal mode is {mode}")
        set_pragmas(connection, path, _PRAGMAS + _WRITERS)
    except BaseException:
        connection.close()
        raise
    return connection


def open_reading(path: Path, patience: Patience) -> tuple[sqlite3.Connection, bool]:
    """A connection that never writes, and whether it is only a still picture of a file that cannot be locked."""
    for options, still in (("mode=ro", False), ("immutable=1", True)):
        connection = connect(path, options)
        try:
            _check(connection, path, patience)
            set_pragmas(connection, path, (*_PRAGMAS, _QUERY_ONLY))
        except sqlite3.OperationalError as error:
            connection.close()
            if is_undecodable(error):
                raise
            if still or _has_log(path):
                raise StoreReadOnly(str(path), f"its write-ahead log in {path.parent} cannot be opened") from error
        except BaseException:
            connection.close()
            raise
        else:
            return connection, still
    raise AssertionError("unreachable")


def is_undecodable(error: sqlite3.Error) -> bool:
    """Whether a stored text is no UTF-8, which only damage makes; the driver gives it no code."""
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith("Could not decode to UTF-8")


def _has_log(path: Path) -> bool:
    """Whether a write-ahead log may hold commits that the main file lacks; an empty one is a reader's leftover."""
    try:
        return os.stat(f"{path}-wal").st_size > 0
    except FileNotFoundError:
        return False


def check_place(path: Path) -> None:
    """The checks that need no connection: SQLite's age, existence, location and owner."""
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise StoreError(f"SQLite 3.37 or newer is needed, this Python has {sqlite3.sqlite_version}")
    try:
        facts = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise StoreMissing(str(path)) from None
    except PermissionError as error:
        raise StoreReadOnly(str(path), f"{path.parent} may not be read") from error
    if not stat.S_ISREG(facts.st_mode):
        raise StoreForeign(str(path), "it is not a regular file")
    if facts.st_size == 0:
        raise StoreMissing(str(path))
    check_location(path)


def unwritable(path: Path) -> str | None:
    """Why SQLite cannot write the file or, for its log, the directory; None where it can."""
    for place, wanted in ((path, os.R_OK | os.W_OK), (path.parent, os.W_OK | os.X_OK)):
        if not os.access(place, wanted):
            return f"{place} may not be written"
    return None


def create(path: Path, patience: Patience, *, store_id: str, at: int, shared_group: str | None = None) -> None:
    """Makes a private store unless there is something already; of several at once, one makes it.

    A file that an interrupted creation left empty is taken; anything else is left for the checks of opening.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        check_location(path)
        new_file(path)
    except FileExistsError:
        if not path.is_file() or unwritable(path) is not None:
            return
    except OSError as error:
        raise StoreReadOnly(str(path), f"{_nearest(path.parent)} may not be written: {error.strerror}") from error
    sync_directory(path.parent)
    connection = connect(path, "mode=rw")
    try:
        if not _is_blank(connection, patience):
            return
        patience.until_free(lambda: connection.execute("PRAGMA journal_mode=WAL").fetchone())
        patience.until_free(lambda: connection.execute("BEGIN IMMEDIATE"))
        if _is_blank(connection, patience):
            build(connection)
            connection.execute(_META["insert_meta"], {"store_id": store_id, "shared_group": shared_group, "at": at})
        connection.execute("COMMIT")
    finally:
        connection.close()


def _nearest(directory: Path) -> Path:
    """The directory itself, or the nearest one above it that is there."""
    while not os.path.isdir(directory) and directory != directory.parent:
        directory = directory.parent
    return directory


def _is_blank(connection: sqlite3.Connection, patience: Patience) -> bool:
    """Whether this is a database that nobody has put anything into."""

    def look() -> bool:
        if connection.execute("PRAGMA application_id").fetchone()[0] != 0:
            return False
        size: int = connection.execute(_META["schema_size"]).fetchone()[0]
        return size == 0

    try:
        return patience.until_free(look)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_NOTADB:
            return False
        raise


def build(connection: sqlite3.Connection) -> None:
    """Makes the present schema in an empty database, inside the transaction that is open."""
    run_script(connection, schema())
    connection.execute(f"PRAGMA application_id={APPLICATION_ID:d}")
    connection.execute(f"PRAGMA user_version={VERSION:d}")


def run_script(connection: sqlite3.Connection, text: LiteralString) -> None:
    """Runs the statements of a script inside the transaction that is open (executescript would commit it)."""
    statement: LiteralString = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def schema_digest(connection: sqlite3.Connection) -> str:
    """SHA-256 over type, name, table and text of everything in the schema.

    White space does not count: SQLite adds a column in its own layout.
    """
    rows = connection.execute(_META["schema"])
    digest = hashlib.sha256()
    for row in rows.fetchall():
        digest.update("\0".join(" ".join(str(field).split()) for field in row).encode() + b"\0\0")
    return digest.hexdigest()


def check_version(connection: sqlite3.Connection, path: str) -> None:
    """Raises StoreTooNew, StoreTooOld, or StoreForeign for a version that never was; every transaction asks again,
    since another process may migrate."""
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found < 1:
        raise StoreForeign(path, f"it says that its schema is version {found}, and the first was 1")
    if found > VERSION:
        raise StoreTooNew(path, found, VERSION)
    if found < VERSION:
        raise StoreTooOld(path, found, VERSION)


def connect(path: Path, options: str) -> sqlite3.Connection:
    """A bare connection with these URI options, nothing checked yet."""
    # The connection is made and used on one owned thread, but may be closed from another when that one is gone.
    return sqlite3.connect(
        f"file:{quote(str(path))}?{options}",
        uri=True,
        timeout=0,
        isolation_level=None,
        cached_statements=_STATEMENTS_CACHED,
        check_same_thread=False,
    )


def _check(connection: sqlite3.Connection, path: Path, patience: Patience) -> None:
    try:
        found = patience.until_free(lambda: connection.execute("PRAGMA application_id").fetchone()[0])
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_NOTADB:
            raise StoreForeign(str(path), "it is not an SQLite database") from error
        raise
    if found == 0 and _is_blank(connection, patience):
        raise StoreMissing(str(path))
    if found != APPLICATION_ID:
        raise StoreForeign(str(path), f"its application id is {found:#x}")
    check_version(connection, str(path))
    if schema_digest(connection) != SCHEMA_DIGEST:
        raise StoreForeign(str(path), f"its tables are not those of schema {VERSION}")


def set_pragmas(connection: sqlite3.Connection, path: Path, pragmas: tuple[tuple[str, str, int], ...]) -> None:
    """Sets each pragma and reads it back."""
    for change, question, expected in pragmas:
        connection.execute(change)
        answer = connection.execute(question).fetchone()
        found = answer[0] if answer is not None else None
        # mmap_size answers nothing where the library was built without memory mapping.
        if found != expected and not (found is None and expected == 0):
            raise StoreError(f"the store {path} did not take {change}: it answers {found}")


def new_file(path: Path) -> None:
    """Makes an empty file that only its owner may read; FileExistsError where there is one."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))


def sync_directory(directory: Path) -> None:
    """Makes a new name in a directory durable."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
