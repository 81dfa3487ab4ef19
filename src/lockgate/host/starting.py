"""How programs start and restart runs: the workflow is loaded and checked first, then the run is queued."""

import asyncio
import os
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from lockgate.config.places import user_data
from lockgate.engine.beginning import begin
from lockgate.engine.checking import check, described
from lockgate.engine.person import login_name
from lockgate.flow.authoring.workflow import Workflow
from lockgate.flow.definition import Definition, Given
from lockgate.model.encoding import checked
from lockgate.model.records import Actor, Receipt
from lockgate.model.statuses import ActorKind
from lockgate.store import commands, reads
from lockgate.store.shell import Store, new_key
from lockgate.store.writer import Lane


async def start_run(
    workflow: Workflow | str, input: Any = None, *, store: Store, title: str | None = None, key: str | None = None
) -> Receipt:
    """Queues a run of a Workflow, or of what `file.py[:name]` or a workflow's name stands for.

    Raises NotFound, DefinitionError naming file, node and reason, PayloadError for an input that breaks the payload
    rules, and Refused `invalid_input` for one that the workflow does not take: each before anything is written.
    """
    given = Given(content=checked(input), is_titled=title is not None)
    if isinstance(workflow, Workflow):
        definition = replace(described(workflow).definition, begun=await begin(workflow, given))
    else:
        definition = await _checked(workflow, given)
    new, actor = new_run(definition, given.content, title)
    name = new_key() if key is None else key
    return await store.transact(lambda tx: commands.start(tx, new, actor=actor, key=name), Lane.PERSON)


async def restart(
    run_id: str, *, store: Store, expected_revision: int, actor: Actor, key: str | None = None
) -> Receipt:
    """Queues a run with the input of a finished one, from its workflow's file as it is now.

    A second restart of the same run returns the first child, adopted. Raises NotFound, DefinitionError, and Refused
    `invalid_input` where the workflow does not take that input any more.
    """
    parent = (await store.run(run_id)).row
    content = await store.read(lambda connection: reads.value(connection, parent.input_hash))
    given = Given(content=content, is_titled=True)
    definition = await _checked(parent.workflow_ref, given, Path(parent.project_dir))
    uid, name = os.getuid(), new_key() if key is None else key
    return await store.transact(
        lambda tx: commands.restart(
            tx,
            run_id,
            definition,
            expected_revision=expected_revision,
            started_by=login_name(uid),
            started_by_uid=uid,
            actor=actor,
            key=name,
        ),
        Lane.PERSON,
    )


async def _checked(reference: str, given: Given, caller: Path | None = None) -> Definition:
    # The child that loads the file must not hold up the loop.
    found = await asyncio.to_thread(check, reference, caller=caller, data_dir=user_data(), given=given)
    return found.definition


def new_run(definition: Definition, content: bytes, title: str | None) -> tuple[commands.NewRun, Actor]:
    """A start by the user of this process; `content` is the stored form of the input."""
    uid = os.getuid()
    user = login_name(uid)
    new = commands.NewRun(definition=definition, input=content, title=title, started_by=user, started_by_uid=uid)
    return new, Actor(kind=ActorKind.USER, id=user)
