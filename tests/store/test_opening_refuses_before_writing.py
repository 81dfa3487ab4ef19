"""A file that is not a store of ours is refused with its own error, and not one byte of it changes."""

import asyncio
import os
import sqlite3
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from datetime import UTC
from pathlib import Path

import pytest

from lockgate.model import records as r
from lockgate.model.errors import (
    Refused,
    StoreDamaged,
    StoreError,
    StoreForeign,
    StoreMissing,
    StoreReadOnly,
    StoreTooNew,
    StoreTooOld,
    StoreUnsafeLocation,
)
from lockgate.store import location, opening, reads
from lockgate.store.once import read_once, write_once
from lockgate.store.openfile import open_file
from lockgate.store.reads import store_facts
from lockgate.store.shell import open_store
from lockgate.store.statements import schema
from lockgate.view.frames import once_frame
from lockgate.view.glyphs import UNICODE

from .conftest import Bench, HandClock

TABLES = {
    "runs": r.RunRow,
    "run_queue": r.QueueRow,
    "node_attempts": r.AttemptRow,
    "attempt_active_intervals": r.IntervalRow,
    "requests": r.RequestRow,
    "human_decisions": r.DecisionRow,
    "human_decision_resolutions": r.ResolutionRow,
    "submissions": r.SubmissionRow,
    "effects": r.EffectRow,
    "effect_attempts": r.EffectAttemptRow,
    "workflow_updates": r.UpdateRow,
    "run_sources": r.SourceRow,
}


def make(path: Path) -> Path:
    write_once(path, lambda tx: None, create=True, clock=HandClock())
    return path


def touch(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement)
    connection.close()


def refused(path: Path, error: type[StoreError]) -> str:
    before = path.read_bytes() if path.is_file() else None
    for use in (lambda: read_once(path, store_facts), lambda: write_once(path, lambda tx: None)):
        with pytest.raises(error) as caught:
            use()
    assert (path.read_bytes() if path.is_file() else None) == before
    return str(caught.value)


def test_a_missing_store_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "none" / "state.sqlite"
    assert "lockgate demo makes one" in refused(path, StoreMissing)
    assert not path.parent.exists()


def test_an_empty_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "state.sqlite").touch()
    refused(tmp_path / "state.sqlite", StoreMissing)


def test_what_is_no_database_is_foreign(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    path.write_bytes(b"something else entirely, and long enough to be looked at" * 100)
    assert "not an SQLite database" in refused(path, StoreForeign)


def test_a_foreign_file_is_not_created_over(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    touch(path, "CREATE TABLE theirs (a)")
    before = path.read_bytes()
    with pytest.raises(StoreForeign):
        write_once(path, lambda tx: None, create=True)
    assert path.read_bytes() == before


def test_a_directory_is_foreign(tmp_path: Path) -> None:
    refused(tmp_path, StoreForeign)


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = make(tmp_path / "state.sqlite")
    touch(path, "PRAGMA user_version=99")
    assert "newer lockgate" in refused(path, StoreTooNew)


def test_an_older_schema_asks_for_migrate(tmp_path: Path) -> None:
    path = make(tmp_path / "state.sqlite")
    touch(path, "PRAGMA user_version=1")
    assert "lockgate migrate" in refused(path, StoreTooOld)


@pytest.mark.parametrize("version", [0, -1])
def test_a_schema_before_the_first_is_foreign(tmp_path: Path, version: int) -> None:
    """No migration leads from it, so none is advised."""
    path = make(tmp_path / "state.sqlite")
    touch(path, f"PRAGMA user_version={version}")
    assert f"version {version}" in refused(path, StoreForeign)
    with pytest.raises(StoreForeign):
        write_once(path, lambda tx: None, create=True)


def test_other_tables_are_foreign(tmp_path: Path) -> None:
    path = make(tmp_path / "state.sqlite")
    touch(path, "CREATE TRIGGER sly AFTER INSERT ON events BEGIN DELETE FROM events; END")
    refused(path, StoreForeign)


def test_a_network_file_system_is_unsafe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path / "state.sqlite")
    monkeypatch.setattr(location, "file_system", lambda path: "nfs4")
    assert "network file system" in refused(path, StoreUnsafeLocation)


def test_somebody_elses_store_is_unsafe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path / "state.sqlite")
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    monkeypatch.setattr(os, "getegid", lambda: 4242)
    monkeypatch.setattr(os, "getgroups", list)
    assert "belongs to user" in refused(path, StoreUnsafeLocation)


