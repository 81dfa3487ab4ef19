"""A backup of a store in use is of one moment, private, verified, and becomes a store again; a drill proves a copy."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.model.errors import NotFound, Refused, StoreDamaged, StoreError, StoreForeign, StoreMissing, StoreTooNew
from lockgate.store import backup as module
from lockgate.store import opening, reads
from lockgate.store.audit import audit
from lockgate.store.backup import back_up, reading_inactive
from lockgate.store.drill import drill
from lockgate.store.soundness import contents, loose_heads

from . import histories
from .conftest import Bench

V1 = Path(__file__).parent / "data" / "v1.sqlite"


@pytest.fixture
def copy(bench: Bench, tmp_path: Path) -> Path:
    histories.all_kinds(bench)
    return Path(back_up(bench.path, tmp_path / "copy.sqlite", bench.clock).path)


def change(path: Path, statement: str, *values: Any) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    assert connection.execute(statement, values).rowcount > 0
    connection.close()


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(lockgate.__file__).parents[1])}


def is_refused(copy: Path, live: Path) -> bool:
    """Damage is told as a problem, or ends the drill where nothing more can be read."""
    try:
        return bool(drill(copy, live).problems)
    except StoreDamaged:
        return True


def test_a_backup_lies_beside_its_store_and_is_private(bench: Bench) -> None:
    bench.run_id()
    os.umask(os.umask(0))
    made = back_up(bench.path, clock=bench.clock)
    path = Path(made.path)
    assert path == bench.path.with_name("state.backup-20251129T140000Z.sqlite")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert made.size == path.stat().st_size
    assert [file.name for file in path.parent.glob("*backup*")] == [path.name]


def test_it_never_overwrites(bench: Bench, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for target in (taken, tmp_path / "link", bench.path):
        with pytest.raises(Refused, match="never overwrites") as refused:
            back_up(bench.path, target)
        assert refused.value.code == "backup_exists"
    assert taken.read_text() == "mine"
    assert not (tmp_path / "elsewhere").exists()


def test_it_is_of_one_moment_while_others_write(bench: Bench, tmp_path: Path) -> None:
    for _ in range(20):
        bench.run_id()
    going = threading.Event()
    going.set()

    def write() -> None:
        busy = Bench(bench.path)
        while going.is_set():
            histories.failed(busy)
        busy.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        made = [back_up(bench.path, tmp_path / f"copy-{number}.sqlite") for number in range(3)]
    finally:
        going.clear()
        writer.join()
    for each in made:
        with reading_inactive(Path(each.path)) as connection:
            assert loose_heads(connection) == []
            assert contents(connection) == each.contents
    assert made[0].contents.newest_event < made[-1].contents.newest_event


def test_a_backup_becomes_a_store_again(bench: Bench, tmp_path: Path) -> None:
    run_id, request_id, digest = bench.at_decision()
    back_up(bench.path, tmp_path / "restored.sqlite", bench.clock)
    bench.close()
    restored = Bench(tmp_path / "restored.sqlite")
    restored.clock = bench.clock
    # Numbers go on beyond those that the first store has used.
    restored.numbers = iter(range(1_000, 2_000))
    assert restored.answer(request_id, digest).outcome == "accepted"
    assert restored.complete(run_id).outcome == "accepted"
    assert restored.read(lambda connection: audit(connection, run_id)).difference is None
    assert restored.read(reads.store_facts).store_id
    restored.close()


def test_there_must_be_a_store_and_a_directory(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(StoreMissing):
        back_up(tmp_path / "none.sqlite", tmp_path / "copy.sqlite")
    with pytest.raises(FileNotFoundError):
        back_up(bench.path, tmp_path / "nowhere" / "copy.sqlite")


def test_a_full_disk_is_told_before_anything_is_written(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = namedtuple("room", "f_bavail f_frsize")
    monkeypatch.setattr(os, "statvfs", lambda path: room(1, 4096))
    with pytest.raises(StoreError, match="has 4096 bytes free"):
        back_up(bench.path, tmp_path / "copy.sqlite")
    assert not (tmp_path / "copy.sqlite").exists()


def test_what_cannot_be_verified_does_not_stay(bench: Bench, tmp_path: Path) -> None:
    run_id = bench.run_id()
    bench.write(lambda tx: tx.connection.execute("UPDATE runs SET revision = 7 WHERE run_id = ?", (run_id,)))
    with pytest.raises(StoreDamaged, match="chain head"):
        back_up(bench.path, tmp_path / "copy.sqlite")
    assert list(tmp_path.glob("copy*")) == []


def test_an_interrupted_backup_leaves_nothing(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_verify_copy", interrupted)
    with pytest.raises(KeyboardInterrupt):
        back_up(bench.path, tmp_path / "copy.sqlite")
    assert list(tmp_path.glob("*copy*")) == []


def test_a_killed_backup_never_looks_like_one(bench: Bench, tmp_path: Path) -> None:
    bench.run_id()
    code = """
