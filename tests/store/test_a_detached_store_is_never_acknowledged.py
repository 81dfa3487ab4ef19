"""A store whose files were taken from under it says so instead of acknowledging into nothing."""

import asyncio
import contextlib
import os
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from lockgate.model.errors import StoreDetached
from lockgate.store import reads
from lockgate.store.once import read_once
from lockgate.store.openfile import open_file
from lockgate.store.shell import open_store

from .conftest import USER, Bench

READ = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("SELECT count(*) FROM runs").fetchone()[0])
connection.close()
"""


def come_and_go(path: Path) -> int:
    """Another process counts the runs and leaves: the last user checkpoints and removes the log."""
    told = subprocess.run([sys.executable, "-c", READ, str(path)], check=True, capture_output=True, text=True)
    return int(told.stdout)


def test_opening_the_file_by_hand_is_noticed_before_the_next_acknowledgement(bench: Bench) -> None:
    acknowledged = [bench.run_id()]
    # The trap itself: closing any handle of this process drops SQLite's locks.
    with open(bench.path, "rb") as file:
        file.read(16)
    come_and_go(bench.path)
    with pytest.raises(StoreDetached):
        acknowledge(bench, acknowledged)
    assert come_and_go(bench.path) >= len(acknowledged)


def acknowledge(bench: Bench, acknowledged: list[str]) -> None:
    for _ in range(500):
        acknowledged.append(bench.run_id())


async def test_a_link_to_the_store_is_watched_as_the_store(bench: Bench, tmp_path: Path) -> None:
    """SQLite keeps the log beside the file, not beside the link."""
    run_id = bench.run_id()
    bench.close()
    link = tmp_path / "elsewhere" / "link.sqlite"
    link.parent.mkdir()
    link.symlink_to(bench.path)
    async with open_store(link) as store:
        assert store.path == bench.path
        await store.pause(run_id, actor=USER)
        Path(f"{bench.path}-wal").unlink()
        with pytest.raises(StoreDetached, match="log"):
            await store.resume(run_id, actor=USER)
    link.unlink()
    link.symlink_to(bench.path)
    file = open_file(link, bench.clock)
    Path(f"{bench.path}-wal").unlink()
    with pytest.raises(StoreDetached):
        file.write(lambda tx: None, bench.clock)
    file.close()


def test_a_reader_that_comes_and_goes_harms_nobody(bench: Bench) -> None:
    bench.run_id()
    come_and_go(bench.path)
    run_id = bench.run_id()
    assert bench.read(lambda connection: reads.run(connection, run_id)).row.revision == 1


def test_who_opens_while_another_thread_closes_is_not_cut_off(bench: Bench) -> None:
    """Who closes last takes the log away, which is no loss to anybody."""
    bench.run_id()
    bench.close()
    closing = open_file(bench.path, bench.clock)
    inner, opened = closing.connection, []

    class Closing:
        """Comes back only after somebody else has opened the store."""

        def __getattr__(self, name: str) -> object:
            return getattr(inner, name)

        def close(self) -> None:
            inner.close()
            assert not Path(f"{bench.path}-wal").exists()
            opened.append(read_once(bench.path, reads.counts)["queued"])

    closing.connection = Closing()  # type: ignore[assignment]
    closing.close()
    assert opened == [1]


def test_a_replaced_store_is_noticed(bench: Bench, tmp_path: Path) -> None:
    run_id = bench.run_id()
    other = Bench(tmp_path / "other.sqlite")
    other.close()
    os.replace(tmp_path / "other.sqlite", bench.path)
    with pytest.raises(StoreDetached, match="replaced"):
        bench.run_id()
    with pytest.raises(StoreDetached):
        bench.read(lambda connection: reads.run(connection, run_id))


PAUSE = """
import sys
from pathlib import Path
from lockgate.model.records import Actor
from lockgate.model.statuses import ActorKind
from lockgate.store import commands
from lockgate.store.once import write_once
actor = Actor(kind=ActorKind.USER, id="other")
print(write_once(Path(sys.argv[1]), lambda tx: commands.pause(tx, sys.argv[2], actor=actor, key="k")).outcome)
"""

TYPES = READ.replace("SELECT count(*) FROM runs", "SELECT group_concat(type, ' ') FROM events")
RESUME = PAUSE.replace("commands.pause", "commands.resume")


def test_removed_shared_memory_is_noticed_before_it_overwrites_another_process(bench: Bench) -> None:
    """Without it each process has an index of the log of its own; the one that goes on would undo the other."""
    run_id = bench.run_id()
    Path(f"{bench.path}-shm").unlink()
    told = subprocess.run(
        [sys.executable, "-c", PAUSE, str(bench.path), run_id], check=True, capture_output=True, text=True
    )
    assert told.stdout == "accepted\n"
    with pytest.raises(StoreDetached, match="shared memory"):
        bench.run_id()
    with pytest.raises(StoreDetached):
        bench.read(lambda connection: reads.run(connection, run_id))
    types = subprocess.run([sys.executable, "-c", TYPES, str(bench.path)], check=True, capture_output=True, text=True)
    assert types.stdout.split() == ["run_queued", "run_paused"]


CUT_OFF = """
import asyncio, subprocess, sys
from pathlib import Path
from lockgate.model.errors import StoreDetached
from lockgate.model.records import Actor
from lockgate.model.statuses import ActorKind
from lockgate.store.shell import open_store

