"""The doctor: looks at a store from every side, says what is wrong and what can safely be done; repairs nothing.

It never writes, and never opens the file other than by SQLite. What it cannot know it says.
"""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lockgate.model.errors import StoreError, StoreMissing
from lockgate.model.records import Record
from lockgate.store import opening
from lockgate.store.clock import Clock, SystemClock
from lockgate.store.doctor_host import host_remarks, host_word
from lockgate.store.doctor_locks import check_locks
from lockgate.store.doctor_place import check_place, lost_files
from lockgate.store.doctor_rows import Finding, Sample, broken_rules, differing_runs, differing_tombstones
from lockgate.store.hosts import host_state
from lockgate.store.living import pid_exists
from lockgate.store.location import true_path
from lockgate.store.migrations import IsAlive
from lockgate.store.openfile import errors_of_the_store
from lockgate.store.patience import Patience
from lockgate.store.reads.values import store_facts
from lockgate.store.soundness import contents, damage
from lockgate.store.statements import load

_KEEPING = load("keeping")
SAMPLE_SECONDS = 5.0

_ACTIONS = {
    "store_too_old": "lockgate migrate, which makes a backup first",
    "store_too_new": "use the newer lockgate that made it",
    "store_foreign": "give the right file with --db; leave this one as it is",
    "store_damaged": "stop the host, copy the files aside, and restore the newest verified backup",
    "store_unsafe_location": "stop the host, and move the store to a local file system of your own",
    "store_read_only": "let the owner of the directory run lockgate doctor",
    "store_busy": "look which process writes, and ask again",
}


class Checkup(Record, frozen=True, kw_only=True):
    """What was found. `remarks` are legal states that wait for somebody; `unknown` is what could not be told.

    `facts` are the store's plain data; `sample` says how many runs were compared with their events.
    """

    path: str
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]
    unknown: tuple[str, ...]
    facts: dict[str, Any]
    sample: Sample | None


class _Notes:
    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.remarks: list[str] = []
        self.unknown: list[str] = []
        self.facts: dict[str, Any] = {}
        self.sample: Sample | None = None

    def take(self, found: tuple[list[Finding], list[str], list[str]]) -> None:
        self.findings += found[0]
        self.remarks += found[1]
        self.unknown += found[2]

    def error(self, error: StoreError, path: Path) -> None:
        action = _ACTIONS.get(error.code, "read the message; nothing was changed")
        self.findings.append(Finding(code=error.code, what=error.message, where=str(path), action=action))


def examine(
    path: Path, *, every_run: bool = False, clock: Clock | None = None, is_alive: IsAlive | None = None
) -> Checkup:
    """Looks at a store. Raises StoreMissing; everything else that is wrong is a finding."""
    path, notes = true_path(path), _Notes()
    try:
        opening.check_place(path)
    except StoreMissing:
        raise
    except StoreError as error:
        notes.error(error, path)
    # A pipe or a device would be waited for; where this user may not look, it is none either.
    connection = _open(path, notes) if os.path.isfile(path) else None
    if connection is not None:
        try:
            _look(connection, path, notes, every_run, clock or SystemClock(), is_alive or pid_exists)
        finally:
            connection.close()
    findings, unknown = lost_files(path)
    notes.take((findings, [], unknown))
    return Checkup(
        path=str(path),
        findings=tuple(notes.findings),
        remarks=tuple(notes.remarks),
        unknown=tuple(notes.unknown),
        facts=notes.facts,
        sample=notes.sample,
    )


def _open(path: Path, notes: _Notes) -> sqlite3.Connection | None:
    patience = Patience(str(path))
    try:
        with errors_of_the_store(path):
            connection, still = opening.open_reading(path, patience)
    except StoreError as error:
        notes.error(error, path)
        notes.unknown.append("the rows: the store could not be opened")
        return None
    if still:
        notes.unknown.append("what others write now: the directory cannot be written, so this was a still picture")
    return connection


