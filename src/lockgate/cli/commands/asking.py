"""`decisions` and `requests`: what waits for somebody."""

from lockgate.cli.call import Call
from lockgate.cli.options import command
from lockgate.model.records import RequestView


@command("decisions", short_help="List the decisions that wait for a person.")
def decisions(call: Call) -> None:
    """List the pending human decisions, least time left first."""
    _list(call, decisions_only=True)


@command("requests", short_help="List everything that waits for an answer.")
def requests(call: Call) -> None:
    """List the pending decisions, checkpoints and agent requests, least time left first."""
    _list(call, decisions_only=False)


def _list(call: Call, *, decisions_only: bool) -> None:
    from lockgate.store import reads

    found: list[RequestView] = list(call.read(reads.decisions if decisions_only else reads.pending_requests))
    found.sort(key=lambda request: (request.deadline_at is None, request.deadline_at or request.created_at))
    if call.as_json:
        from lockgate.view.documents import requests_document

        call.document(requests_document(found, call.now()))
        return
    call.say(_table(call, found) if found else "Nothing needs you.")


def _table(call: Call, found: list[RequestView]) -> str:
    from lockgate.cli.questions import time_left
    from lockgate.cli.tables import table
    from lockgate.model.ids import short_id

    lens = call.lens()
    rows = [
        (
            request.request_id.partition("-")[2][:8],
            request.kind,
            short_id(request.run_id),
            request.workflow,
            "paused" if request.paused else time_left(request, lens),
            request.title,
        )
        for request in found
    ]
    return table(("id", "kind", "run", "workflow", "time left", "question"), rows)