async def main(path, run_id, resume):
    async with open_store(path) as store:
        assert len((await store.runs()).rows) == 1
        await store.pause(run_id, actor=Actor(kind=ActorKind.USER, id="first"))
        Path(f"{path}-shm").unlink()
        subprocess.run([sys.executable, "-c", resume, path, run_id], check=True, stdout=subprocess.DEVNULL)
        # Beside a connection that was cut off, SQLite would give a new one the same false view.
        try:
            async with open_store(path):
                print("opened beside it")
        except StoreDetached as error:
            print("for good" if error.for_good else "not beside it")
    try:
        async with open_store(path) as store:
            print((await store.run(run_id)).row.revision)
    except StoreDetached as error:
        print("for good" if error.for_good else "not after it")

asyncio.run(main(*sys.argv[1:]))
"""


def test_a_process_that_was_cut_off_spares_what_others_wrote_to_its_very_end(bench: Bench) -> None:
    run_id = bench.run_id()
    bench.close()
    command = [sys.executable, "-c", CUT_OFF, str(bench.path), run_id, RESUME]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    # Python 3.11 cannot close such a connection without harm: its process may not open the file again.
    assert told == ["not beside it", "for good" if sys.version_info < (3, 12) else "3"]
    found = read_once(bench.path, lambda connection: reads.events(connection, run_id))
    assert [event.type for event in found] == ["run_queued", "run_paused", "run_unpaused"]


PAUSE_AND_DIE = """
import os, sys
from pathlib import Path
from lockgate.model.records import Actor
from lockgate.model.statuses import ActorKind
from lockgate.store import commands
from lockgate.store.clock import SystemClock
from lockgate.store.openfile import open_file
actor, clock = Actor(kind=ActorKind.USER, id="other"), SystemClock()
file = open_file(Path(sys.argv[1]), clock)
receipt = file.write(lambda tx: commands.pause(tx, sys.argv[2], actor=actor, key="k"), clock)
os._exit(0 if receipt.outcome == "accepted" else 1)
"""


def test_a_file_that_was_closed_before_it_was_replaced_keeps_nobody_out(bench: Bench) -> None:
    bench.run_id()
    bench.close()
    for number in range(4):
        # The log that comes next is to be another file, also by its number.
        bench.path.with_name(f"{number}").touch()
    other = open_file(bench.path, bench.clock)
    other.read(reads.counts)
    bench.close()
    with contextlib.closing(open_file(bench.path, bench.clock)) as third:
        assert third.read(reads.counts)["queued"] == 1
    other.close()


def test_closing_spares_the_log_of_a_store_that_took_the_place(bench: Bench, tmp_path: Path) -> None:
    """The log is removed by its name: of a replaced file it would be the new one's."""
    bench.run_id()
    other = Bench(tmp_path / "elsewhere" / "state.sqlite")
    run_id = other.run_id()
    other.close()
    for ending in ("-wal", "-shm"):
        Path(f"{bench.path}{ending}").unlink()
    os.replace(other.path, bench.path)
    subprocess.run([sys.executable, "-c", PAUSE_AND_DIE, str(bench.path), run_id], check=True)
    log = Path(f"{bench.path}-wal")
    size = log.stat().st_size
    assert size > 0
    bench.file.close()
    assert log.stat().st_size == size
    found = read_once(bench.path, lambda connection: reads.events(connection, run_id))
    assert [event.type for event in found] == ["run_queued", "run_paused"]


