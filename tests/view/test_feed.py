"""The feed yields a snapshot for every change and for nothing else, and trouble is a state, never an end."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from lockgate.model.errors import StoreDamaged, StoreDetached, StoreError, StoreMissing, StoreTooNew
from lockgate.model.records import Human
from lockgate.view import feed as feeding
from lockgate.view.desk import Desk
from lockgate.view.door import Door, open_dashboard
from lockgate.view.feed import Feed, trouble_of
from lockgate.view.snapshots import Interest, Snapshot, StoreState
from tests.store.conftest import Bench
from tests.store.test_a_detached_store_is_never_acknowledged import PAUSE

SOON = 10.0


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "state.sqlite")
    yield made
    made.close()


class Watching:
    """A feed under test: the newest snapshot, and waiting for one that fits."""

    def __init__(self, feed: Feed, snapshots: AsyncIterator[Snapshot]) -> None:
        self.feed = feed
        self._snapshots = snapshots
        self.seen = 0

    async def until(self, fits) -> Snapshot:  # type: ignore[no-untyped-def]
        async with asyncio.timeout(SOON):
            async for snapshot in self._snapshots:
                self.seen += 1
                if fits(snapshot):
                    return snapshot
        raise AssertionError("the feed ended")


async def test_a_change_by_another_connection_arrives(bench: Bench) -> None:
    async with open_dashboard(bench.path, clock=bench.clock) as (feed, _), aclosing(feed.snapshots()) as snapshots:
        watching = Watching(feed, snapshots)
        first = await watching.until(lambda shown: shown.runs.ids is not None)
        assert first.runs.total == 0
        run_id, request_id, _ = bench.at_decision()
        shown = await watching.until(lambda shown: shown.decisions)
        assert shown.runs.rows[0].run_id == run_id
        assert shown.decisions[0].request_id == request_id
        assert shown.store.state is StoreState.LIVE


async def test_looking_elsewhere_is_answered_at_once(bench: Bench) -> None:
    first, second = bench.run_id(), bench.run_id()
    async with open_dashboard(bench.path, clock=bench.clock) as (feed, _), aclosing(feed.snapshots()) as snapshots:
        watching = Watching(feed, snapshots)
        await watching.until(lambda shown: shown.detail and shown.detail.run.run_id == second)
        feed.look(Interest(run_id=first))
        await watching.until(lambda shown: shown.detail and shown.detail.run.run_id == first)


async def test_nothing_new_yields_nothing(bench: Bench) -> None:
    bench.run_id()
    async with open_dashboard(bench.path, clock=bench.clock) as (feed, _), aclosing(feed.snapshots()) as snapshots:
        watching = Watching(feed, snapshots)
        await watching.until(lambda shown: shown.runs.ids is not None)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.6):
                await anext(snapshots)


async def test_time_alone_makes_a_run_overdue(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeding, "RECOUNT_S", 0.05)
    bench.at_decision()
    async with open_dashboard(bench.path, clock=bench.clock) as (feed, _), aclosing(feed.snapshots()) as snapshots:
        watching = Watching(feed, snapshots)
        await watching.until(lambda shown: shown.runs.ids is not None)
        bench.clock.pass_ms(60_001)
        shown = await watching.until(lambda shown: shown.counts.overdue)
        assert shown.counts.need_you == 0


async def test_a_replaced_file_is_said_and_opened_again(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeding, "RETRY_S", 0.05)
    monkeypatch.setattr(feeding, "RECOUNT_S", 0.1)
    bench.run_id(title="before")
    other = Bench(tmp_path / "other.sqlite")
    other.run_id(title="after")
    other.close()
    async with open_dashboard(bench.path, clock=bench.clock) as (feed, _), aclosing(feed.snapshots()) as snapshots:
        watching = Watching(feed, snapshots)
        await watching.until(lambda shown: shown.runs.ids is not None)
        os.replace(tmp_path / "other.sqlite", bench.path)
        for name in ("-wal", "-shm"):
            (tmp_path / f"state.sqlite{name}").unlink(missing_ok=True)
        stale = await watching.until(lambda shown: not shown.store.state.is_live)
        assert stale.runs.rows[0].run.title == "before"
        assert stale.store.since
        shown = await watching.until(lambda shown: shown.runs.rows and shown.runs.rows[0].run.title == "after")
        assert shown.store.state is StoreState.LIVE


async def test_a_dashboard_that_was_cut_off_never_looks_live_again_by_what_only_it_sees(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeding, "RETRY_S", 0.05)
    monkeypatch.setattr(feeding, "RECOUNT_S", 0.1)
    run_id = bench.run_id()
    bench.close()
    async with open_dashboard(bench.path, clock=bench.clock) as (feed, _), aclosing(feed.snapshots()) as snapshots:
        watching = Watching(feed, snapshots)
        await watching.until(lambda shown: shown.runs.ids is not None)
        Path(f"{bench.path}-shm").unlink()
        command = [sys.executable, "-c", PAUSE, str(bench.path), run_id]
        await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)
        await watching.until(lambda shown: not shown.store.state.is_live)
        if sys.version_info >= (3, 12):
            shown = await watching.until(lambda shown: shown.store.state.is_live)
            assert shown.runs.rows[0].run.paused
        else:
            shown = await watching.until(lambda shown: "start it again" in shown.store.sentence)
            assert shown.store.state is StoreState.REPLACED


async def test_a_file_that_is_gone_keeps_its_last_data(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeding, "RETRY_S", 0.05)
    monkeypatch.setattr(feeding, "RECOUNT_S", 0.1)
    bench.run_id(title="kept")
    async with open_dashboard(bench.path, clock=bench.clock) as (feed, _), aclosing(feed.snapshots()) as snapshots:
        watching = Watching(feed, snapshots)
        await watching.until(lambda shown: shown.runs.ids is not None)
        aside = bench.path.with_name("aside")
        shutil.move(bench.path, aside)
        shown = await watching.until(lambda shown: shown.store.state is StoreState.GONE)
        assert shown.runs.rows[0].run.title == "kept"
        assert shown.store.sentence == "the file is gone."


def test_every_trouble_has_a_state_and_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    known = {
        StoreMissing(str(path)): StoreState.GONE,
        StoreTooNew(str(path), 9, 1): StoreState.NEWER,
        StoreDamaged(str(path), "bad page"): StoreState.DAMAGED,
        StoreDetached(str(path), "replaced"): StoreState.GONE,
        StoreError("disk full \x1b[2J"): StoreState.FAILED,
    }
    for error, state in known.items():
        found, sentence = trouble_of(error, path)
        assert found is state
        assert sentence
        assert "\x1b" not in sentence
    path.touch()
    assert trouble_of(StoreDetached(str(path), "replaced"), path)[0] is StoreState.REPLACED


async def test_a_desk_answers_what_was_shown(bench: Bench) -> None:
    _, request_id, _ = bench.at_decision()
    door = Door(bench.path, read_only=False, clock=bench.clock)
    await door.open()
    try:
        feed, desk = Feed(door), Desk(door, Human.for_test("ada"))
        async with aclosing(feed.snapshots()) as snapshots:
            watching = Watching(feed, snapshots)
            feed.look(Interest(request_id=request_id))
            shown = await watching.until(lambda shown: shown.request is not None)
            assert shown.request is not None
            assert desk.why_no_answer == ""
            receipt = await desk.answer(shown.request, "again", text="not yet")
            assert receipt.outcome == "accepted"
            shown = await watching.until(lambda shown: shown.request and shown.request.resolution)
            assert shown.request is not None
            assert shown.request.resolution is not None
            assert (shown.request.resolution.actor, shown.request.resolution.text) == ("ada", "not yet")
            late = await desk.answer(shown.request, "go")
            assert (late.outcome, late.reason) == ("conflict", "already_resolved")
    finally:
        await door.close()


async def test_a_desk_pauses_resumes_and_cancels(bench: Bench) -> None:
    run_id = bench.run_id()
    async with open_dashboard(bench.path, clock=bench.clock) as (feed, desk):
        assert feed.now() == bench.clock.now()
        assert (await desk.pause(run_id)).outcome == "accepted"
        assert (await desk.resume(run_id)).outcome == "accepted"
        assert (await desk.cancel(run_id)).outcome == "accepted"
        assert (await desk.cancel(run_id)).outcome != "accepted"


async def test_a_read_only_dashboard_says_so(bench: Bench) -> None:
    bench.run_id()
    async with open_dashboard(bench.path, read_only=True, clock=bench.clock) as (feed, desk):
        assert "cannot be written" in desk.why_no_answer
        assert "read-only" in await desk.start_host()
        async with aclosing(feed.snapshots()) as snapshots:
            shown = await Watching(feed, snapshots).until(lambda shown: True)
            assert shown.store.state is StoreState.READ_ONLY
            assert "--read-only" in shown.store.sentence


async def test_a_missing_store_is_an_error_before_anything_is_shown(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing):
        async with open_dashboard(tmp_path / "none.sqlite"):
            raise AssertionError


async def test_a_locked_store_is_a_state_and_passes(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeding, "RETRY_S", 0.05)
    run_id = bench.run_id()
    async with open_dashboard(bench.path, clock=bench.clock) as (feed, _), aclosing(feed.snapshots()) as snapshots:
        watching = Watching(feed, snapshots)
        await watching.until(lambda shown: shown.runs.ids is not None)
        read = feed._door.store.read

        async def locked(fn):  # type: ignore[no-untyped-def]
            from lockgate.model.errors import StoreBusy

            raise StoreBusy(str(bench.path), 5_000)

        monkeypatch.setattr(feed._door.store, "read", locked)
        feed.look(Interest(run_id=run_id))
        stale = await watching.until(lambda shown: shown.store.state is StoreState.LOCKED)
        assert stale.store.since == bench.clock.wall_ms
        monkeypatch.setattr(feed._door.store, "read", read)
        await watching.until(lambda shown: shown.store.state is StoreState.LIVE)
