"""A store of any earlier schema becomes the present one, whole, after a verified backup, or stays as it was."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import lockgate
from lockgate.model.errors import Refused, StoreError, StoreForeign, StoreMissing, StoreTooNew, StoreTooOld
from lockgate.store import hosts, migrations, opening
from lockgate.store.audit import audit
from lockgate.store.backup import contents, reading_inactive
from lockgate.store.hosts import Identity
from lockgate.store.migrations import KNOWN_VERSION, Rung, digest_of, ladder, migrate
from lockgate.store.once import read_once
from lockgate.store.openfile import open_file
from lockgate.store.statements import schema

from .conftest import Bench, HandClock

V1 = Path(__file__).parent / "data" / "v1.sqlite"
LATER = Rung(number=KNOWN_VERSION + 1, name="later", script="ALTER TABLE meta ADD COLUMN later TEXT;\n")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "state.sqlite"
    shutil.copy(V1, path)
    return path


def dead(pid: int, start: str) -> bool:
    return False


def alive(pid: int, start: str) -> bool:
    return True


def test_the_ladder_ends_at_the_known_version() -> None:
    assert len(ladder()) == KNOWN_VERSION == opening.VERSION


def test_climbing_the_ladder_gives_the_schema() -> None:
    made = sqlite3.connect(":memory:")
    made.executescript(schema())
    assert digest_of(KNOWN_VERSION) == opening.schema_digest(made) == opening.SCHEMA_DIGEST
    climbed = sqlite3.connect(":memory:", isolation_level=None)
    migrations.climb(climbed, ladder())
    for (table,) in made.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        of = f"PRAGMA table_xinfo({table})"
        assert climbed.execute(of).fetchall() == made.execute(of).fetchall(), table
    rows = "SELECT * FROM host_state"
    assert climbed.execute(rows).fetchall() == made.execute(rows).fetchall()
    made.close()
    climbed.close()


def test_the_v1_file_is_one() -> None:
    with reading_inactive(V1) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert opening.schema_digest(connection) == digest_of(1)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_the_v1_file_migrates_with_every_run(old: Path) -> None:
    with reading_inactive(V1) as connection:
        before = contents(connection)
    migrated = migrate(old, is_alive=dead)
    assert (migrated.before, migrated.after) == (1, KNOWN_VERSION)
    after = read_once(old, contents)
    assert (after.counts, after.store_id, after.newest_event) == (before.counts, before.store_id, before.newest_event)
    runs = [run_id for (run_id,) in read_once(old, lambda c: c.execute("SELECT run_id FROM runs").fetchall())]
    assert len(runs) == 14
    for run_id in runs:
        assert read_once(old, lambda c, r=run_id: audit(c, r)).difference is None


KILLED = """
import os, sys
from pathlib import Path
from lockgate.store import migrations
from lockgate.store.anchor import Anchor
def end(*_):
    os.kill(os.getpid(), 9)
if sys.argv[2] == "before":
    migrations._check = end
else:
    Anchor.check = end
