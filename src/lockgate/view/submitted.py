"""What became of each candidate answer, in words."""

from typing import TYPE_CHECKING

from lockgate.model.records import SubmissionRow
from lockgate.model.statuses import ActorKind, SubmissionOutcome
from lockgate.model.text import clean
from lockgate.store import reads
from lockgate.view.shown import seat

if TYPE_CHECKING:
    import sqlite3

_OUTCOMES = {
    SubmissionOutcome.ACCEPTED: "accepted",
    SubmissionOutcome.ALREADY_RESOLVED: "not recorded, already decided",
    SubmissionOutcome.EXPIRED: "not recorded, its time was over",
    SubmissionOutcome.RUN_CLOSED: "not recorded, the run was over",
}


def receipts_of(connection: "sqlite3.Connection", request_id: str) -> list[str]:
    """One line for each submission of a request, in their order."""
    rows = reads.submissions(connection, request_id)
    return [clean(_line(row, number, len(rows))) for number, row in enumerate(rows, start=1)]


def _line(row: SubmissionRow, number: int, count: int) -> str:
    who = "its deadline" if row.actor_kind is ActorKind.POLICY else row.actor_id
    place = f" from {seat(row.channel)}" if row.channel else ""
    return f"{_OUTCOMES[SubmissionOutcome(row.outcome)]}, submission {number} of {count} by {who}{place}"
