"""`watch`: one run in plain lines, until it is over."""

import click

from lockgate.cli.call import Call
from lockgate.cli.exits import OK
from lockgate.cli.options import command


@command("watch", short_help="Watch one run in plain lines.")
@click.argument("run")
@click.option("--exit-status", is_flag=True, help="Exit 3 unless the run completed.")
def watch(call: Call, run: str, exit_status: bool) -> int:
    """Print what happens to RUN until it is over; nothing but lines, so it works over any connection."""
    from lockgate.cli.following import exit_code, follow_events
    from lockgate.view.situations import phrase

    found = follow_events(call, call.run_id(run), 0)
    if found is not None and not call.as_json:
        call.say(f"{found.workflow}: {phrase(found, call.lens())}")
    return exit_code(found) if exit_status else OK
