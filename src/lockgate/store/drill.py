"""The restore drill: everything that a store must be, asked of a copy that nobody uses. It changes nothing.

A copy of an older schema is drilled as far as its own version goes: file, chains, values and counts.
"""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from lockgate.model.encoding import sha256
from lockgate.model.errors import NotFound
from lockgate.model.records import Record
from lockgate.store.audit import audit
from lockgate.store.audit_chain import Differs, chain
from lockgate.store.backup import reading_inactive, refuse_active
from lockgate.store.doctor_rows import broken_rules
from lockgate.store.location import true_path
from lockgate.store.migrations import KNOWN_VERSION, version_of
from lockgate.store.soundness import Contents, contents, damage, loose_heads
from lockgate.store.statements import load

_KEEPING = load("keeping")
MOST_PROBLEMS = 20


class Drill(Record, frozen=True, kw_only=True):
    """What was looked at, and what is wrong with the copy; nothing is: it would restore.

    `runs` were compared with their events, except those of an older schema, whose chains were linked again.
    """

    path: str
    size: int
    contents: Contents
    runs: int
    events: int
    values: int
    problems: tuple[str, ...]


def drill(copy: Path, live: Path) -> Drill:
    """Verifies a copy whole. Raises NotFound, Refused `store_active`, StoreForeign, StoreTooNew, StoreDamaged."""
    copy = true_path(copy)
    if not copy.is_file():
        raise NotFound("backup", str(copy))
    refuse_active(copy, live)
    with reading_inactive(copy) as connection:
        version = version_of(connection, copy)
        problems = damage(connection)
        if problems:
            # What lies on damaged pages cannot be asked further questions.
            return _told(connection, copy, (0, 0, 0), problems)
        problems = loose_heads(connection)
        if version == KNOWN_VERSION:
            problems += [f"{found.what} ({found.where})" for found in broken_rules(connection)]
        runs, events, values = _Count(), _Count(), _Count()
        problems += _histories(connection, version, runs, events)
        problems += _values(connection, values)
        return _told(connection, copy, (runs.number, events.number, values.number), problems)


class _Count:
    number = 0


def _histories(connection: sqlite3.Connection, version: int, runs: _Count, events: _Count) -> Iterator[str]:
    for (run_id,) in connection.execute(_KEEPING["runs_with_events"]).fetchall():
        runs.number += 1
        if version == KNOWN_VERSION:
            found = audit(connection, run_id)
            events.number += found.events
            if found.difference is not None:
                differs = found.difference
                yield f"{run_id}: {differs.table} {differs.key} {differs.column or 'row'} is not what its events say"
            continue
        try:
            for _ in chain(connection, run_id):
                events.number += 1
        except Differs as differing:
            yield f"{run_id}: the chain breaks at {differing.difference.key}"


def _values(connection: sqlite3.Connection, values: _Count) -> Iterator[str]:
    for hash, content in connection.execute(_KEEPING["every_value"]):
        values.number += 1
        if sha256(content) != hash:
            yield f"the value {hash} is other bytes than its hash says"


def _told(connection: sqlite3.Connection, copy: Path, looked_at: tuple[int, int, int], problems: list[str]) -> Drill:
    runs, events, values = looked_at
    return Drill(
        path=str(copy),
        size=os.stat(copy).st_size,
        contents=contents(connection),
        runs=runs,
        events=events,
        values=values,
        problems=tuple(problems[:MOST_PROBLEMS]),
    )