MANY = """
import sys
from pathlib import Path
from lockgate.model.records import Actor
from lockgate.model.statuses import ActorKind
from lockgate.store import commands
from lockgate.store.once import write_once
actor = Actor(kind=ActorKind.USER, id="other")
for number in range(20):
    change = commands.resume if number % 2 else commands.pause
    write_once(Path(sys.argv[1]), lambda tx: change(tx, sys.argv[2], actor=actor, key=f"other-{number}"))
"""
WHOLE = READ.replace("SELECT count(*) FROM runs", "PRAGMA integrity_check")


def lose_the_log(bench: Bench) -> str:
    """A run that the file has, and later ones that only the log has, which is then removed by hand; the first one's id.

    The file is read by hand, too: while this process has its lock, others leave their logs where they are.
    """
    run_id = bench.run_id()
    bench.file.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    for _ in range(5):
        bench.run_id()
    for ending in ("-wal", "-shm"):
        Path(f"{bench.path}{ending}").unlink()
    with open(bench.path, "rb") as file:
        file.read(16)
    return run_id


def test_closing_spares_what_others_wrote_that_are_gone_again(bench: Bench) -> None:
    """They left no log behind: all that they wrote is in the file, where the lost log's pages would land on it."""
    run_id = lose_the_log(bench)
    subprocess.run([sys.executable, "-c", MANY, str(bench.path), run_id], check=True)
    assert not Path(f"{bench.path}-wal").exists()
    bench.file.close()
    said = subprocess.run([sys.executable, "-c", WHOLE, str(bench.path)], check=True, capture_output=True, text=True)
    assert said.stdout == "ok\n"
    found = read_once_elsewhere(bench.path, run_id)
    assert found == ["run_queued", *["run_paused", "run_unpaused"] * 10]


def test_closing_brings_a_lost_log_home_where_nobody_wrote(bench: Bench) -> None:
    """It has the only copy of what was acknowledged."""
    lose_the_log(bench)
    assert come_and_go(bench.path) == 1
    bench.file.close()
    assert come_and_go(bench.path) == 6


def read_once_elsewhere(path: Path, run_id: str) -> list[str]:
    program = TYPES.replace("FROM events", f"FROM events WHERE run_id = '{run_id}'")
    told = subprocess.run([sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True)
    return told.stdout.split()


async def test_a_replaced_store_is_noticed_also_by_the_first_read(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    Bench(tmp_path / "other.sqlite").close()
    async with open_store(path, create=True) as store:
        os.replace(tmp_path / "other.sqlite", path)
        with pytest.raises(StoreDetached, match="replaced"):
            await store.runs()
        async with aclosing(store.follow(0)) as wakes:
            with pytest.raises(StoreDetached, match="replaced"):
                await anext(wakes)


def test_a_store_that_cannot_even_be_looked_for_is_detached(bench: Bench) -> None:
    run_id = bench.run_id()
    place = bench.path.parent
    place.rename(f"{place}-elsewhere")
    place.write_text("a file where the directory was")
    with pytest.raises(StoreDetached):
        bench.run_id()
    with pytest.raises(StoreDetached):
        bench.read(lambda connection: reads.run(connection, run_id))


async def test_a_removed_store_is_not_a_missing_one(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    async with open_store(path, create=True) as store:
        path.unlink()
        with pytest.raises(StoreDetached):
            await store.runs()


async def test_a_follower_is_told_that_the_file_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    async with open_store(path, create=True) as store, aclosing(store.follow(0)) as wakes:
        waiting = asyncio.ensure_future(anext(wakes))
        await asyncio.sleep(0.1)
        path.unlink()
        with pytest.raises(StoreDetached):
            await waiting


def test_no_code_of_the_store_opens_a_file_by_hand() -> None:
    room = Path(__file__).resolve().parents[2] / "src" / "lockgate" / "store"
    allowed = {"clock.py": 1, "opening.py": 2, "living.py": 1}
    for module in room.rglob("*.py"):
        text = module.read_text(encoding="utf-8")
        found = sum(text.count(call) for call in (" open(", "(open(", "os.open(", "read_bytes(", "shutil", "mmap.mmap"))
        assert found <= allowed.get(module.name, 0), module
