"""`execute` runs in this process: to a wait, to the end, and over the death of a process that executed."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lockgate import (
    Ask,
    Workflow,
    action,
    choice,
    compute,
    decision_edge,
    edge,
    human_decision,
    idempotent,
    shell,
)
from lockgate.host.inline import execute
from lockgate.host.starting import start_run
from lockgate.model.errors import KeyConflict, PayloadError, Refused, SourceChanged
from lockgate.model.records import Actor, Human
from lockgate.model.statuses import ActorKind
from lockgate.store import reads
from lockgate.store.shell import open_store
from tests.host.bench import SOURCE_ROOT, Bench, kill, until

USER = Actor(kind=ActorKind.USER, id="tester")


def inline(workflow: Workflow) -> Workflow:
    """As if it had been typed into a console: no file, so no host takes it."""
    workflow.file = None
    return workflow


def doubling() -> Workflow:
    return inline(
        Workflow(
            "doubling",
            start="double",
            nodes={
                "double": compute(lambda ctx: {"n": ctx.input["n"] * 2}),
                "again": action(lambda ctx: {"n": ctx.outputs["double"]["n"] * 2}, effect=idempotent("again")),
            },
            edges=[edge("double", "again")],
        )
    )


def deciding(**more: Any) -> Workflow:
    return inline(
        Workflow(
            "deciding",
            start="ask",
            nodes={
                "ask": human_decision(
                    audience="operator",
                    choices={"yes": choice("Yes"), "no": choice("No")},
                    request=lambda ctx: Ask(title="Really?", summary="All of it."),
                    **more,
                ),
                "done": compute(lambda ctx: {"choice": ctx.outputs["ask"]["choice"]}),
            },
            edges=[decision_edge("ask", {"yes": "done", "no": "done"})],
        )
    )


async def test_a_run_is_executed_to_its_end(tmp_path: Path) -> None:
    async with open_store(tmp_path / "s.sqlite", create=True) as store:
        run = await execute(doubling(), {"n": 3}, store=store, title="three")
        assert (run.status, run.steps, run.title, run.inline) == ("completed", 2, "three", True)
        detail = await store.run(run.run_id)
        assert await store.read(lambda c: reads.value(c, detail.row.output_hash or "")) == b'{"n":12}'
        assert detail.claim is None


async def test_the_same_key_is_the_same_run(tmp_path: Path) -> None:
    async with open_store(tmp_path / "s.sqlite", create=True) as store:
        first = await execute(doubling(), {"n": 1}, store=store, key="k")
        assert (await execute(doubling(), {"n": 1}, store=store, key="k")).run_id == first.run_id
        with pytest.raises(KeyConflict):
            await execute(doubling(), {"n": 2}, store=store, key="k")
        assert len((await store.runs()).rows) == 1


async def test_an_empty_key_is_no_key(tmp_path: Path) -> None:
    async with open_store(tmp_path / "s.sqlite", create=True) as store:
        with pytest.raises(Refused, match="a key"):
            await execute(doubling(), {"n": 1}, store=store, key="")
        assert (await start_run(doubling(), {"n": 1}, store=store, key="")).reason == "invalid_id"
        assert (await store.runs()).rows == ()


async def test_a_bad_input_makes_no_run(tmp_path: Path) -> None:
    async with open_store(tmp_path / "s.sqlite", create=True) as store:
        with pytest.raises(PayloadError):
            await execute(doubling(), {"n": float("nan")}, store=store)
        assert (await store.runs()).rows == ()


async def test_wait_returns_at_the_first_wait_and_continues_by_run_id(tmp_path: Path) -> None:
    async with open_store(tmp_path / "s.sqlite", create=True) as store:
        run = await execute(deciding(), store=store)
        assert (run.status, run.queue) == ("waiting", "parked")
        [request] = await store.decisions()
        await store.answer(request.request_id, "yes", digest=request.digest, actor=Human.for_test())
        with pytest.raises(Refused, match=f"{run.run_id} is a run of '.*', not of '.*'"):
            await execute(doubling(), store=store, run_id=run.run_id)
        changed = Workflow(deciding().name, start="a", nodes={"a": compute(lambda ctx: 1)})
        with pytest.raises(SourceChanged):
            await execute(changed, store=store, run_id=run.run_id)
        done = await execute(deciding(), store=store, run_id=run.run_id)
        assert done.status == "completed"


async def test_end_waits_for_the_answer_and_goes_on(tmp_path: Path) -> None:
    async with open_store(tmp_path / "s.sqlite", create=True) as store:
        running = asyncio.create_task(execute(deciding(), store=store, until="end"))
        async for _ in store.follow(0):
            if pending := await store.decisions():
                break
        receipt = await store.answer(pending[0].request_id, "no", digest=pending[0].digest, actor=Human.for_test())
        assert receipt.outcome == "accepted"
        assert (await running).status == "completed"


async def test_end_takes_the_default_where_no_host_is(tmp_path: Path) -> None:
    async with open_store(tmp_path / "s.sqlite", create=True) as store:
        run = await execute(deciding(on_timeout=("no", 0.2)), store=store, until="end")
        assert run.status == "completed"


async def test_a_cancelled_caller_gives_its_run_back(tmp_path: Path) -> None:
    async def forever(ctx: Any) -> None:
        await asyncio.Event().wait()

    workflow = inline(Workflow("forever", start="n", nodes={"n": compute(forever)}))
    async with open_store(tmp_path / "s.sqlite", create=True) as store:
        running = asyncio.create_task(execute(workflow, store=store))
        async for _ in store.follow(0):
            if any(run.current for run in (await store.runs()).rows):
                break
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        [run] = (await store.runs()).rows
        assert (run.status, run.queue, run.claim, run.losses) == ("running", "queued", None, 0)


async def test_cancel_from_elsewhere_stops_the_node(tmp_path: Path) -> None:
    workflow = inline(
        Workflow(
            "sleeps", start="n", nodes={"n": shell([sys.executable, "-S", "-c", "import time; time.sleep(60)"],
                effect=idempotent("sleep"))},
        )
    )  # fmt: skip
    async with open_store(tmp_path / "s.sqlite", create=True) as store:
        running = asyncio.create_task(execute(workflow, store=store))
        async for _ in store.follow(0):
            found = [run for run in (await store.runs()).rows if run.current]
            if found:
                break
        await store.cancel(found[0].run_id, actor=USER)
        assert (await running).status == "cancelled"


async def test_the_output_of_commands_is_kept(tmp_path: Path) -> None:
    workflow = inline(Workflow("prints", start="n", nodes={"n": shell(["echo", "hello"], effect=idempotent("print"))}))
    async with open_store(tmp_path / "s.sqlite", create=True) as store:
        run = await execute(workflow, store=store)
        [attempt] = (await store.run(run.run_id)).attempts
        chunks = await store.read(lambda c: reads.output(c, run.run_id, attempt.attempt_id))
        assert b"".join(chunk.content for chunk in chunks) == b"hello\n"


SCRIPT = """
import asyncio
from lockgate.host.inline import execute
from lockgate.host.starting import start_run
from lockgate.store.shell import open_store
def first(ctx):
    log("first")
    return {}
def second(ctx):
    log(f"second {os.getpid()}")
    wait_for("go")
    return {}
flow = Workflow("script", start="first", nodes={"first": compute(first), "second": compute(second)},
    edges=[edge("first", "second")])
async def main():
    async with open_store(sys.argv[1], create=True) as store:
        await execute(flow, store=store)
if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.mark.parametrize("host_first", [True, False])
def test_a_dead_process_s_run_goes_to_the_host_at_once(bench: Bench, host_first: bool) -> None:
    script = bench.write(SCRIPT, "script.py")
    environment = {**os.environ, "PYTHONPATH": SOURCE_ROOT}
    with subprocess.Popen([sys.executable, str(script), str(bench.store)], env=environment) as process:
        until(lambda: f"second {process.pid}" in bench.log(), "second")
        run_id = bench.rows("SELECT run_id FROM runs")[0][0]
        bench.touch("go")
        if host_first:
            with bench.host():
                kill(process.pid)
                process.wait()
                bench.until_status(run_id, "completed")
    if not host_first:
        bench.until_status(run_id, "completed")
    assert bench.log().count("first") == 1
