"""Nothing of a run is written but by a transition: every statement that writes is looked at, and the exceptions named.

Which tables and columns a statement writes is asked of SQLite itself, by its authorizer, when it compiles it.
"""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from lockgate.flow.fold import UNFOLDED
from lockgate.store.audit_rows import TABLES
from lockgate.store.statements import load, schema

from .acts import ACTS
from .conftest import Bench

STORE = Path(__file__).resolve().parents[2] / "src" / "lockgate" / "store"
FOLDED = {table for table, _ in TABLES.values()}
BESIDE = {"commands", "run_workers", "attempt_output"}
"""What belongs to a run and is outside its events: receipts, launches, captured output."""

TRANSITIONS = {
    "rows.py": {
        "insert_attempt", "change_attempt", "open_interval", "close_interval", "save_update", "save_effect",
        "save_effect_attempt", "save_request", "save_decision", "save_resolution", "save_submission", "save_sources",
        "save_settings", "save_change",
    },
    "commits.py": {"insert_run", "insert_queue", "insert_event", "close_run", "close_changed_run", "close_queue"},
}  # fmt: skip
"""Where rows and events are written, and by what: `commits.commit` for every transition, and a new run's first rows."""

EXCEPTIONS = {
    "renew_claims": "renewal: one heartbeat moves the leases of all claims of an owner",
    "insert_chunk": "captured output",
    "drop_middle": "captured output keeps its two ends",
    "insert_worker": "worker rows: a launch and its process",
    "worker_ready": "worker rows: it has loaded its workflow",
    "worker_finished": "worker rows: how it ended",
    "orphan_workers": "worker rows: its host is gone",
    "insert_command": "command receipts",
    "prune_run": "prune: the whole run goes, and leaves a tombstone",
    "prune_events": "prune: its events but the last",
    "prune_commands": "prune: its receipts",
}
"""What writes a run's rows and is no transition, with the reason."""


class Write(NamedTuple):
    name: str
    verb: str
    table: str
    column: str | None


_VERBS = {sqlite3.SQLITE_INSERT: "insert", sqlite3.SQLITE_UPDATE: "update", sqlite3.SQLITE_DELETE: "delete"}


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(":memory:")
    made.executescript(schema())
    yield made
    made.close()


@pytest.fixture(scope="module")
def writes(connection: sqlite3.Connection) -> list[Write]:
    """Everything that any named statement writes."""
    found: list[Write] = []
    name = ""

    def note(action: int, table: str | None, column: str | None, _: object, __: object) -> int:
        if action in _VERBS and table is not None and not table.startswith("sqlite_"):
            found.append(Write(name, _VERBS[action], table, column if action == sqlite3.SQLITE_UPDATE else None))
        return sqlite3.SQLITE_OK

    connection.set_authorizer(note)
    for path in sorted((STORE / "sql").glob("*.sql")):
        if path.stem != "schema":
            for name, text in load(path.stem).texts.items():  # noqa: B007 - `note` reads it
                values = dict.fromkeys(re.findall(r"[:@$]([A-Za-z_][A-Za-z0-9_]*)", text))
                connection.execute(f"EXPLAIN {text}", values or (None,) * text.count("?")).fetchall()
    connection.set_authorizer(None)
    return found


def test_every_table_of_a_run_is_folded_or_named_beside_it(connection: sqlite3.Connection) -> None:
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    owned = {
        table
        for table in tables
        if any(column[1] == "run_id" for column in connection.execute(f"PRAGMA table_info({table})").fetchall())
    }
    assert owned == FOLDED | BESIDE | {"events"}


def test_a_run_is_written_by_transitions_and_the_named_exceptions(writes: list[Write]) -> None:
    touching = {write.name for write in writes if write.table in FOLDED | BESIDE | {"events"}}
    assert touching == set.union(*TRANSITIONS.values()) | set(EXCEPTIONS)


def test_the_exceptions_write_nothing_that_the_events_say(writes: list[Write]) -> None:
    for write in writes:
        if write.name not in EXCEPTIONS or write.name.startswith("prune_"):
            continue
        if write.name == "renew_claims":
            assert (write.verb, write.table) == ("update", "run_queue")
            assert write.column in UNFOLDED
        else:
            assert write.table in BESIDE, write


def test_no_transition_deletes(writes: list[Write]) -> None:
    for write in writes:
        if write.name not in EXCEPTIONS:
            assert write.verb != "delete" or write.table in ("blobs", "definitions"), write


@pytest.mark.parametrize("module", TRANSITIONS)
def test_a_transitions_statements_are_named_in_one_place(module: str) -> None:
    for path in STORE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        named = {name for name in TRANSITIONS[module] if f'"{name}"' in text}
        assert named == (TRANSITIONS[module] if path.name == module else set()), path


@pytest.mark.parametrize(
    ("call", "callers"),
    [
        (r"\bsave_row\(", {"rows.py", "commits.py"}),
        (r"(?<!\.)\bclose\(tx\.connection, before", {"commits.py"}),
        (r"\bcommits\.insert\(", {"starts.py"}),
        (r"\b(commits\.)?write\(tx, ", {"commits.py", "starts.py", "prune.py"}),
        (r"\blaw\.apply\(", {"commits.py"}),
        (r"\blaw\.start\(", {"starts.py"}),
    ],
)
def test_the_way_to_these_statements_is_the_law(call: str, callers: set[str]) -> None:
    """Only a commit saves rows; only a start inserts a run; a tombstone is the only event without the law."""
    found = {path.name for path in STORE.rglob("*.py") if re.search(call, path.read_text(encoding="utf-8"))}
    assert found == callers


@pytest.mark.parametrize("name", sorted(set(ACTS) - {"a batch", "prune"}))
def test_a_run_changes_exactly_by_its_events(bench: Bench, name: str) -> None:
    """What an act changes of a run it also says: as many events as it raises the revision, or none and nothing."""
    act = ACTS[name]
    facts = act.prepare(bench)
    before, revisions = rows(bench), revision(bench)
    bench.write(lambda tx: act.do(tx, facts))
    after = rows(bench)
    for run_id, now in revision(bench).items():
        added = after["events"].get(run_id, [])[len(before["events"].get(run_id, [])) :]
        assert len(added) == now - revisions.get(run_id, 0)
        changed = {table for table in FOLDED if before[table].get(run_id) != after[table].get(run_id)}
        assert bool(changed) == bool(added), (changed, added)
        if changed:
            assert {"runs"} <= changed


def rows(bench: Bench) -> dict[str, dict[str, list[tuple[object, ...]]]]:
    """Every row of every run, by table and run."""
    found: dict[str, dict[str, list[tuple[object, ...]]]] = {}
    for table in FOLDED | {"events"}:
        order = "event_seq" if table == "events" else "1, 2"
        cursor = bench.file.connection.execute(f"SELECT run_id, t.* FROM {table} t ORDER BY {order}")
        of_run = found.setdefault(table, {})
        for run_id, *columns in cursor.fetchall():
            of_run.setdefault(run_id, []).append(tuple(columns))
    return found


def revision(bench: Bench) -> dict[str, int]:
    return dict(bench.file.connection.execute("SELECT run_id, revision FROM runs").fetchall())
