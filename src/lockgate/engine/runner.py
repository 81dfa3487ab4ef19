"""Executes one claimed run: walks the definition from where the run stands and proposes every change.

A finished step and the start of the next node are one transaction. What the store does not accept is not
done: a paused, cancelled or lost run ends the walk at once.
"""

import asyncio
import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from lockgate.engine.attempts import Attempts
from lockgate.engine.calls import Caller
from lockgate.engine.commands import Sink
from lockgate.engine.history import History
from lockgate.engine.journal import Broken, Halt, Journal
from lockgate.engine.ports import ExecutionStore
from lockgate.engine.routes import End, after
from lockgate.engine.values import Values
from lockgate.engine.visit import Surroundings, pass_on
from lockgate.flow.authoring.workflow import Workflow
from lockgate.model.errors import ClaimLost, Refused


async def run(
    workflow: Workflow,
    store: ExecutionStore,
    *,
    sources: Mapping[str, str],
    stop: asyncio.Event | None = None,
    environment: MutableMapping[str, str] | None = None,
    project_dir: Path | None = None,
    sink: Sink = pass_on,
    own_groups: bool = False,
) -> str:
    """Executes until the run ends, waits, or is no longer ours; the reason.

    Reasons: completed, failed, timed_out; waiting; paused; cancelled; claim_lost; blocked (a person has to say
    whether an effect happened); stopped (`stop` was set: between nodes); fresh (a node's code was left behind at
    its limit: the run goes on in another process); unverified (as fresh, but with a running attempt, whose
    effect the next worker verifies).

    `environment` is what commands inherit and is kept up to date with LOCKGATE_RUN_ID, _NODE and _ATTEMPT: a
    worker passes os.environ; by default it is a copy of that without LOCKGATE_*. Relative directories of
    commands start at `project_dir`, by default the working directory. Errors of the store are raised.
    """
    caller = Caller()
    try:
        return await _run(workflow, store, caller, sources, stop, _around(environment, project_dir, sink, own_groups))
    except Halt as halt:
        return halt.reason
    except Broken as broken:
        raise broken.problem from broken
    finally:
        caller.close()


async def _run(
    workflow: Workflow,
    store: ExecutionStore,
    caller: Caller,
    sources: Mapping[str, str],
    stop: asyncio.Event | None,
    around: Surroundings,
) -> str:
    try:
        continuation = await store.ready(sources)
    except ClaimLost:
        return "claim_lost"
    except Refused as refusal:
        if refusal.code == "paused":
            return "paused"
        raise
    values = Values(store)
    history = History(workflow.graph, continuation, values)
    journal = Journal(store, values)
    attempts = Attempts(workflow, history, journal, values, caller, around)
    await history.fetch()
    left_behind = False
    if continuation.current is not None:
        left_behind = await attempts.resume(continuation.current)
    while isinstance(ahead := after(workflow.graph, history), str):
        if left_behind or (stop is not None and stop.is_set()):
            await journal.flush()
            return "fresh" if left_behind else "stopped"
        left_behind = await attempts.attempt(ahead)
    return await _finish(journal, ahead)


async def _finish(journal: Journal, end: End) -> str:
    await journal.commit(end.finish, values=end.values)
    return str(end.finish.status)


def _around(
    environment: MutableMapping[str, str] | None, project_dir: Path | None, sink: Sink, own_groups: bool
) -> Surroundings:
    if environment is None:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("LOCKGATE_")}
    return Surroundings(
        environment=environment,
        project_dir=project_dir or Path.cwd(),
        sink=sink,
        own_groups=own_groups,
    )
