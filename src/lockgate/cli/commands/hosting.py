"""`host`: the process that executes runs."""

import click

from lockgate.cli.call import Call
from lockgate.cli.options import command, setting


@command("host", short_help="Execute runs until stopped.")
@setting("--max-workers", metavar="N", help="How many runs execute at once. Default: 4.")
@setting(
    "--fork-server/--no-fork-server",
    help="Whether workers are forked by a process that is ready for it (Linux), or are each a new Python.",
)
@click.option("--drain", is_flag=True, help="End when nothing can be claimed any more.")
@click.option("--leash", is_flag=True, help="Also end when stdin ends: with whoever started it.")
def host(call: Call, drain: bool, leash: bool) -> int:
    """Claim runs, execute each in a worker process, and take the defaults of decisions whose deadline passed."""
    from lockgate.host import run_host

    slots = call.settings.max_workers
    what = f"host of {call.db}, {slots} runs at once" + (", until nothing can be claimed" if drain else "")
    return run_host(
        call.db,
        max_workers=slots,
        drain=drain,
        leash_fd=0 if leash else None,
        fork_server=call.settings.fork_server,
        on_begin=lambda: call.tell(what),
    )
