"""`start`: makes a run of a workflow, and waits for it if asked to."""

import os

import click

from lockgate.cli.call import Call
from lockgate.cli.options import command
from lockgate.cli.people import login, user
from lockgate.cli.receipts import report
from lockgate.cli.repeating import of_key
from lockgate.model.errors import DefinitionError, NotFound, Refused
from lockgate.model.records import Receipt


@command("start", short_help="Start a run.")
@click.argument("workflow")
@click.option("--input", "given", metavar="JSON|@FILE|-", help="The run's input. Default: null.")
@click.option("--title", metavar="T", help="What people read beside the workflow's name.")
@click.option("--wait", is_flag=True, help="Wait until the run is over; exit 3 unless it completed.")
@click.option("--timeout", type=click.FloatRange(min=0), metavar="S", help="Stop waiting after S seconds (exit 3).")
def start(call: Call, workflow: str, given: str | None, title: str | None, wait: bool, timeout: float | None) -> int:
    """Check WORKFLOW (file.py, file.py:name, or a name found in .lockgate/workflows) and queue a run of it."""
    from lockgate.cli.values import json_value
    from lockgate.model.encoding import checked as encoded

    if timeout is not None and not wait:
        raise click.UsageError("--timeout belongs to --wait")
    content = b"null" if given is None else encoded(json_value(given))
    try:
        receipt = start_run(call, workflow, content, title=title, key=call.key)
    except Refused as refused:
        if given is not None or refused.code != "invalid_input":
            raise
        told = f"{workflow} needs an input, give it with --input: {refused.message}"
        raise Refused(refused.code, told, **refused.details) from refused
    code = report(call, receipt)
    if not wait and not call.as_json and not code:
        _say_if_nobody_runs_it(call)
    if code or not wait or receipt.run_id is None:
        return code
    from lockgate.cli.following import wait_for

    return wait_for(call, receipt.run_id, timeout)


def start_run(call: Call, workflow: str, content: bytes, *, title: str | None, key: str) -> Receipt:
    """Loads the workflow in a child and queues a run of it; makes the store where there is none."""
    from lockgate.cli.workflows import checked
    from lockgate.flow.definition import Given
    from lockgate.store import commands

    try:
        found = checked(workflow, Given(content=content, is_titled=title is not None))
    except (NotFound, DefinitionError, Refused):
        again = _started_before(call, workflow, content, title)
        if again is None:
            raise
        return again
    new = commands.NewRun(
        definition=found.definition, input=content, title=title, started_by=login(), started_by_uid=os.getuid()
    )
    return call.write(lambda tx: commands.start(tx, new, actor=user(), key=key), create=True)


def _say_if_nobody_runs_it(call: Call) -> None:
    from lockgate.store import reads
    from lockgate.view.reading import host_fact
    from lockgate.view.snapshots import HostState

    if host_fact(call.read(reads.host_state), (), call.now()).state is not HostState.OK:
        call.tell("no host runs: lockgate host starts one")


def _started_before(call: Call, workflow: str, content: bytes, title: str | None) -> Receipt | None:
    """What a key that is used stands for, where the file can no longer be loaded: the receipt of the same start, or
    the refusal of another one. None for a key that is free."""
    from lockgate.store import commands

    known = of_key(call)
    if known is None:
        return None
    meant = _reference(call, workflow, known.run_id)
    return call.write(lambda tx: commands.started(tx, meant, content, title=title, actor=user(), key=call.key))


def _reference(call: Call, workflow: str, run_id: str | None) -> str:
    """The whole reference of the workflow of a run, if it is what `workflow` stands for; else as it was typed."""
    from lockgate.store import reads

    ref = call.read(reads.run, run_id).row.workflow_ref if run_id is not None else ""
    file, _, name = ref.rpartition(":")
    typed = os.path.abspath(workflow)
    return ref if workflow == name or typed in (file, ref) else workflow