def _look(
    connection: sqlite3.Connection, path: Path, notes: _Notes, every_run: bool, clock: Clock, is_alive: IsAlive
) -> None:
    """Each look by itself, in a transaction of its own: none pins the log for all, and where the file gives way
    under one the others still look."""
    group = _step(notes, path, connection, lambda: store_facts(connection).shared_group)
    notes.take(check_place(path, group))
    for look in (
        lambda: _facts(connection, notes),
        lambda: _host(connection, notes, clock, is_alive),
        lambda: _damage(connection, path, notes),
        lambda: notes.findings.extend(broken_rules(connection)),
        lambda: _sample(connection, notes, every_run),
        lambda: _tombstones(connection, notes, every_run),
        lambda: _orphans(connection, notes),
    ):
        _step(notes, path, connection, look)
    try:
        with errors_of_the_store(path):
            notes.take(check_locks(path, connection))
    except StoreError as error:
        notes.error(error, path)


def _step(notes: _Notes, path: Path, connection: sqlite3.Connection, look: Callable[[], Any]) -> Any:
    """What a look finds; where the file gives way under it, that is a finding too."""
    try:
        with errors_of_the_store(path):
            connection.execute("BEGIN")
            return look()
    except StoreError as error:
        notes.error(error, path)
    except Exception as problem:
        # Rows that nobody could have written fail in places that nobody foresaw.
        what = f"what is stored cannot be understood: {type(problem).__name__}: {problem}"
        notes.findings.append(
            Finding(code="store_damaged", what=what, where=str(path), action=_ACTIONS["store_damaged"])
        )
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    notes.unknown.append("what else is wrong: a look was cut short by damage")
    return None


def _host(connection: sqlite3.Connection, notes: _Notes, clock: Clock, is_alive: IsAlive) -> None:
    now, host = clock.now(), host_state(connection)
    notes.facts["host"] = {"state": host_word(host, now, is_alive), "pid": host.pid, "epoch": host.epoch}
    notes.remarks += host_remarks(connection, now, is_alive)


def _damage(connection: sqlite3.Connection, path: Path, notes: _Notes) -> None:
    for line in damage(connection):
        notes.findings.append(
            Finding(code="store_damaged", what=line, where=str(path), action=_ACTIONS["store_damaged"])
        )


def _sample(connection: sqlite3.Connection, notes: _Notes, every_run: bool) -> None:
    differing: list[Finding] = []
    seconds = None if every_run else SAMPLE_SECONDS
    notes.sample = differing_runs(connection, differing, every=every_run, seconds=seconds)
    notes.findings += differing


def _tombstones(connection: sqlite3.Connection, notes: _Notes, every_run: bool) -> None:
    differing: list[Finding] = []
    looked_at, total = differing_tombstones(connection, differing, seconds=None if every_run else SAMPLE_SECONDS)
    notes.findings += differing
    if looked_at < total:
        notes.unknown.append(f"what is left of pruned runs: {looked_at} of {total} were looked at")


def _orphans(connection: sqlite3.Connection, notes: _Notes) -> None:
    orphans = connection.execute(_KEEPING["orphan_values"]).fetchall()
    if orphans:
        size = sum(length for _, length in orphans)
        notes.remarks.append(
            f"stored values of no run: {len(orphans)}, {size} bytes; lockgate prune --apply frees them"
        )


def _facts(connection: sqlite3.Connection, notes: _Notes) -> None:
    names = ("user_version", "page_size", "page_count", "freelist_count", "journal_mode")
    facts = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names}
    held = contents(connection)
    notes.facts.update(
        store_id=held.store_id,
        newest_event=held.newest_event,
        counts=held.counts,
        size=facts["page_size"] * facts["page_count"],
        sqlite=sqlite3.sqlite_version,
        **facts,
    )
    if facts["journal_mode"] == "delete":
        notes.remarks.append("it has no write-ahead log yet: the next writer makes one")