import os, sys
from pathlib import Path
from lockgate.store import backup
backup._verify_copy = lambda *_: os.kill(os.getpid(), 9)
backup.back_up(Path(sys.argv[1]), Path(sys.argv[2]))
"""
    target = tmp_path / "copy.sqlite"
    killed = subprocess.run([sys.executable, "-c", code, str(bench.path), str(target)], env=environment())
    assert killed.returncode == -9
    assert not target.exists()
    (part,) = tmp_path.glob(".copy.sqlite.*.part")
    assert stat.S_IMODE(part.stat().st_mode) == 0o600
    assert Path(back_up(bench.path, target, bench.clock).path) == target


def test_a_name_that_is_taken_meanwhile_is_left(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "copy.sqlite"
    monkeypatch.setattr(module, "_verify_copy", lambda *_: target.write_text("mine"))
    with pytest.raises(Refused, match="never overwrites"):
        back_up(bench.path, target)
    assert target.read_text() == "mine"
    assert list(tmp_path.glob(".copy*")) == []


# --- the drill ---------------------------------------------------------------------------------------------


def test_a_good_copy_passes_and_is_left_as_it_was(bench: Bench, copy: Path) -> None:
    before = copy.read_bytes()
    drilled = drill(copy, bench.path)
    assert drilled.problems == ()
    assert drilled.contents == bench.read(contents)
    assert (drilled.runs, drilled.events) == (drilled.contents.counts["runs"], drilled.contents.counts["events"])
    assert drilled.values == drilled.contents.counts["values"]
    assert copy.read_bytes() == before
    assert [file.name for file in copy.parent.glob("copy*")] == ["copy.sqlite"]


def test_the_live_store_is_refused_by_every_name(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.run_id()
    (tmp_path / "symbolic").symlink_to(bench.path)
    os.link(bench.path, tmp_path / "hard")
    monkeypatch.chdir(tmp_path)
    for name in (bench.path, tmp_path / "symbolic", tmp_path / "hard", Path("state.sqlite"), Path("./x/../symbolic")):
        (tmp_path / "x").mkdir(exist_ok=True)
        with pytest.raises(Refused) as refused:
            drill(name, bench.path)
        assert refused.value.code == "store_active"


@pytest.mark.skipif(sys.platform != "linux", reason="who has a file open is known on Linux only")
def test_a_copy_that_somebody_has_open_is_refused(bench: Bench, copy: Path) -> None:
    held = subprocess.Popen(
        [sys.executable, "-c", "import sys; f = open(sys.argv[1]); print(); sys.stdin.read()", str(copy)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert held.stdout is not None
    held.stdout.readline()
    try:
        with pytest.raises(Refused, match=f"process {held.pid} has"):
            drill(copy, bench.path)
    finally:
        held.communicate()


def test_a_store_with_a_log_is_no_inactive_copy(bench: Bench, tmp_path: Path) -> None:
    other = Bench(tmp_path / "other.sqlite")
    other.run_id()
    with pytest.raises(Refused, match="write-ahead log"):
        drill(other.path, bench.path)
    other.close()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE runs SET title = 'Another'", "runs"),
        ("UPDATE events SET at = at + 1 WHERE seq = 2", "events"),
        ("UPDATE blobs SET content = CAST(content || ' ' AS BLOB)", "bytes"),
        ("DELETE FROM submissions", "submissions"),
        ("UPDATE run_queue SET status = 'parked' WHERE status = 'done'", "situation"),
        ("UPDATE runs SET revision = revision + 1", "chain head"),
    ],
)
def test_a_changed_copy_is_found(bench: Bench, copy: Path, statement: str, said: str) -> None:
    change(copy, statement)
    drilled = drill(copy, bench.path)
    assert any(said in problem for problem in drilled.problems), drilled.problems


def test_a_damaged_copy_is_found(bench: Bench, copy: Path) -> None:
    with copy.open("r+b") as file:
        file.seek(copy.stat().st_size // 2 // 4096 * 4096)
        file.write(b"\xa5" * 4096)
    assert is_refused(copy, bench.path)


def test_a_cut_copy_is_found(bench: Bench, copy: Path) -> None:
    os.truncate(copy, copy.stat().st_size // 2)
    assert is_refused(copy, bench.path)


def test_what_is_no_store_is_refused(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        drill(tmp_path / "none.sqlite", bench.path)
    (tmp_path / "text").write_text("hello " * 1000)
    with pytest.raises((StoreForeign, StoreDamaged)):
        drill(tmp_path / "text", bench.path)
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(StoreForeign):
        drill(tmp_path / "empty", bench.path)


def test_a_copy_of_an_older_schema_is_drilled_as_far_as_it_goes(bench: Bench, tmp_path: Path) -> None:
    old = tmp_path / "old.sqlite"
    shutil.copy(V1, old)
    drilled = drill(old, bench.path)
    assert (drilled.problems, drilled.contents.version, drilled.runs) == ((), 1, 14)
    change(old, "UPDATE events SET payload = '{}' WHERE seq = 3")
    assert any("the chain breaks" in problem for problem in drill(old, bench.path).problems)


def test_a_copy_of_a_newer_schema_is_left_to_the_newer_lockgate(bench: Bench, copy: Path) -> None:
    connection = sqlite3.connect(copy, isolation_level=None)
    connection.execute(f"PRAGMA user_version={opening.VERSION + 1}")
    connection.close()
    with pytest.raises(StoreTooNew):
        drill(copy, bench.path)