def test_the_mount_of_a_path_is_found() -> None:
    assert location.file_system(Path("/proc/self")) in ("proc", "")
    assert location.file_system(Path("/proc/self/none/at/all")) in ("proc", "")


def test_an_unwritable_store_is_read_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path / "state.sqlite")
    monkeypatch.setattr(opening, "unwritable", lambda path: "the disk may not be written")
    assert read_once(path, store_facts).version == opening.VERSION
    with pytest.raises(StoreReadOnly, match="the disk may not be written"):
        write_once(path, lambda tx: None)


def test_a_store_is_private(tmp_path: Path) -> None:
    path = make(tmp_path / "deep" / "er" / "state.sqlite")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_creating_twice_keeps_the_first(tmp_path: Path) -> None:
    path = make(tmp_path / "state.sqlite")
    first = read_once(path, store_facts)
    make(path)
    assert read_once(path, store_facts) == first


def test_every_pragma_is_as_designed(tmp_path: Path) -> None:
    file = open_file(make(tmp_path / "state.sqlite"), HandClock())
    asked = {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 0,
        "trusted_schema": 0,
        "journal_size_limit": 64 << 20,
        "application_id": 0x4C4F434B,
        "user_version": 3,
    }
    found = {name: file.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in asked}
    file.close()
    assert found == asked


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_the_fields_of_its_record(table: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(schema())
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    connection.close()
    assert columns == list(TABLES[table].__struct_fields__)


def test_the_digest_is_that_of_the_schema() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    opening.build(connection)
    assert opening.schema_digest(connection) == opening.SCHEMA_DIGEST
    strict = connection.execute("SELECT name FROM pragma_table_list WHERE type = 'table' AND strict = 0").fetchall()
    connection.close()
    assert [name for (name,) in strict if not name.startswith("sqlite_")] == []


def test_a_misspelt_status_is_refused_by_the_table(bench: Bench) -> None:
    run_id = bench.run_id()
    with pytest.raises(StoreDamaged, match="CHECK constraint failed"):
        bench.write(lambda tx: tx.connection.execute("UPDATE runs SET status = 'runing' WHERE run_id = ?", (run_id,)))


def test_a_refused_opening_leaves_no_thread(tmp_path: Path) -> None:
    async def knock() -> None:
        async with open_store(tmp_path / "none.sqlite"):
            raise AssertionError("it cannot open")

    before = threading.active_count()
    with pytest.raises(StoreMissing):
        asyncio.run(knock())
    assert threading.active_count() == before


def test_an_interrupted_creation_is_no_store_and_is_taken_up(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    touch(path, "PRAGMA journal_mode=WAL")
    assert path.stat().st_size > 0
    refused(path, StoreMissing)
    make(path)
    assert read_once(path, store_facts).version == opening.VERSION


def test_a_place_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    for path in (tmp_path / "file" / "state.sqlite", Path("/proc/none/state.sqlite")):
        with pytest.raises((StoreReadOnly, StoreMissing)):
            write_once(path, lambda tx: None, create=True)


def test_damage_is_said_so_when_it_is_met(tmp_path: Path) -> None:
    path = make(tmp_path / "state.sqlite")
    content = bytearray(path.read_bytes())
    page = int.from_bytes(content[16:18], "big")
    content[page:] = b"\xff" * (len(content) - page)
    path.write_bytes(content)
    with pytest.raises(StoreDamaged, match="lockgate doctor"):
        read_once(path, lambda connection: connection.execute("SELECT * FROM events").fetchall())


def test_a_value_that_no_store_can_hold_is_refused(bench: Bench) -> None:
    for number, text in ((10**30, "fine"), (1, "\ud800")):
        with pytest.raises(Refused, match="no store can hold"):
            bench.read(lambda connection, n=number, t=text: reads.events(connection, t, after=n))


@pytest.fixture
def unwritable(tmp_path: Path) -> Iterator[Path]:
    """A store of an ordinary user in a directory that this user may not write."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name) / "closed"
        bench = Bench(directory / "state.sqlite")
        bench.run_id()
        bench.close()
        for path in (directory.parent, directory, directory / "state.sqlite"):
            if os.geteuid() == 0:
                os.chown(path, NOBODY, NOBODY)
        directory.chmod(0o500)
        yield directory / "state.sqlite"
        directory.chmod(0o700)


NOBODY = 65534


def as_user(path: Path, act: Callable[[Path], str] | None = None) -> str:
    """What an ordinary user is told who opens the store, or does something else with it.

    A fork, since such a user may not read this Python.
    """
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            os.write(tell, (act or _opened)(path).encode())
        finally:
            os._exit(0)
    os.close(tell)
    os.waitpid(child, 0)
    with os.fdopen(told) as pipe:
        return pipe.read()


def _opened(path: Path) -> str:
    try:
        file = open_file(path, HandClock())
    except StoreReadOnly as error:
        return f"refused: {error}"
    return f"{'still' if file.still else 'live'}: {file.why_not}: {file.read(reads.counts)['queued']}"


def test_a_closed_directory_without_a_log_is_a_still_picture(unwritable: Path) -> None:
    assert as_user(unwritable) == f"still: {unwritable.parent} may not be written: 1"


def test_one_frame_of_a_still_picture_is_labelled_so(unwritable: Path) -> None:
    def frame(path: Path) -> str:
        return once_frame(path, columns=120, rows=40, glyphs=UNICODE, zone=UTC)

    lines = as_user(unwritable, frame).splitlines()
    assert "a still picture" in lines[0]
    assert any("read-only  a still picture: its directory cannot be written." in line for line in lines[1:3])


def test_who_reads_once_is_told_what_the_place_allows(unwritable: Path) -> None:
    def read(path: Path) -> str:
        remarks: list[str] = []
        counted = read_once(path, reads.counts, remark=remarks.append)
        return f"{counted['queued']} {remarks}"

    assert as_user(unwritable, read) == "1 ['a still picture: its directory cannot be written']"
    unwritable.chmod(0o400)
    unwritable.parent.chmod(0o700)
    assert as_user(unwritable, read) == f"1 ['read-only: {unwritable} may not be written']"
    unwritable.chmod(0o600)
    assert as_user(unwritable, read) == "1 []"


@pytest.mark.parametrize("name", ["state.sqlite", "none.sqlite", "deep/down/none.sqlite"])
def test_what_would_write_in_a_closed_directory_names_the_directory(unwritable: Path, name: str) -> None:
    def write(path: Path) -> str:
        try:
            write_once(path, lambda tx: None, create=True, clock=HandClock())
        except StoreReadOnly as error:
            return str(error)
        return "written"

    wanted = unwritable.parent / name
    told = as_user(wanted, write)
    assert told.startswith(f"the store {wanted} cannot be written: {unwritable.parent} may not be written")


def test_a_log_that_cannot_be_opened_names_the_directory(unwritable: Path) -> None:
    (unwritable.parent / "state.sqlite-wal").write_bytes(b"")
    assert as_user(unwritable).startswith("still")
    (unwritable.parent / "state.sqlite-wal").write_bytes(b"a commit")
    told = as_user(unwritable)
    assert told.startswith("refused")
    assert str(unwritable.parent) in told
