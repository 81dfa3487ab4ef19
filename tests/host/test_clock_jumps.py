"""A wall clock that jumps is said once, takes no lease and keeps no deadline waiting."""

import asyncio
import logging

import pytest
from msgspec.structs import replace

from lockgate.host.host import Host
from lockgate.host.jumps import TOLERANCE_MS, JumpWatch
from lockgate.model.records import Now
from lockgate.store.clock import SystemClock
from lockgate.store.shell import open_store
from tests.host.bench import Bench

HOUR_MS = 3_600_000


def at(wall_ms: int, mono_ms: int) -> Now:
    return Now(wall_ms=wall_ms, boot_id="boot", mono_ms=mono_ms)


@pytest.mark.parametrize("jump", [-HOUR_MS, HOUR_MS, TOLERANCE_MS + 1])
def test_a_jump_is_told_once(jump: int) -> None:
    watch = JumpWatch(at(1_000_000, 500))
    assert watch.look(at(1_001_000, 1_500)) == 0
    assert watch.look(at(1_002_000 + jump, 2_500)) == jump
    assert watch.look(at(1_003_000 + jump, 3_500)) == 0


def test_ten_minutes_of_sleep_are_a_jump() -> None:
    watch = JumpWatch(at(1_000_000, 500))
    assert watch.look(at(1_601_000, 1_500)) == 600_000


def test_drift_is_none_however_long_it_goes_on() -> None:
    watch = JumpWatch(at(0, 0))
    assert all(watch.look(at(second * 1_001, second * 1_000)) == 0 for second in range(10_000))


class SettableClock(SystemClock):
    """The machine's clocks, the wall clock of which can be set."""

    set_by_ms = 0

    def now(self) -> Now:
        now = super().now()
        return replace(now, wall_ms=now.wall_ms + self.set_by_ms)


ASKS = """
flow = Workflow("asks", start="ask", nodes={
    "ask": human_decision(audience="operator", choices={"keep": choice("Keep")}, on_timeout=("keep", 3600),
        request=lambda ctx: Ask(title="Keep it?", summary="All.")),
    "end": compute(lambda ctx: {})}, edges=[decision_edge("ask", {"keep": "end"})])
"""


async def test_a_deadline_that_was_jumped_over_is_taken_at_once(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    clock, stop = SettableClock(), asyncio.Event()
    run_id = await asyncio.to_thread(bench.start, bench.write(ASKS))
    running = asyncio.create_task(Host(bench.store, clock=clock).run(stop))
    with caplog.at_level(logging.WARNING, "lockgate.host"):
        async with open_store(bench.store) as store:
            async for _ in store.follow(0):
                run = (await store.run(run_id)).run
                if run.status == "waiting":
                    clock.set_by_ms = HOUR_MS + 1_000
                elif run.status == "completed":
                    break
    stop.set()
    await running
    assert [record.getMessage() for record in caplog.records] == [
        "the wall clock jumped by +3601.0 s: it was set, or the machine slept"
    ]
    assert bench.rows("SELECT provenance FROM human_decision_resolutions") == [("timeout_policy",)]
