"""`execute`: one run in this process, without a host, and without a child process but for commands.

The claim belongs to the process (pid and start time). If the process dies, the next host takes the run at once;
a workflow without a file is continued only by another `execute`.
"""

import asyncio
import contextlib
from typing import Any, Literal

from msgspec.structs import replace

from lockgate.engine.beginning import begin
from lockgate.flow.authoring.workflow import Workflow
from lockgate.flow.claims import waits_ms
from lockgate.flow.definition import Given
from lockgate.flow.words import left_ms
from lockgate.host.holding import Holder
from lockgate.host.starting import new_run
from lockgate.model.encoding import checked
from lockgate.model.errors import KeyConflict, Refused, SourceChanged
from lockgate.model.records import ClaimToken, Receipt, Run
from lockgate.model.statuses import QueueStatus
from lockgate.store import claims, commands, reads
from lockgate.store.openfile import Transaction
from lockgate.store.shell import HOST_PAUSE, Store, new_key
from lockgate.store.writer import Lane

LONGEST_SLEEP_S = 10.0


async def execute(
    workflow: Workflow,
    input: Any = None,
    *,
    store: Store,
    run_id: str | None = None,
    until: Literal["wait", "end"] = "wait",
    title: str | None = None,
    key: str | None = None,
) -> Run:
    """Starts the workflow and executes it here, or continues `run_id`; the run as it then stands.

    `wait` returns where the run waits for somebody, is paused or blocked; `end` only when it is over: it waits
    for the answer, whoever gives it, and goes on. With the key of an earlier start it goes on with that run.
    Raises PayloadError for an input or title that cannot be one, Refused for an input that the workflow does not take,
    for a key that is none and for a run of another workflow, DefinitionError for a function of the input that fails,
    KeyConflict, NotFound, and SourceChanged where `run_id` was started from another graph.
    """
    holder = Holder(workflow, store)
    if run_id is None:
        run_id, claim = await _begin(holder, input, title, new_key() if key is None else key)
    else:
        await _check_graph(holder, run_id)
        claim = None
    while True:
        if claim is not None:
            await holder.hold(claim)
        run = (await store.run(run_id)).run
        if _is_done(run, until):
            return run
        claim = await _next_turn(holder, run_id, until)


async def _begin(holder: Holder, given: Any, title: str | None, key: str) -> tuple[str, ClaimToken | None]:
    """Start and claim in one transaction: no host may come between."""
    asked = Given(content=checked(given), is_titled=title is not None)
    definition = replace(holder.definition, begun=await begin(holder.workflow, asked))
    new, actor = new_run(definition, asked.content, title)

    def start(tx: Transaction) -> tuple[Receipt, ClaimToken | None]:
        receipt = commands.start(tx, new, actor=actor, key=key)
        return receipt, _claim(tx, holder, receipt.run_id) if receipt.run_id is not None else None

    receipt, claim = await holder.store.transact(start)
    if receipt.run_id is None and receipt.reason != "key_conflict":
        raise Refused(receipt.reason or "refused", receipt.details.get("message", "the run was not started"))
    if receipt.run_id is None:
        raise KeyConflict(key, receipt.command)
    return receipt.run_id, claim


async def _check_graph(holder: Holder, run_id: str) -> None:
    row = (await holder.store.run(run_id)).row
    if row.workflow != holder.workflow.name:
        raise Refused("wrong_workflow", f"{run_id} is a run of {row.workflow!r}, not of {holder.workflow.name!r}")
    if row.definition_digest != holder.definition.digest:
        raise SourceChanged([holder.definition.workflow_ref])


def _claim(tx: Transaction, holder: Holder, run_id: str) -> ClaimToken | None:
    """The claim, or None where the run is somebody else's, over, or not to be executed now."""
    try:
        return claims.claim(tx, run_id, holder.owner).claim
    except Refused:
        return None


def _is_done(run: Run, until: str) -> bool:
    return run.status.is_terminal or (until == "wait" and run.queue is QueueStatus.PARKED)


async def _next_turn(holder: Holder, run_id: str, until: str) -> ClaimToken | None:
    """Waits until the run can be claimed; None once there is nothing more to wait for."""
    store = holder.store
    seen = await store.read(reads.latest_event_seq)
    woken = asyncio.Event()
    watching = asyncio.create_task(_watch(store, seen, woken))
    try:
        while not watching.done():
            woken.clear()
            claim = await store.transact(lambda tx: _claim(tx, holder, run_id))
            run = (await store.run(run_id)).run
            if claim is not None or _is_done(run, until):
                return claim
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(await _patience(store, run)):
                    await woken.wait()
        watching.result()
        raise AssertionError("a watch ends only by an error")
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def _watch(store: Store, seen: int, woken: asyncio.Event) -> None:
    try:
        async for _ in store.follow(seen, pause=HOST_PAUSE):
            woken.set()
    finally:
        woken.set()


async def _patience(store: Store, run: Run) -> float:
    """Seconds until this run moves by itself. A default that is due is taken here: no host may be there for it."""
    now_ms = store.clock.now().wall_ms
    if run.queue is QueueStatus.QUEUED:
        return min(LONGEST_SLEEP_S, max(0.001, waits_ms(run.available_at, now_ms) / 1000))
    if run.deadline_at is None or run.paused or run.request_id is None:
        return LONGEST_SLEEP_S
    left = left_ms(run.deadline_at, now_ms, run.updated_at)
    if left <= 0:
        request_id = run.request_id
        receipt = await store.transact(lambda tx: commands.expire(tx, request_id), Lane.CONTROL)
        return LONGEST_SLEEP_S if receipt.outcome == "rejected" else 0.001
    return min(LONGEST_SLEEP_S, left / 1000)
