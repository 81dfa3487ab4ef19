"""`demo`: a first look at everything, in a place of its own."""

from pathlib import Path

import click

from lockgate.cli.call import Call, need_terminal
from lockgate.cli.options import command


@command("demo", short_help="See it work, in a store of its own.")
@click.option("--dir", "directory", metavar="D", type=click.Path(path_type=Path), help="Make it in D, or go on there.")
@click.option("--no-dashboard", is_flag=True, help="Run it without a screen, until nothing moves any more.")
def demo(call: Call, directory: Path | None, no_dashboard: bool) -> int:
    """Make a small real project with five workflows, start them with a host in the background, and watch them."""
    from lockgate.cli.demonstration import demonstrate

    if "db" in call.flags:
        raise click.UsageError("the demo has a store of its own: --dir says where")
    if not no_dashboard:
        need_terminal("the demo's dashboard", "lockgate demo --no-dashboard does the same without a screen")
    return demonstrate(call, directory, dashboard=not no_dashboard)