migrations.migrate(Path(sys.argv[1]), is_alive=lambda pid, start: False)
"""


@pytest.mark.parametrize(("when", "version"), [("before", 1), ("after", KNOWN_VERSION)])
def test_a_migration_that_is_killed_happened_whole_or_not_at_all(old: Path, when: str, version: int) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(lockgate.__file__).parents[1])}
    killed = subprocess.run([sys.executable, "-c", KILLED, str(old), when], env=environment)
    assert killed.returncode == -9
    found = sqlite3.connect(old)
    assert found.execute("PRAGMA user_version").fetchone() == (version,)
    assert opening.schema_digest(found) == digest_of(version)
    assert found.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    found.close()
    time_passes = HandClock()
    time_passes.pass_ms(60_000)
    assert migrate(old, is_alive=dead, clock=time_passes).before == version
    assert len(read_once(old, lambda c: c.execute("SELECT run_id FROM runs").fetchall())) == 14


def test_a_present_store_is_left_alone(bench: Bench) -> None:
    before = bench.path.stat().st_mtime_ns
    migrated = migrate(bench.path)
    assert (migrated.before, migrated.after, migrated.backup) == (KNOWN_VERSION, KNOWN_VERSION, None)
    assert bench.path.stat().st_mtime_ns == before


def test_nothing_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing):
        migrate(tmp_path / "none.sqlite")


def test_who_may_make_a_store_migrates_it_and_nobody_else(old: Path) -> None:
    for options in ({}, {"read_only": True}):
        with pytest.raises(StoreTooOld, match="run lockgate migrate"):
            open_file(old, HandClock(), **options)
    assert list(old.parent.glob("*before*")) == []
    file = open_file(old, HandClock(), create=True)
    assert len(file.read(lambda c: c.execute("SELECT run_id FROM runs").fetchall())) == 14
    file.close()
    (backup,) = old.parent.glob("*before*")
    with reading_inactive(backup) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)


class TestTheNextSchema:
    """The framework, held to a rung that is not there yet: the present schema is then the old one."""

    @pytest.fixture(autouse=True)
    def next_schema(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        rungs = (*ladder(), LATER)
        digest_of(KNOWN_VERSION)
        monkeypatch.setattr(migrations, "ladder", lambda: rungs)
        monkeypatch.setattr(migrations, "KNOWN_VERSION", LATER.number)
        monkeypatch.setattr(opening, "SCHEMA_DIGEST", digest_of(LATER.number))

    def test_it_takes_a_verified_backup_first(self, bench: Bench) -> None:
        run_id = bench.at_decision()[0]
        held = bench.read(contents)
        bench.close()
        migrated = migrate(bench.path, clock=bench.clock)
        assert migrated.backup is not None
        copy = Path(migrated.backup.path)
        assert copy.name == f"state.before-schema-{LATER.number}-20251129T140000Z.sqlite"
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        with reading_inactive(copy) as connection:
            assert contents(connection) == held
            assert audit(connection, run_id).difference is None
        after = sqlite3.connect(bench.path)
        assert after.execute("PRAGMA user_version").fetchone() == (LATER.number,)
        assert after.execute("SELECT later FROM meta").fetchall() == [(None,)]
        after.close()

    def test_an_open_connection_of_the_old_version_is_refused(self, bench: Bench) -> None:
        bench.run_id()
        migrate(bench.path, clock=bench.clock)
        with pytest.raises(StoreTooNew):
            bench.run_id()
        with pytest.raises(StoreTooNew):
            bench.read(contents)

    def test_a_live_host_keeps_its_schema(self, bench: Bench) -> None:
        host = Identity(host_id="host-1", pid=4242, process_start="77", capacity=4)
        bench.write(lambda tx: hosts.take_over(tx, host, dead))
        with pytest.raises(Refused, match="host pid 4242 holds this store"):
            migrate(bench.path, clock=bench.clock, is_alive=alive)
        assert list(bench.path.parent.glob("*before*")) == []
        bench.clock.pass_ms(30_001)
        assert migrate(bench.path, clock=bench.clock, is_alive=alive).after == LATER.number

    def test_a_dead_host_keeps_nothing(self, bench: Bench) -> None:
        host = Identity(host_id="host-1", pid=4242, process_start="77", capacity=4)
        bench.write(lambda tx: hosts.take_over(tx, host, dead))
        assert migrate(bench.path, clock=bench.clock, is_alive=dead).after == LATER.number

    def test_an_executing_process_keeps_its_schema(self, bench: Bench) -> None:
        from lockgate.model.statuses import OwnerKind
        from lockgate.store.claims import Owner

        bench.claim(bench.run_id(), Owner(kind=OwnerKind.PROCESS, id="99@5"))
        with pytest.raises(Refused, match="99@5 executes"):
            migrate(bench.path, clock=bench.clock, is_alive=dead)

    def test_a_backup_that_cannot_be_made_stops_it(self, bench: Bench, tmp_path: Path) -> None:
        taken = tmp_path / "taken.sqlite"
        taken.write_bytes(b"mine")
        with pytest.raises(Refused, match="exists already"):
            migrate(bench.path, clock=bench.clock, backup_to=taken)
        assert taken.read_bytes() == b"mine"
        assert bench.read(lambda c: c.execute("PRAGMA user_version").fetchone()) == (KNOWN_VERSION,)

    @pytest.mark.parametrize(
        "script",
        [
            "ALTER TABLE meta ADD COLUMN other TEXT;\n",
            "ALTER TABLE meta ADD COLUMN later TEXT;\nDELETE FROM definitions;\n",
            "ALTER TABLE meta ADD COLUMN later TEXT;\nINSERT INTO nowhere VALUES (1);\n",
        ],
    )
    def test_a_script_that_goes_wrong_changes_nothing(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch, script: str
    ) -> None:
        bench.run_id()
        held = bench.read(contents)
        bad = Rung(number=LATER.number, name="bad", script=script)  # type: ignore[arg-type]
        monkeypatch.setattr(migrations, "ladder", lambda: (*ladder()[:KNOWN_VERSION], bad))
        with pytest.raises((StoreError, sqlite3.OperationalError)):
            migrate(bench.path, clock=bench.clock)
        assert bench.read(contents) == held


def test_a_newer_store_is_never_taken_back(bench: Bench) -> None:
    bench.write(lambda tx: tx.connection.execute(f"PRAGMA user_version={KNOWN_VERSION + 1}"))
    with pytest.raises(StoreTooNew):
        migrate(bench.path)


def test_tables_of_another_shape_are_not_migrated(old: Path) -> None:
    connection = sqlite3.connect(old, isolation_level=None)
    connection.execute("ALTER TABLE meta ADD COLUMN mine TEXT")
    connection.close()
    with pytest.raises(StoreForeign, match="not those of schema 1"):
        migrate(old, is_alive=dead)
