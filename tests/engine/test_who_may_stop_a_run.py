"""Pause, cancel, a lost claim and a stop: the node's work is kept where it can be, and nothing follows it."""

import asyncio
from typing import Any

import pytest

from lockgate import Context, Workflow, compute, edge
from lockgate.model.encoding import sha256
from lockgate.model.errors import NotFound, Refused
from lockgate.model.statuses import RunStatus
from tests.engine.bench import Bench


def flow(first: Any, second: Any = lambda ctx: "second") -> Workflow:
    return Workflow("flow", start="a", nodes={"a": compute(first), "b": compute(second)}, edges=[edge("a", "b")])


async def test_a_pause_lets_the_node_finish_and_starts_no_other(bench: Bench) -> None:
    async def pause(ctx: Context) -> str:
        bench.pause()
        return "kept"

    assert await bench.go(flow(pause)) == "paused"
    assert bench.types == ["node_started", "run_paused", "node_finished"]
    bench.release()
    bench.resume()
    assert await bench.work() == "completed"
    assert [attempt.node_id for attempt in bench.attempts] == ["a", "b"]


async def test_a_pause_during_the_last_node_holds_the_end(bench: Bench) -> None:
    async def pause(ctx: Context) -> str:
        bench.pause()
        return "end"

    last = Workflow("flow", start="a", nodes={"a": compute(pause)})
    assert await bench.go(last) == "paused"
    assert bench.run.status is RunStatus.RUNNING
    bench.release()
    bench.resume()
    assert await bench.work() == "completed"
    assert bench.result == "end"
    assert len(bench.attempts) == 1


async def test_a_run_paused_before_its_worker_is_ready_stays_paused(bench: Bench) -> None:
    bench.start(flow(lambda ctx: 1))
    holder = bench.claim()
    bench.pause()
    assert await bench.work(holder) == "paused"
    assert "node_started" not in bench.types


async def test_a_cancelled_run_is_left_at_the_next_proposal(bench: Bench) -> None:
    async def cancel(ctx: Context) -> str:
        bench.cancel()
        return "late"

    assert await bench.go(flow(cancel)) == "cancelled"
    assert bench.run.status is RunStatus.CANCELLED
    assert bench.types[-1] == "run_cancelled"


async def test_a_lost_claim_changes_nothing(bench: Bench) -> None:
    async def lose(ctx: Context) -> str:
        bench.lose()
        return "late"

    assert await bench.go(flow(lose)) == "claim_lost"
    assert bench.run.steps == 0
    assert await bench.work() == "claim_lost"


async def test_a_node_hears_that_its_updates_are_in_vain(bench: Bench) -> None:
    async def work(ctx: Context) -> str:
        bench.cancel()
        ctx.update({"n": 1}, type="count")
        while not ctx.cancelled:
            await asyncio.sleep(0)
        return "stopped"

    assert await bench.go(flow(work)) == "cancelled"


async def test_a_stop_is_between_nodes(bench: Bench) -> None:
    stop = asyncio.Event()

    async def ask(ctx: Context) -> str:
        stop.set()
        return "kept"

    assert await bench.go(flow(ask), stop=stop) == "stopped"
    assert bench.run.steps == 1
    bench.release()
    assert await bench.work() == "completed"


async def test_a_finished_run_needs_no_other_node_to_stop(bench: Bench) -> None:
    stop = asyncio.Event()
    stop.set()
    bench.start(flow(lambda ctx: 1))
    assert await bench.work(stop=stop) == "stopped"
    assert bench.run.steps == 0


async def test_a_refused_list_is_proposed_again_as_its_step_alone(bench: Bench) -> None:
    workflow = flow(lambda ctx: "kept")
    bench.start(workflow)
    # What the store holds leads elsewhere than what this process has loaded.
    other = Workflow("flow", start="a", nodes={"a": workflow.nodes["a"], "c": compute(print)}, edges=[edge("a", "c")])
    bench._workflow = other
    with pytest.raises(Refused) as caught:
        await bench.work()
    assert caught.value.code == "wrong_node"
    assert bench.holder is not None
    assert bench.holder.lists[1:] == [("FinishAttempt", "StartAttempt"), ("FinishAttempt",)]
    assert bench.run.steps == 1


async def test_an_error_of_the_store_is_not_a_failure_of_the_node(bench: Bench) -> None:
    bench.start(flow(lambda ctx: "kept"))
    holder = bench.claim()

    def gone(proposals: Any) -> None:
        if len(proposals) > 1:
            raise ConnectionError("the host is gone")

    holder.before_commit = gone
    with pytest.raises(ConnectionError):
        await bench.work(holder)
    assert bench.types == ["node_started"]


async def test_a_value_that_the_store_lost_is_its_error(bench: Bench) -> None:
    bench.start(flow(lambda ctx: 1), "input")
    name = sha256(b'"input"')
    bench.write(lambda tx: tx.connection.execute("PRAGMA defer_foreign_keys=ON"))
    holder = bench.claim()

    async def missing(hash: str) -> bytes:
        assert hash == name
        raise NotFound("value", hash)

    holder.read_value = missing  # type: ignore[method-assign]
    with pytest.raises(NotFound):
        await bench.work(holder)


async def test_a_cancelled_engine_stops_its_node(bench: Bench) -> None:
    seen: list[bool] = []
    started = asyncio.Event()

    async def wait(ctx: Context) -> None:
        started.set()
        try:
            await asyncio.sleep(30)
        finally:
            seen.append(ctx.cancelled)

    bench.start(flow(wait))
    task = asyncio.ensure_future(bench.work())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(seen) == 1
