"""Whoever follows a store learns of every change, coalesced, from other processes and from its own."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from lockgate.model.errors import StoreReadOnly
from lockgate.model.records import Wake
from lockgate.store import commands, opening, watch
from lockgate.store.once import write_once
from lockgate.store.shell import HOST_PAUSE, open_store

from .conftest import USER, Bench, HandClock, NewRun, definition

REPOSITORY = Path(__file__).resolve().parents[2]
WRITER = """
import sys, time
sys.path.insert(0, sys.argv[2])
from tests.store.conftest import Bench
from pathlib import Path
bench = Bench(Path(sys.argv[1]))
for n in range(int(sys.argv[3])):
    print(bench.run_id(), flush=True)
    time.sleep(0.0005 * (n % 7))
bench.close()
"""


def new_run() -> NewRun:
    return NewRun(definition=definition(), input=b"{}", title=None, started_by="bo", started_by_uid=1)


async def test_every_commit_of_another_process_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    count = 200
    async with open_store(path, create=True) as store:
        seen: list[str] = []
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITER, str(path), str(REPOSITORY), str(count), stdout=subprocess.PIPE
        )
        async with asyncio.timeout(30), aclosing(store.follow(0, pause=HOST_PAUSE)) as wakes:
            async for wake in wakes:
                seen.extend(wake.run_ids)
                if len(seen) >= count:
                    break
        told, _ = await process.communicate()
    assert seen == told.decode().split()


async def test_a_follower_that_was_away_gets_one_wake(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    bench = Bench(path)
    ids = [bench.run_id() for _ in range(700)]
    bench.close()
    async with open_store(path) as store, aclosing(store.follow(0)) as wakes:
        wake = await anext(wakes)
        assert (list(wake.run_ids), wake.event_seq, wake.host) == (ids, 700, False)


async def test_the_own_commits_of_a_host_do_not_wake_it(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    async with (
        open_store(path, create=True) as store,
        aclosing(store.follow(None, pause=HOST_PAUSE, others_only=True)) as wakes,
    ):
        coming = asyncio.ensure_future(wake_with_runs(wakes))
        await asyncio.sleep(0.1)
        for number in range(20):
            await store.transact(lambda tx, n=number: commands.start(tx, new_run(), actor=USER, key=f"own-{n}"))
        # A foreign commit between own ones is seen, whatever lies around it.
        other = await asyncio.to_thread(
            write_once, path, lambda tx: commands.start(tx, new_run(), actor=USER, key="other")
        )
        await store.transact(lambda tx: commands.start(tx, new_run(), actor=USER, key="own-last"))
        async with asyncio.timeout(10):
            assert (await coming).run_ids == (other.run_id,)
        assert store.last_written_seq == 22


async def wake_with_runs(wakes: AsyncGenerator[Wake, None]) -> Wake:
    async for wake in wakes:
        if wake.run_ids:
            return wake
    raise AssertionError("the follower ended")


async def test_what_lies_outside_the_events_wakes_too(tmp_path: Path) -> None:
    from lockgate.store import hosts

    path = tmp_path / "state.sqlite"
    identity = hosts.Identity(host_id="h", pid=1, process_start="1", capacity=4)
    async with open_store(path, create=True) as store, aclosing(store.follow(None)) as wakes:
        coming = asyncio.ensure_future(anext(wakes))
        await asyncio.sleep(0.1)
        await store.transact(lambda tx: hosts.take_over(tx, identity, lambda pid, start: True))
        async with asyncio.timeout(10):
            wake = await coming
        assert (wake.run_ids, wake.host) == ((), True)


async def test_without_inotify_a_poll_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_notifier", lambda directory: None)
    path = tmp_path / "state.sqlite"
    Bench(path).close()
    async with open_store(path) as store, aclosing(store.follow(0)) as wakes:
        coming = asyncio.ensure_future(anext(wakes))
        written = await asyncio.to_thread(
            write_once, path, lambda tx: commands.start(tx, new_run(), actor=USER, key="k"), clock=HandClock()
        )
        async with asyncio.timeout(10):
            assert (await coming).run_ids == (written.run_id,)


async def test_a_still_picture_cannot_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.sqlite"
    Bench(path).close()

    def immutable(path: Path, patience: object) -> object:
        connection = opening.connect(path, "immutable=1")
        return connection, True

    monkeypatch.setattr(opening, "open_reading", immutable)
    async with open_store(path, read_only=True) as store:
        assert store.still
        assert (await store.runs()).rows == ()
        with pytest.raises(StoreReadOnly, match="still picture"):
            await anext(store.follow(0))


def test_only_the_files_of_the_store_wake_it() -> None:
    def event(name: bytes) -> bytes:
        padded = name + b"\0" * (16 - len(name) % 16)
        return watch._EVENT.pack(1, 2, 0, len(padded)) + padded

    assert watch._names_any(event(b"state.sqlite-wal"), "state.sqlite")
    assert watch._names_any(event(b"other.log") + event(b"state.sqlite"), "state.sqlite")
    assert not watch._names_any(event(b"other.log"), "state.sqlite")
    assert watch._names_any(watch._EVENT.pack(-1, 0x4000, 0, 0), "state.sqlite")
