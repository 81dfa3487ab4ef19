"""`runs`, `show` and `events`: what there is, read once."""

import click

from lockgate.cli.call import Call
from lockgate.cli.options import command
from lockgate.model.errors import NotFound
from lockgate.model.statuses import RunStatus


@command("runs", short_help="List runs, newest first.")
@click.option("--status", "statuses", multiple=True, type=click.Choice([str(each) for each in RunStatus]))
@click.option("--filter", "text", metavar="F", help="As in the dashboard: text, state:, wf:, title: and so on.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
def runs(call: Call, statuses: tuple[str, ...], text: str | None, limit: int) -> None:
    """List the newest runs."""
    from lockgate.cli.listing import found_runs

    page = found_runs(call, statuses, text, limit)
    if call.as_json:
        from lockgate.view.documents import runs_document

        call.document(runs_document(page.rows, call.now(), page.next))
        return
    from lockgate.cli.showing import runs_text

    call.say(runs_text(page.rows, call.lens()))


@command("show", short_help="Print everything about a run.")
@click.argument("run")
def show(call: Call, run: str) -> None:
    """Print RUN: what it was given, what it did, what it waits for."""
    from lockgate.cli.listing import read_show
    from lockgate.view.documents import show_document

    detail, value = read_show(call, call.run_id(run))
    if call.as_json:
        call.document(show_document(detail, call.now(), value))
        return
    from lockgate.cli.showing import show_text

    call.say(show_text(detail, call.lens(), value))


@command("events", short_help="Print the trace of a run.")
@click.argument("run")
@click.option("--after", type=click.IntRange(min=0), default=0, metavar="SEQ", help="Only events after SEQ.")
@click.option("--follow", is_flag=True, help="Go on until the run is over.")
def events(call: Call, run: str, after: int, follow: bool) -> None:
    """Print the trace events of RUN, oldest first."""
    from lockgate.cli.following import follow_events, print_event, read_events

    run_id = _traced_run(call, run)
    if follow:
        follow_events(call, run_id, after)
        return
    for event in read_events(call, run_id, after):
        print_event(call, event)


def _traced_run(call: Call, given: str) -> str:
    """The run that was meant; one that was pruned is known by its whole id, and has its last event."""
    try:
        return call.run_id(given)
    except NotFound:
        from lockgate.store.audit import audited_run_id

        return call.read(audited_run_id, given)
