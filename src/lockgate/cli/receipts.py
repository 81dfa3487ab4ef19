"""What became of a command, as one document or one sentence; its exit code follows from the outcome."""

from lockgate.cli.call import Call
from lockgate.cli.exits import code_of_outcome
from lockgate.model.ids import short_id
from lockgate.model.records import Receipt

_DONE = {
    "start": "queued",
    "answer": "answered",
    "submit": "submitted",
    "pause": "paused",
    "resume": "resumed",
    "cancel": "cancelled",
    "restart": "restarted",
    "resolve": "resolved",
    "resolveEffect": "resolved",
    "changeSettings": "set",
}


def report(call: Call, receipt: Receipt) -> int:
    """Prints the receipt and gives the exit code."""
    code = code_of_outcome(receipt.outcome)
    if call.as_json:
        from lockgate.view.documents import receipt_document

        call.document(receipt_document(receipt))
    elif code == 0:
        call.say(sentence(receipt))
    else:
        call.tell(f"lockgate: {sentence(receipt)}")
    return code


def sentence(receipt: Receipt) -> str:
    """`1a2b3c4d paused, revision 7`, or why it was not, and who won."""
    run = short_id(receipt.run_id) if receipt.run_id else "it was"
    if receipt.outcome in ("accepted", "adopted"):
        again = " already" if receipt.outcome == "adopted" else ""
        more = f" ({receipt.reason})" if receipt.reason else ""
        return f"{run} {_DONE.get(receipt.command, receipt.command)}{again}, revision {receipt.revision}{more}"
    won = receipt.winner
    if won is not None:
        from lockgate.view.documents import winner_document

        who = winner_document(won)
        return f"not recorded, {receipt.reason}: {who['choice'] or 'answered'} by {who['actor']} at {who['at']}"
    why = receipt.details.get("message") or receipt.reason or receipt.outcome
    if receipt.reason == "key_conflict":
        why = f"the key {receipt.key} was used for something else"
    return f"{run} not {_DONE.get(receipt.command, receipt.command)}: {why}"
