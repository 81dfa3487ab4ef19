"""What became of each candidate answer, in words: receipts as people read them."""

from typing import TYPE_CHECKING

from lockgate.model.records import Receipt, SubmissionRow
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
_REASONS = {
    "stale": "not recorded: the request changed since you saw it",
    "already_resolved": "not recorded: it was decided before",
    "expired": "not recorded: its time was over",
    "run_closed": "not recorded: the run is over",
    "paused": "not recorded: the run is paused",
    "not_allowed": "not recorded: the policy does not let you",
    "invalid_input": "not recorded: the text does not fit",
    "key_conflict": "not done: the key was used for something else",
}


def receipts_of(connection: "sqlite3.Connection", request_id: str) -> list[str]:
    """One line for each submission of a request, in their order."""
    rows = reads.submissions(connection, request_id)
    return [clean(_line(row, number, len(rows))) for number, row in enumerate(rows, start=1)]


def _line(row: SubmissionRow, number: int, count: int) -> str:
    who = "its deadline" if row.actor_kind is ActorKind.POLICY else row.actor_id
    place = f" from {seat(row.channel)}" if row.channel else ""
    return f"{_OUTCOMES[SubmissionOutcome(row.outcome)]}, submission {number} of {count} by {who}{place}"


def receipt_words(receipt: Receipt) -> str:
    """One sentence for the status line: what a command did, or why it did nothing."""
    if receipt.outcome in ("accepted", "adopted"):
        done = {
            "answer": "recorded",
            "submit": "submitted",
            "pause": "paused",
            "resume": "resumed",
            "cancel": "cancelled",
            "restart": "restarted",
            "resolveEffect": "recorded",
        }.get(receipt.command, f"{receipt.command} done")
        return done if receipt.outcome == "accepted" else f"{done} before"
    if receipt.outcome == "not_found":
        return "there is no such run or request any more"
    message = receipt.details.get("message")
    if receipt.reason in _REASONS:
        return _REASONS[receipt.reason]
    return clean(str(message or receipt.reason or receipt.outcome))
