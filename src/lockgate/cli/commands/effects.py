"""`effects` and `resolve`: the declared side effects of a run, and a person's word about an unsure one."""

import click

from lockgate.cli.call import Call
from lockgate.cli.listing import MOST_ATTEMPTS
from lockgate.cli.options import command
from lockgate.cli.people import person
from lockgate.cli.receipts import report
from lockgate.cli.repeating import effect_of


@command("effects", short_help="List the side effects of a run.")
@click.argument("run")
def effects(call: Call, run: str) -> None:
    """List the declared side effects of RUN; an ambiguous one waits for `resolve`."""
    from lockgate.store import reads

    run_id = call.run_id(run)
    found = call.read(lambda connection: reads.run(connection, run_id, attempts_limit=MOST_ATTEMPTS)).effects
    if call.as_json:
        from lockgate.view.documents import effects_document

        call.document(effects_document(found))
        return
    from lockgate.cli.tables import table

    rows = [
        (
            effect.effect_id.removeprefix("effect-")[:8],
            effect.status,
            effect.effect_type,
            f"{effect.node_id}",
            effect.recovery,
        )
        for effect in found
    ]
    call.say(table(("effect", "status", "type", "node", "recovery"), rows) if rows else "No effects.")


@command("resolve", short_help="Say whether an unsure effect happened.")
@click.argument("effect")
@click.argument("verdict", type=click.Choice(["happened", "not-happened"]))
@click.option("--output", metavar="JSON|@FILE|-", help="What the node would have returned, if it happened.")
def resolve(call: Call, effect: str, verdict: str, output: str | None) -> int:
    """Record, as a person at a terminal, whether EFFECT happened; the first word counts."""
    from lockgate.cli.values import json_value
    from lockgate.model.encoding import MAX_OUTPUT_BYTES, checked
    from lockgate.store import commands

    happened = verdict == "happened"
    if output is not None and not happened:
        raise click.UsageError("--output belongs to happened")
    content = None if output is None else checked(json_value(output, limit=MAX_OUTPUT_BYTES), limit=MAX_OUTPUT_BYTES)
    human = person("resolve")
    effect_id = effect_of(call, effect)
    receipt = call.write(
        lambda tx: commands.resolve_effect(tx, effect_id, happened=happened, output=content, human=human, key=call.key)
    )
    return report(call, receipt)
