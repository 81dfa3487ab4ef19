"""Bringing an older store to the present schema: forward only, in one transaction, after a verified backup.

sql/migrations has one numbered file for each schema version; the first is version 1 whole. Climbing all of them
in an empty database gives what schema.sql gives, which a test holds.
"""

import sqlite3
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import LiteralString

from lockgate.flow.head import LEASE_MS
from lockgate.model.errors import Refused, StoreError, StoreForeign, StoreReadOnly, StoreTooNew
from lockgate.model.records import Now, Record
from lockgate.model.statuses import OwnerKind
from lockgate.store import hosts, opening
from lockgate.store.anchor import Anchor
from lockgate.store.backup import Backup, copy_into, default_target
from lockgate.store.clock import Clock, SystemClock
from lockgate.store.living import pid_exists
from lockgate.store.location import true_path
from lockgate.store.openfile import errors_of_the_store
from lockgate.store.patience import Patience
from lockgate.store.statements import migrations

IsAlive = Callable[[int, str], bool]
"""Whether the process of this pid exists and began at this start."""


class Rung(Record, frozen=True, kw_only=True):
    """One step of the ladder: the script that makes schema `number` out of the one before."""

    number: int
    name: str
    script: LiteralString


class Migrated(Record, frozen=True, kw_only=True):
    """The schema before and after; `backup` is null where nothing had to change."""

    path: str
    before: int
    after: int
    backup: Backup | None


@cache
def ladder() -> tuple[Rung, ...]:
    """Every rung, from 1, without a gap."""
    rungs = tuple(Rung(number=int(name[:4]), name=name, script=script) for name, script in migrations())
    if [rung.number for rung in rungs] != list(range(1, len(rungs) + 1)):
        raise ValueError("sql/migrations has a gap or two scripts of one number")
    return rungs


KNOWN_VERSION = opening.VERSION


@cache
def digest_of(version: int) -> str:
    """The schema digest of a version, found by climbing to it in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        climb(connection, ladder()[:version])
        return opening.schema_digest(connection)
    finally:
        connection.close()


def climb(connection: sqlite3.Connection, rungs: Iterable[Rung]) -> None:
    """Runs the scripts in the transaction that is open, each with its version."""
    for rung in rungs:
        opening.run_script(connection, rung.script)
        connection.execute(f"PRAGMA user_version={rung.number:d}")


def version_of(connection: sqlite3.Connection, path: Path) -> int:
    """The schema version of a file whose tables are those of that version.

    Raises StoreForeign, or StoreTooNew.
    """
    found: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if found != opening.APPLICATION_ID:
        raise StoreForeign(str(path), f"its application id is {found:#x}")
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > KNOWN_VERSION:
        raise StoreTooNew(str(path), version, KNOWN_VERSION)
    if version < 1 or opening.schema_digest(connection) != digest_of(version):
        raise StoreForeign(str(path), f"its tables are not those of schema {version}")
    return version


def migrate(
    path: Path, *, backup_to: Path | None = None, clock: Clock | None = None, is_alive: IsAlive | None = None
) -> Migrated:
    """Brings a store to the present schema; nothing is done to one that has it already.

    Raises Refused `host_alive` or `claim_held` while anybody executes from it, Refused `backup_exists`, and the
    store's errors; whatever is raised, the store is as it was.
    """
    path, clock = true_path(path), clock or SystemClock()
    patience = Patience(str(path))
    with errors_of_the_store(path):
        opening.check_place(path)
        connection = opening.connect(path, "mode=rw")
        try:
            before = patience.until_free(lambda: version_of(connection, path))
            if before == KNOWN_VERSION:
                return Migrated(path=str(path), before=before, after=before, backup=None)
            if opening.unwritable(path) is not None:
                raise StoreReadOnly(str(path), "it or its directory may not be written")
            patience.until_free(lambda: connection.execute("PRAGMA journal_mode=WAL").fetchone())
            # A rebuilt table would take its referring rows along; foreign_key_check looks at the end instead.
            connection.execute("PRAGMA foreign_keys=OFF")
            connection.execute("PRAGMA synchronous=FULL")
            return _migrate(connection, path, patience, backup_to, clock, is_alive or pid_exists)
        finally:
            connection.close()


def _migrate(
    connection: sqlite3.Connection,
    path: Path,
    patience: Patience,
    backup_to: Path | None,
    clock: Clock,
    is_alive: IsAlive,
) -> Migrated:
    patience.until_free(lambda: connection.execute("BEGIN IMMEDIATE"))
    try:
        before = version_of(connection, path)
        anchor = Anchor(str(path))
        now = clock.now()
        _refuse_when_used(connection, now, is_alive)
        # Nobody can write until we have committed, so the copy is exactly what is migrated.
        wanted = backup_to or default_target(path, now.wall_ms, f"before-schema-{KNOWN_VERSION}")
        backup = _copy(path, wanted.absolute(), patience) if before != KNOWN_VERSION else None
        climb(connection, ladder()[before:KNOWN_VERSION])
        _check(connection, path)
        patience.until_free(lambda: connection.execute("COMMIT"))
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    anchor.check()
    return Migrated(path=str(path), before=before, after=KNOWN_VERSION, backup=backup)


def _refuse_when_used(connection: sqlite3.Connection, now: Now, is_alive: IsAlive) -> None:
    host = hosts.host_state(connection)
    if host.pid is not None and host.boot_id == now.boot_id and host.heartbeat_mono is not None:
        live = now.mono_ms - host.heartbeat_mono <= LEASE_MS
        if live and is_alive(host.pid, host.process_start or ""):
            raise Refused("host_alive", f"host pid {host.pid} holds this store: stop it first", pid=host.pid)
    for held in hosts.held_claims(connection):
        if held.owner_kind is OwnerKind.PROCESS and not hosts.is_expired(held, now.boot_id, now.mono_ms):
            message = f"{held.owner_id} executes {held.run_id}: let it end first"
            raise Refused("claim_held", message, run_id=held.run_id, owner=held.owner_id)


def _copy(path: Path, target: Path, patience: Patience) -> Backup:
    reading = opening.connect(path, "mode=ro")
    try:
        reading.execute("BEGIN")
        backup = patience.until_free(lambda: copy_into(reading, path, target))
        reading.execute("ROLLBACK")
        return backup
    finally:
        reading.close()


def _check(connection: sqlite3.Connection, path: Path) -> None:
    if opening.schema_digest(connection) != opening.SCHEMA_DIGEST:
        raise StoreError(f"the migrated tables of {path} are not those of schema {KNOWN_VERSION}: nothing was changed")
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        raise StoreError(f"after the migration of {path} a row of {broken[0]} refers to nothing: nothing was changed")


if __name__ == "__main__":
    print(digest_of(len(ladder())))
