"""Whether a store file is sound as a file: SQLite's own checks, the heads of the chains, and how much there is.

Asked of a backup before it counts as one, of a copy in a restore drill, and by `doctor`. Only reads.
"""

import sqlite3

from lockgate.model.records import Record
from lockgate.store.rows import only_row
from lockgate.store.statements import load

_KEEPING, _INVARIANTS = load("keeping"), load("invariants")
MOST_SHOWN = 5


class Contents(Record, frozen=True, kw_only=True):
    """How many rows of each kind a store has; two pictures of one moment have equal contents."""

    store_id: str
    version: int
    newest_event: int
    counts: dict[str, int]


def contents(connection: sqlite3.Connection) -> Contents:
    """What a store holds, of any schema version."""
    store_id, newest = only_row(connection.execute(_KEEPING["identity"]), "meta")
    return Contents(
        store_id=store_id,
        version=connection.execute("PRAGMA user_version").fetchone()[0],
        newest_event=newest,
        counts=dict(connection.execute(_KEEPING["counts"]).fetchall()),
    )


def damage(connection: sqlite3.Connection) -> list[str]:
    """What SQLite finds wrong with pages, indexes, constraints and foreign keys; the first few of each."""
    connection.execute("PRAGMA cell_size_check=ON")
    found = [row[0] for row in connection.execute(f"PRAGMA integrity_check({MOST_SHOWN})").fetchall()]
    told = [f"integrity_check: {line}" for line in found if line != "ok"]
    for table, _, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchmany(MOST_SHOWN):
        told.append(f"foreign_key_check: a row of {table} refers to no row of {parent}")
    return told


def loose_heads(connection: sqlite3.Connection) -> list[str]:
    """Runs whose chain head, revision and newest event do not agree; the first few."""
    rows = connection.execute(_INVARIANTS["loose_head"], {"limit": MOST_SHOWN}).fetchall()
    return [f"the chain head of {run_id} is not its newest event ({said})" for run_id, said in rows]
