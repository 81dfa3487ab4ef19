"""A node over its limit is committed timed_out at once; what cannot be ended is left to a fresh process."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from lockgate import Context, Workflow, checkpoint, compute, idempotent, shell, switch_edge
from lockgate.engine import limits
from lockgate.model.statuses import Outcome, RunStatus
from tests.engine.bench import Bench


@pytest.fixture
def stuck() -> Iterator[threading.Event]:
    """Sync code that waits for the end of the test."""
    release = threading.Event()
    yield release
    release.set()


def flow(node: Any) -> Workflow:
    return Workflow(
        "flow",
        start="a",
        nodes={"a": node, "b": compute(lambda ctx: ctx.results["a"].error["message"])},
        edges=[switch_edge("a", "$result.outcome", {"ok": "b", "timed_out": "b"})],
    )


async def test_an_async_function_is_cancelled_and_the_run_goes_on(bench: Bench) -> None:
    async def slow(ctx: Context) -> None:
        await asyncio.sleep(30)

    assert await bench.go(flow(compute(slow, timeout=0.05))) == "completed"
    assert bench.result == "the node's 50 ms of working time are over"
    assert bench.attempts[0].outcome is Outcome.TIMED_OUT


async def test_a_sync_function_is_left_to_a_fresh_process(bench: Bench, stuck: threading.Event) -> None:
    workflow = flow(compute(lambda ctx: stuck.wait(), timeout=0.05))
    assert await bench.go(workflow) == "fresh"
    assert bench.types == ["node_started", "node_failed"]
    bench.release()
    assert await bench.work() == "completed"


async def test_a_run_that_ends_at_the_limit_ends_at_once(bench: Bench, stuck: threading.Event) -> None:
    workflow = Workflow("flow", start="a", nodes={"a": compute(lambda ctx: stuck.wait(), timeout=0.05)})
    assert await bench.go(workflow) == "timed_out"
    assert bench.run.status is RunStatus.TIMED_OUT
    assert bench.run.error_summary == "a: TimedOut: the node's 50 ms of working time are over"


async def test_a_function_can_see_that_its_time_is_over(bench: Bench) -> None:
    seen = threading.Event()

    def patient(ctx: Context) -> None:
        while not ctx.cancelled:
            seen.wait(0.01)
        seen.set()

    assert await bench.go(flow(compute(patient, timeout=0.05))) == "fresh"
    assert seen.wait(5)


@pytest.mark.parametrize(("own_groups", "reason"), [(True, "completed"), (False, "fresh")])
async def test_a_command_is_ended_with_its_group(bench: Bench, own_groups: bool, reason: str) -> None:
    node = shell(["sleep", "30"], effect=idempotent("x"), timeout=0.05)
    assert await bench.go(flow(node), own_groups=own_groups) == reason


async def test_a_computed_limit_is_committed_and_holds(bench: Bench) -> None:
    async def slow(ctx: Context) -> None:
        await asyncio.sleep(30)

    assert await bench.go(flow(compute(slow, timeout=lambda ctx: ctx.input)), 0.05) == "completed"
    assert bench.types[:3] == ["node_started", "node_timeout_set", "node_failed"]
    assert bench.attempts[0].timeout_ms == 50


async def test_a_computed_limit_may_be_none(bench: Bench) -> None:
    assert await bench.go(Workflow("f", start="a", nodes={"a": compute(lambda c: 1, timeout=lambda c: None)})) == (
        "completed"
    )


@pytest.mark.parametrize("limit", [0, -1, "soon", float("nan")])
async def test_a_computed_limit_that_is_none_fails_the_node(bench: Bench, limit: Any) -> None:
    flow = Workflow("f", start="a", nodes={"a": compute(lambda ctx: 1, timeout=lambda ctx: limit)})
    assert await bench.go(flow) == "failed"
    assert "a timeout must be" in (bench.run.error_summary or "")


async def test_a_limit_that_is_not_computed_in_time_fails_the_node(
    bench: Bench, stuck: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RESOLVE_LIMIT", 0.05)
    flow = Workflow("f", start="a", nodes={"a": compute(lambda ctx: 1, timeout=lambda ctx: stuck.wait())})
    assert await bench.go(flow) == "failed"
    assert "the timeout was not computed within" in (bench.run.error_summary or "")


async def test_a_computed_limit_of_a_checkpoint_rides_with_its_wait(bench: Bench) -> None:
    flow = Workflow("f", start="a", nodes={"a": checkpoint("Say", timeout=lambda ctx: 5)})
    assert await bench.go(flow) == "waiting"
    assert bench.holder is not None
    assert bench.holder.lists == [("StartAttempt",), ("SetTimeout", "WaitForInput")]
