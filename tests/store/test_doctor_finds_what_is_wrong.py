"""Each invariant is broken once in a real file; the doctor names it, and a sound store passes."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lockgate.flow.fold import UNFOLDED
from lockgate.model.errors import StoreDamaged, StoreMissing
from lockgate.model.records import Actor
from lockgate.model.statuses import ActorKind
from lockgate.store import doctor, doctor_locks, hosts, opening
from lockgate.store.audit import audit
from lockgate.store.doctor import Checkup, examine
from lockgate.store.doctor_rows import RULES
from lockgate.store.drill import drill
from lockgate.store.once import read_once
from lockgate.store.prune import prune
from lockgate.store.reads import host_state, run, store_facts
from lockgate.store.statements import load, schema

from . import histories
from .conftest import Bench, HandClock

linux = pytest.mark.skipif(sys.platform != "linux", reason="what /proc tells is known on Linux only")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    path = tmp_path_factory.mktemp("doctor") / "state.sqlite"
    bench = Bench(path)
    runs = histories.all_kinds(bench)
    bench.close()
    return path, runs


@pytest.fixture
def copy(original: tuple[Path, dict[str, str]], tmp_path: Path) -> tuple[Path, dict[str, str]]:
    shutil.copy(original[0], tmp_path / "state.sqlite")
    (tmp_path / "state.sqlite").chmod(0o600)
    return tmp_path / "state.sqlite", original[1]


def seen(path: Path, **more: Any) -> Checkup:
    return examine(path, clock=HandClock(), is_alive=lambda pid, start: True, **more)


def codes(checkup: Checkup) -> set[str]:
    return {finding.code for finding in checkup.findings}


def change(path: Path, statement: str, *values: Any) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints=ON")
    assert connection.execute(statement, values).rowcount > 0, statement
    connection.close()


def test_a_sound_store_of_every_situation_passes(copy: tuple[Path, dict[str, str]]) -> None:
    found = seen(copy[0], every_run=True)
    assert found.findings == ()
    assert found.sample is not None
    assert (found.sample.runs, found.sample.of) == (13, 13)
    assert any("is blocked: load_failed" in remark for remark in found.remarks)


def test_it_changes_nothing(copy: tuple[Path, dict[str, str]]) -> None:
    path = copy[0]
    before = path.read_bytes()
    seen(path)
    assert path.read_bytes() == before


BREAKS = {
    "illegal_situation": "UPDATE run_queue SET status = 'queued' WHERE run_id = :waiting",
    "loose_head": "UPDATE runs SET revision = revision + 1 WHERE run_id = :waiting",
    "stray_events": "UPDATE events SET run_id = 'nobody' WHERE run_id = :waiting AND seq > 3",
    "event_numbers": "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'events'",
    "pending_request": "UPDATE requests SET node_id = 'work' WHERE run_id = :waiting AND status = 'pending'",
    "accepted_request": "UPDATE submissions SET outcome = 'expired' WHERE run_id = :expired AND source = 'policy'",
    "second_winner": "UPDATE submissions SET outcome = 'accepted' WHERE run_id = :everything AND winner IS NOT NULL",
    "decision_request": "UPDATE human_decisions SET attempt_id = 'x' WHERE run_id = :everything",
    "resolution": "UPDATE human_decision_resolutions SET request_digest = 'x' WHERE run_id = :everything",
    "active_clock": "UPDATE attempt_active_intervals SET ended_at = NULL WHERE run_id = :everything",
    "working_time": "UPDATE node_attempts SET active_ms = active_ms + 1 WHERE run_id = :everything",
    "run_sums": "UPDATE runs SET steps = steps + 1 WHERE run_id = :everything",
    "unsure_effect": "UPDATE effects SET status = 'ambiguous' WHERE run_id = :waiting",
    "blocked_effect": "UPDATE effects SET status = 'applied' WHERE run_id = :unsure",
    "effect_tries": "UPDATE effects SET attempt_count = 7 WHERE run_id = :everything",
    "claim_epoch": "UPDATE run_queue SET host_epoch = 99 WHERE run_id = :working",
    "lineage": "UPDATE runs SET restart_number = 5 WHERE run_id = :child",
    "worker": "UPDATE run_workers SET generation = generation + 7 WHERE run_id = :blocked",
    "command": "UPDATE commands SET receipt = '{' WHERE run_id = :queued",
    "policy": "INSERT INTO policies VALUES ('operator', '{', 0, 'ada', 0)",
    "missing_value": "DELETE FROM blobs WHERE hash = (SELECT output_hash FROM runs WHERE run_id = :everything)",
}


def test_every_rule_is_broken_here() -> None:
    assert {code for code, *_ in RULES} == set(BREAKS)


@pytest.mark.parametrize("code", BREAKS)
def test_a_broken_rule_is_named(copy: tuple[Path, dict[str, str]], code: str) -> None:
    path, runs = copy
    statement, values = BREAKS[code], []
    for name, run_id in runs.items():
        if f":{name}" in statement:
            statement = statement.replace(f":{name}", "?")
            values.append(run_id)
    change(path, statement, *values)
    found = seen(path)
    assert code in codes(found)
    for finding in found.findings:
        assert finding.what
        assert finding.where
        assert finding.action


def test_rows_that_differ_from_their_events_are_found(copy: tuple[Path, dict[str, str]]) -> None:
    path, runs = copy
    change(path, "UPDATE runs SET title = 'Another' WHERE run_id = ?", runs["queued"])
    (finding,) = seen(path).findings
    assert (finding.code, finding.where) == ("rows_differ", runs["queued"])
    assert finding.action == f"lockgate audit {runs['queued']}"


def test_values_of_no_run_are_remarked(copy: tuple[Path, dict[str, str]]) -> None:
    path = copy[0]
    change(path, "INSERT INTO blobs (hash, content) VALUES (?, ?)", "0" * 64, b"1234567")
    found = seen(path)
    assert found.findings == ()
    assert any("stored values of no run: 1, 7 bytes" in remark for remark in found.remarks)


def test_a_status_that_nobody_writes_is_found(copy: tuple[Path, dict[str, str]]) -> None:
    path, runs = copy
    change(path, "UPDATE run_queue SET owner_kind = 'ghost' WHERE run_id = ?", runs["working"])
    found = seen(path)
    assert "store_damaged" in codes(found)
    assert any("cut short by damage" in line for line in found.unknown)


def test_every_hash_column_is_known_to_be_a_value_or_not() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(schema())
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    columns = {
        f"{table}.{row[1]}"
        for table in tables
        for row in connection.execute(f"PRAGMA table_info({table})")
        if row[1].endswith("_hash")
    }
    connection.close()
    named = load("invariants")["missing_value"]
    missing = {column for column in columns if f"'{column}'" not in named}
    assert missing == {"run_queue.token_hash", "events.prev_hash"}
    assert "token_hash" in UNFOLDED
    orphans = load("keeping")["orphan_values"]
    for table, _, column in (column.partition(".") for column in columns - missing):
        assert f"SELECT {column} FROM {table}" in orphans, (table, column)


# --- the file ----------------------------------------------------------------------------------------------


def test_no_store_is_no_patient(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing):
        examine(tmp_path / "none.sqlite")


def test_a_foreign_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    path.write_bytes(b"hello, world" * 1000)
    path.chmod(0o600)
    assert codes(examine(path)) == {"store_foreign"}
    assert path.read_bytes() == b"hello, world" * 1000


def test_an_older_schema_is_sent_to_migrate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Bench(tmp_path / "state.sqlite").close()
    monkeypatch.setattr(opening, "VERSION", opening.VERSION + 1)
    (finding,) = examine(tmp_path / "state.sqlite").findings
    assert finding.code == "store_too_old"
    assert finding.action.startswith("lockgate migrate")


def test_changed_tables_are_found(copy: tuple[Path, dict[str, str]]) -> None:
    connection = sqlite3.connect(copy[0], isolation_level=None)
    connection.execute("DROP INDEX runs_newest")
    connection.close()
    assert codes(seen(copy[0])) == {"store_foreign"}


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_damaged_pages_are_found(copy: tuple[Path, dict[str, str]], share: float) -> None:
    path = copy[0]
    size = path.stat().st_size
    page = int(size * share) // 4096 * 4096
    with path.open("r+b") as file:
        file.seek(page)
        file.write(b"\xa5" * 4096)
    assert codes(seen(path)) & {"store_damaged", "missing_value", "rows_differ"}


def test_files_that_others_may_read_are_found(copy: tuple[Path, dict[str, str]]) -> None:
    path = copy[0]
    path.chmod(0o644)
    found = seen(path)
    assert codes(found) == {"open_to_others"}
    assert found.findings[0].action == f"chmod 0600 {path}"
    for file in path.parent.glob("state.sqlite*"):
        file.chmod(0o600)
    path.parent.chmod(0o777)
    (finding,) = seen(path).findings
    assert (finding.code, finding.action) == ("open_directory", f"chmod 0700 {path.parent}")
    path.parent.chmod(0o1777)
    assert seen(path).findings == ()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


# --- processes ---------------------------------------------------------------------------------------------

CHILD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
{body}
print("ready", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def child() -> Iterator[Any]:
    """Starts processes that hold something of a store until the test ends."""
    started: list[subprocess.Popen[str]] = []

    def start(path: Path, body: str) -> int:
        process = subprocess.Popen(
            [sys.executable, "-c", CHILD.format(body=textwrap.dedent(body)), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process.pid

    yield start
    for process in started:
        process.communicate("\n")


@linux
def test_the_holder_of_the_write_lock_is_named(bench: Bench, child: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_locks, "PAUSE_S", 0.01)
    bench.run_id()
    pid = child(bench.path, "connection.execute('BEGIN IMMEDIATE')")
    (finding,) = seen(bench.path).findings
    assert finding.code == "write_lock_held"
    assert f"process {pid} (python" in finding.what
    assert f"stop process {pid}" in finding.action


@linux
def test_a_writer_that_commits_is_no_trouble(bench: Bench, child: Any) -> None:
    bench.run_id()
    child(bench.path, "connection.execute('BEGIN IMMEDIATE')")
    reading, _ = opening.open_reading(bench.path, bench.file.patience)
    looks = iter([doctor_locks.locks(bench.path)] * 2)
    before = reading.execute("PRAGMA data_version").fetchone()
    assert before is not None

    def pause(seconds: float) -> None:
        raise AssertionError("it looked on")

    calm = doctor_locks.Locks(writers=frozenset(), readers=frozenset())
    assert doctor_locks.check_locks(bench.path, reading, look=lambda path: calm, pause=pause)[0] == []
    first = next(looks)
    assert first is not None
    assert len(first.writers) == 1
    answers = iter([first, calm])
    findings, *_ = doctor_locks.check_locks(
        bench.path, reading, look=lambda path: next(answers, calm), pause=lambda seconds: None
    )
    assert findings == []
    reading.close()


@linux
def test_who_pins_a_grown_log_is_named(bench: Bench, child: Any) -> None:
    pid = child(bench.path, "connection.execute('BEGIN'); connection.execute('SELECT * FROM meta').fetchall()")
    bench.run_id()
    reading, _ = opening.open_reading(bench.path, bench.file.patience)
    findings, *_ = doctor_locks.check_locks(bench.path, reading, wal_limit=1, pause=lambda seconds: None)
    reading.close()
    (finding,) = findings
    assert finding.code == "wal_grown"
    assert f"{pid} (python" in finding.what


@linux
def test_a_process_on_a_deleted_store_is_named(bench: Bench, child: Any, tmp_path: Path) -> None:
    pid = child(bench.path, "connection.execute('SELECT * FROM meta').fetchall()")
    bench.close()
    other = tmp_path / "other" / "state.sqlite"
    Bench(other).close()
    os.replace(other, bench.path)
    found = seen(bench.path)
    assert "lost_file" in codes(found)
    assert any(f"process {pid} (python" in finding.what for finding in found.findings)


@linux
def test_a_process_cut_off_from_its_log_is_named(bench: Bench, child: Any) -> None:
    bench.run_id()
    pid = child(bench.path, "connection.execute('SELECT * FROM meta').fetchall()")
    Path(f"{bench.path}-wal").unlink()
    bench.close()
    (finding,) = [found for found in seen(bench.path).findings if f"process {pid} " in found.what]
    assert (finding.code, finding.where) == ("lost_file", f"{bench.path}-wal")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_a_store_of_somebody_else_is_found(copy: tuple[Path, dict[str, str]]) -> None:
    os.chown(copy[0], 40_001, 40_001)
    found = seen(copy[0])
    assert codes(found) == {"store_unsafe_location"}
    assert "belongs to user 40001" in found.findings[0].what


@pytest.mark.parametrize(
    ("boot", "passed", "alive", "word"),
    [
        ("boot-1", 0, True, "live"),
        ("boot-1", 0, False, "stale"),
        ("boot-1", 30_001, True, "stale"),
        ("boot-2", 0, True, "other_boot"),
    ],
)
def test_the_host_is_judged(bench: Bench, boot: str, passed: int, alive: bool, word: str) -> None:
    histories.all_kinds(bench)
    clock = HandClock()
    clock.wall_ms, clock.mono_ms = bench.clock.wall_ms, bench.clock.mono_ms
    bench.write(lambda tx: hosts.renew(tx, "host-1", 1))
    clock.pass_ms(passed)
    clock.boot_id = boot
    found = examine(bench.path, clock=clock, is_alive=lambda pid, start: alive)
    assert found.facts["host"]["state"] == word
    assert found.findings == ()
    assert any("host pid 4242" in remark for remark in found.remarks) == (word != "live")


def test_runs_without_a_host_are_remarked(bench: Bench) -> None:
    bench.run_id()
    found = seen(bench.path)
    assert found.facts["host"]["state"] == "none"
    assert "no host runs, and runs wait for one (1): lockgate host" in found.remarks


def test_a_look_takes_no_second(copy: tuple[Path, dict[str, str]]) -> None:
    began = time.monotonic()
    seen(copy[0])
    assert time.monotonic() - began < 1


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "state.sqlite", 0o600)
    assert codes(examine(tmp_path / "state.sqlite")) == {"store_foreign"}


@pytest.mark.parametrize("old", [b'"ok"', b"index runs_newest"])
def test_a_text_that_is_no_text_any_more_is_damage(copy: tuple[Path, dict[str, str]], old: bytes) -> None:
    """One byte of a payload, or of the schema itself."""
    path, runs = copy
    change(path, "UPDATE events SET payload = replace(payload, 'pace', 'ok') WHERE 1")
    spoilt = path.read_bytes()
    assert spoilt.lower().count(old) > 0
    at = spoilt.lower().rindex(old)
    path.write_bytes(spoilt[:at] + b"\xff" + spoilt[at + 1 :])
    assert "store_damaged" in codes(seen(path))
    with pytest.raises(StoreDamaged, match=r"no UTF-8|malformed"):
        read_once(path, lambda c: [c.execute("SELECT * FROM events").fetchall(), audit(c, runs["everything"])])
    with pytest.raises(StoreDamaged):
        drill(path, path.with_name("live.sqlite"))


@pytest.mark.parametrize("table", ["meta", "host_state"])
def test_a_row_that_every_store_has_is_missed(copy: tuple[Path, dict[str, str]], table: str) -> None:
    path, runs = copy
    change(path, f"DELETE FROM {table}")
    change(path, "UPDATE runs SET title = 'Another' WHERE run_id = ?", runs["queued"])
    found = seen(path)
    assert any(f"{table} has no row" in finding.what for finding in found.findings)
    # The other looks were taken all the same.
    assert "rows_differ" in codes(found)
    ask = store_facts if table == "meta" else host_state
    with pytest.raises(StoreDamaged, match=f"{table} has no row"):
        read_once(path, ask)


def test_whatever_a_look_meets_is_a_finding(copy: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(connection: sqlite3.Connection) -> Any:
        raise IndexError("nobody foresaw this")

    monkeypatch.setattr(doctor, "broken_rules", broken)
    change(copy[0], "UPDATE runs SET title = 'Another' WHERE run_id = ?", copy[1]["queued"])
    found = seen(copy[0])
    assert codes(found) == {"store_damaged", "rows_differ"}
    assert any("IndexError: nobody foresaw this" in finding.what for finding in found.findings)


def test_a_row_that_no_version_writes_is_named(copy: tuple[Path, dict[str, str]]) -> None:
    path, runs = copy
    change(path, "UPDATE runs SET clock = 'zzz' WHERE run_id = ?", runs["queued"])
    with pytest.raises(StoreDamaged, match=runs["queued"]):
        read_once(path, lambda connection: run(connection, runs["queued"]))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET payload = replace(payload, '\"last_seq\":', '\"last_seq\":1') WHERE type = 'run_pruned'",
        "INSERT INTO events (run_id, seq, type, at, actor, payload, prev_hash, hash) "
        "SELECT 'nobody', 5, type, at, actor, '{}', prev_hash, hash FROM events WHERE type = 'run_pruned'",
    ],
)
def test_what_is_left_of_a_pruned_run_is_looked_at(bench: Bench, tmp_path: Path, statement: str) -> None:
    histories.failed(bench)
    bench.clock.pass_ms(1)
    actor = Actor(kind=ActorKind.USER, id="keeper")
    prune(bench.path, bench.clock.wall_ms, tmp_path / "copy.sqlite", actor=actor, clock=bench.clock)
    assert seen(bench.path).findings == ()
    bench.write(lambda tx: tx.connection.execute(statement))
    assert codes(seen(bench.path)) == {"rows_differ"}


def test_launches_that_outlived_their_claim_are_remarked(copy: tuple[Path, dict[str, str]]) -> None:
    path = copy[0]
    before = [remark for remark in seen(path).remarks if "workers of claims" in remark]
    change(path, "DELETE FROM run_workers")
    assert not any("workers of claims" in remark for remark in seen(path).remarks)
    assert len(before) == 1
