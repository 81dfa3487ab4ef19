"""A store whose files were taken from under it says so instead of acknowledging into nothing (case S10)."""

import asyncio
import os
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from lockgate.model.errors import StoreDetached
from lockgate.store import reads
from lockgate.store.shell import open_store

from .conftest import Bench

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


def test_a_reader_that_comes_and_goes_harms_nobody(bench: Bench) -> None:
    bench.run_id()
    come_and_go(bench.path)
    run_id = bench.run_id()
    assert bench.read(lambda connection: reads.run(connection, run_id)).row.revision == 1


def test_a_replaced_store_is_noticed(bench: Bench, tmp_path: Path) -> None:
    run_id = bench.run_id()
    other = Bench(tmp_path / "other.sqlite")
    other.close()
    os.replace(tmp_path / "other.sqlite", bench.path)
    with pytest.raises(StoreDetached, match="replaced"):
        bench.run_id()
    with pytest.raises(StoreDetached):
        bench.read(lambda connection: reads.run(connection, run_id))


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
    allowed = {"clock.py": 1, "opening.py": 2}
    for module in room.rglob("*.py"):
        text = module.read_text(encoding="utf-8")
        found = sum(text.count(call) for call in (" open(", "(open(", "os.open(", "read_bytes(", "shutil", "mmap.mmap"))
        assert found <= allowed.get(module.name, 0), module
