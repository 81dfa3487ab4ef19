"""`settings` and `set`: the live settings of a run, and a patch for them."""

from functools import partial
from typing import Any

import click

from lockgate.cli.call import Call
from lockgate.cli.options import command
from lockgate.cli.people import speaker
from lockgate.cli.receipts import report
from lockgate.model.ids import ROOT_MOUNT, scope_name


@command("settings", short_help="Print the live settings of a run.")
@click.argument("run")
def settings(call: Call, run: str) -> None:
    """Print the settings of RUN as they are now, and every change that was made."""
    from lockgate.cli.listing import read_settings

    run_id = call.run_id(run)
    scopes, changes, value = read_settings(call, run_id)
    if call.as_json:
        from lockgate.view.documents import settings_document

        call.document(settings_document(run_id, scopes, changes, value))
        return
    import json

    if not scopes:
        call.say("No settings: the workflow declares none.")
    for scope in scopes:
        place = scope_name(scope.mount_path, scope.invocation)
        call.say(f"{place}: {json.dumps(value(scope.current_hash), ensure_ascii=False, indent=2)}")
        call.say(f"changed {scope.change_number} times")
    places = {scope.scope_id: scope_name(scope.mount_path, scope.invocation) for scope in scopes}
    for change in changes:
        made = f"change {change.change_number} of {places[change.scope_id]} by {change.actor_id}"
        call.say(f"{made}: {json.dumps(value(change.patch_hash))}")


# The function has another name than its command: `set` is Python's own.
@command("set", short_help="Change the live settings of a run.")
@click.argument("run")
@click.argument("patch", metavar="PATCH")
@click.option(
    "--scope",
    default=ROOT_MOUNT,
    metavar="MOUNT[#N]",
    help="An include's settings instead: of the invocation that goes on, or only of its Nth.",
)
@click.option("--expect", type=click.IntRange(min=0), metavar="N", help="Only if nothing changed since change N.")
def set_settings(call: Call, run: str, patch: str, scope: str, expect: int | None) -> int:
    """Apply a JSON Patch (JSON, @FILE or -) to the settings of RUN. Nodes that start later see it."""
    from lockgate.cli.values import json_value
    from lockgate.store import commands

    run_id = call.run_id(run)
    wish: Any = json_value(patch)
    actor = speaker()
    for _ in range(commands.MOST_TRIES):
        patched = call.read(partial(commands.patch_settings, run_id=run_id, patch=wish, actor=actor, scope=scope))
        change = partial(commands.change_settings, patched=patched, actor=actor, key=call.key, expected_change=expect)
        receipt = call.write(change)
        if not commands.is_overtaken(receipt, expect):
            break
    return report(call, receipt)
