"""`pause`, `resume`, `cancel` and `restart`: what anyone may ask of a run."""

from typing import Any

import click

from lockgate.cli.call import Call
from lockgate.cli.options import command
from lockgate.cli.people import login, user
from lockgate.cli.receipts import report
from lockgate.cli.repeating import of_key
from lockgate.model.errors import DefinitionError, NotFound, Refused


@command("pause", short_help="Stop a run after its node.")
@click.argument("run")
@click.option("--now", "at_once", is_flag=True, help="Also stop the node that runs; it runs again later.")
def pause(call: Call, run: str, at_once: bool) -> int:
    """Let the node of RUN finish, then hold the run until it is resumed."""
    from lockgate.store import commands

    run_id = call.run_id(run)
    if at_once:
        _warn_of_effects(call, run_id)
    return report(call, call.write(lambda tx: commands.pause(tx, run_id, actor=user(), key=call.key, now=at_once)))


@command("resume", short_help="Let a paused or blocked run go on.")
@click.argument("run")
@click.option(
    "--accept-source", is_flag=True, help="Go on with the workflow's changed files; the graph must be the same."
)
def resume(call: Call, run: str, accept_source: bool) -> int:
    """Clear the pause of RUN, and every block but a question whether an effect happened."""
    from lockgate.cli.definitions import definition_again
    from lockgate.store import commands, reads

    run_id = call.run_id(run)
    accept = definition_again(call.read(reads.run, run_id).row) if accept_source else None
    return report(call, call.write(lambda tx: commands.resume(tx, run_id, actor=user(), key=call.key, accept=accept)))


@command("cancel", short_help="End a run for good.")
@click.argument("run")
def cancel(call: Call, run: str) -> int:
    """Close everything that RUN has open; its worker is stopped."""
    from lockgate.store import commands

    run_id = call.run_id(run)
    return report(call, call.write(lambda tx: commands.cancel(tx, run_id, actor=user(), key=call.key)))


@command("restart", short_help="Start a finished run again, as a new run.")
@click.argument("run")
@click.option("--revision", type=int, help="Only if RUN is still at this revision. Default: the one it has now.")
def restart(call: Call, run: str, revision: int | None) -> int:
    """Make a new run with the input of RUN, from the workflow's files as they are now."""
    import os

    from lockgate.cli.definitions import definition_again
    from lockgate.flow.definition import Given
    from lockgate.store import commands, reads

    row = call.read(reads.run, call.run_id(run)).row
    wish: dict[str, Any] = {
        "expected_revision": row.revision if revision is None else revision,
        "actor": user(),
        "key": call.key,
    }
    try:
        definition = definition_again(row, Given(content=call.read(reads.value, row.input_hash), is_titled=True))
    except (NotFound, DefinitionError, Refused):
        if of_key(call) is None:
            raise
        return report(call, call.write(lambda tx: commands.restarted(tx, row.run_id, **wish)))
    started_by: dict[str, Any] = {"started_by": login(), "started_by_uid": os.getuid()}
    return report(call, call.write(lambda tx: commands.restart(tx, row.run_id, definition, **started_by, **wish)))


def _warn_of_effects(call: Call, run_id: str) -> None:
    """Says what stopping in the middle may cost, before it is done."""
    from lockgate.model.statuses import EffectStatus, Recovery
    from lockgate.store import reads

    for effect in call.read(reads.run, run_id).effects:
        if effect.status is EffectStatus.APPLYING and effect.recovery is Recovery.MANUAL:
            call.tell(
                f"{effect.node_id} is at its effect {effect.effect_type}: a person may have to say if it happened"
            )
