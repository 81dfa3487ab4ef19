"""A full disk: every function of the batch gets the error, none is acknowledged, and the store is whole after it.

The work is done by a child process. Its disk is full by a limit on the size of its files, and, where the machine lets
us mount one, by a small file system that really has no room left.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import Bench
from .crashing import check_whole, dump

REPOSITORY = Path(__file__).resolve().parents[2]
CHILD = """
import asyncio, errno, json, os, resource, sys, threading
from pathlib import Path
sys.path[:0] = [sys.argv[2], sys.argv[2] + "/src"]
from tests.store.conftest import USER, HandClock, definition
from lockgate.store import commands
from lockgate.store.commands import NewRun
from lockgate.store.shell import open_store

path, how = Path(sys.argv[1]), sys.argv[3]
ballast = path.parent / "ballast"

def fill():
    if how == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.with_name(path.name + "-wal").stat().st_size + 5_000, -1))
        return
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096) == 4096:
                pass
        except OSError as error:
            assert error.errno == errno.ENOSPC
    # Room for a page or two: the batch begins to be written and then there is no more.
    os.truncate(ballast, max(0, ballast.stat().st_size - 8192))

def free():
    if how == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
    else:
        ballast.unlink()

def start(number):
    new = NewRun(definition=definition(), input=b'{"a":"' + b"x" * 20_000 + b'"}', title=f"Run {number}",
                 started_by="bo", started_by_uid=1000)
    return lambda tx: commands.start(tx, new, actor=USER, key=f"start-{number}")

async def main():
    told = {}
    async with open_store(path, clock=HandClock()) as store:
        first = await store.transact(start(0))
        told["before"] = first.outcome
        held, go = threading.Event(), threading.Event()
        def hold(tx):
            held.set()
            assert go.wait(10)
        holding = asyncio.create_task(store.transact(hold))
        while not held.is_set():
            await asyncio.sleep(0)
        fill()
        batch = [asyncio.create_task(store.transact(start(n))) for n in range(1, 9)]
        pause = lambda tx: commands.pause(tx, first.run_id, actor=USER, key="p")
        batch.append(asyncio.create_task(store.transact(pause)))
        await asyncio.sleep(0)
        go.set()
        await holding
        said = await asyncio.gather(*batch, return_exceptions=True)
        told["full"] = [type(each).__name__ for each in said]
        told["words"] = sorted({str(each) for each in said})
        told["readable"] = (await store.run(first.run_id)).row.revision
        free()
        again = await asyncio.gather(*[store.transact(start(n)) for n in range(1, 9)])
        told["after"] = [each.outcome for each in again]
    print(json.dumps(told))

asyncio.run(main())
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes, where we may mount one."""
    place = tmp_path / "small"
    place.mkdir(mode=0o700)
    mounting = ["mount", "-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mounting, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting needs root")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def work_on(path: Path, how: str) -> dict[str, Any]:
    Bench(path).close()
    ended = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), str(REPOSITORY), how], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    told: dict[str, Any] = json.loads(ended.stdout)
    return told


def holds(path: Path, told: dict[str, Any]) -> None:
    assert told["before"] == "accepted"
    assert told["full"] == ["StoreError"] * 9
    assert str(path) in told["words"][0]
    assert told["readable"] == 1, "the pause was not acknowledged, and it did not happen"
    assert told["after"] == ["accepted"] * 8, "a key that was never acknowledged is free"
    rows = dump(path)
    assert len(rows["runs"]) == 9
    check_whole(path)


def test_files_that_may_not_grow(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    holds(path, work_on(path, "limit"))


def test_a_disk_without_room(small_disk: Path) -> None:
    path = small_disk / "state.sqlite"
    holds(path, work_on(path, "full"))
