"""One column of one row is changed behind the law's back; the audit names exactly that place."""

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from lockgate.flow.fold import PRIMARY_KEYS, UNFOLDED
from lockgate.model import records as r
from lockgate.store.audit import audit
from lockgate.store.audit_chain import Difference
from lockgate.store.audit_rows import TABLES
from lockgate.store.once import read_once

from . import histories
from .conftest import Bench

COLUMNS = [
    (table, column)
    for kind, (table, _) in TABLES.items()
    for column in kind.__struct_fields__
    if not (kind is r.QueueRow and column in UNFOLDED)
]
EVENT_COLUMNS = ("event_seq", "run_id", "seq", "type", "at", "actor", "attempt_id", "payload", "prev_hash", "hash")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A closed store, and the run in it that has a row of every kind."""
    path = tmp_path_factory.mktemp("audit") / "state.sqlite"
    bench = Bench(path)
    run_id = histories.everything(bench)
    histories.everything(bench)
    bench.close()
    return path, run_id


@pytest.fixture
def copy(original: tuple[Path, str], tmp_path: Path) -> tuple[Path, str]:
    path, run_id = original
    shutil.copy(path, tmp_path / "state.sqlite")
    return tmp_path / "state.sqlite", run_id


def change(path: Path, table: str, column: str, run_id: str) -> None:
    """Changes one column of the run's first row of a table, past every constraint."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints=ON")
    (row,) = connection.execute(
        f"SELECT {key_of(connection, table)}, {column} FROM {table} WHERE run_id = ? ORDER BY 1, 2 LIMIT 1", (run_id,)
    )
    key, old = row[:-1], row[-1]
    where = " AND ".join(f"{name} IS ?" for name in key_of(connection, table).split(", "))
    done = connection.execute(
        f"UPDATE {table} SET {column} = ? WHERE {where}", (other(connection, table, column, old), *key)
    )
    assert done.rowcount == 1
    connection.close()


def key_of(connection: sqlite3.Connection, table: str) -> str:
    names = connection.execute(f"SELECT name FROM pragma_table_info('{table}') WHERE pk > 0 ORDER BY pk")
    return ", ".join(name for (name,) in names)


def other(connection: sqlite3.Connection, table: str, column: str, old: Any) -> Any:
    (kind,) = connection.execute(f"SELECT type FROM pragma_table_info('{table}') WHERE name = '{column}'").fetchone()
    if kind == "INTEGER":
        return (old or 0) + 1_000
    # A name that is nobody's; hashes and ids change in their last character only.
    return f"{old[:-1]}{'x' if old[-1] != 'x' else 'y'}" if old else "x"


def found(path: Path, run_id: str) -> Difference | None:
    return read_once(path, lambda connection: audit(connection, run_id)).difference


def test_an_untouched_run_agrees(copy: tuple[Path, str]) -> None:
    path, run_id = copy
    audited = read_once(path, lambda connection: audit(connection, run_id))
    assert audited.difference is None
    kinds = len(TABLES)
    assert audited.rows >= kinds
    assert audited.events == audited.seq


def test_the_run_has_a_row_of_every_kind(copy: tuple[Path, str]) -> None:
    path, run_id = copy
    counts = {
        table: read_once(path, lambda c, s=statement: len(c.execute(s, {"run_id": run_id}).fetchall()))
        for table, statement in TABLES.values()
    }
    assert all(counts.values()), counts


def test_every_kind_of_the_fold_is_compared() -> None:
    assert set(TABLES) == {*PRIMARY_KEYS, r.RunRow, r.QueueRow}


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_changed_column_is_named(copy: tuple[Path, str], table: str, column: str) -> None:
    path, run_id = copy
    change(path, table, column, run_id)
    difference = found(path, run_id)
    assert difference is not None
    assert difference.table == table
    # Where the key or the owner changed, the row that should be there is missing, or one too many.
    assert difference.column in (column, None)
    if difference.column is not None:
        assert difference.stored != difference.expected


@pytest.mark.parametrize("column", EVENT_COLUMNS)
@pytest.mark.parametrize("seq", [1, 7])
def test_a_changed_event_breaks_the_chain(copy: tuple[Path, str], column: str, seq: int) -> None:
    path, run_id = copy
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints=ON")
    (old,) = connection.execute(f"SELECT {column} FROM events WHERE run_id = ? AND seq = ?", (run_id, seq)).fetchone()
    new = 10_000 if column in ("event_seq", "seq") else other(connection, "events", column, old)
    if column == "payload":
        new = old.replace("{", "{ ", 1)
    done = connection.execute(f"UPDATE events SET {column} = ? WHERE run_id = ? AND seq = ?", (new, run_id, seq))
    assert done.rowcount == 1
    connection.close()
    difference = found(path, run_id)
    assert difference is not None
    assert difference.table == "events"


@pytest.mark.parametrize("table", [table for table, _ in TABLES.values() if table != "runs"])
def test_a_deleted_row_is_missed(copy: tuple[Path, str], table: str) -> None:
    path, run_id = copy
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
    connection.close()
    difference = found(path, run_id)
    assert difference is not None
    assert difference.column is None or difference.table == table


def test_a_changed_value_is_found(copy: tuple[Path, str]) -> None:
    path, run_id = copy
    hashes = read_once(path, lambda c: [row[0] for row in c.execute("SELECT hash FROM blobs")])
    for hash in hashes:
        connection = sqlite3.connect(path, isolation_level=None)
        (content,) = connection.execute("SELECT content FROM blobs WHERE hash = ?", (hash,)).fetchone()
        connection.execute("UPDATE blobs SET content = ? WHERE hash = ?", (content + b" ", hash))
        difference = found(path, run_id)
        assert difference is not None, hash
        assert (difference.table, difference.key) == ("blobs", hash)
        connection.execute("DELETE FROM blobs WHERE hash = ?", (hash,))
        difference = found(path, run_id)
        assert difference is not None, hash
        assert (difference.table, difference.key, difference.column) == ("blobs", hash, None)
        connection.execute("INSERT INTO blobs (hash, content) VALUES (?, ?)", (hash, content))
        connection.close()
    assert found(path, run_id) is None
