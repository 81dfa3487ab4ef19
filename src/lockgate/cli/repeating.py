"""A command given again with its key: what it was about is then known from its receipt.

Somebody who never read the reply sends the same line again. By then the run may wait for nothing any more, or
the workflow's file may be gone; the receipt of the first time is the answer all the same.
"""

import msgspec

from lockgate.cli.call import Call
from lockgate.model.errors import NotFound, StoreMissing
from lockgate.model.records import Receipt, RequestView


def request_of(call: Call, given: str, command: str) -> RequestView:
    """The request that was meant: its id, a unique start of its hex, or a run that has exactly one pending.

    A run means the request that this key decided before, whatever the run waits for now. Raises NotFound.
    """
    from lockgate.store import reads

    known = _of_run(call, given, command, "request_id")
    return call.read(lambda c: reads.request(c, known or reads.resolve_request_id(c, given)))


def effect_of(call: Call, given: str) -> str:
    """The effect that was meant: its id, a unique start of its hex, or a run that has exactly one unsure."""
    from lockgate.store import reads

    return _of_run(call, given, "resolveEffect", "effect_id") or call.read(reads.resolve_effect_id, given)


def of_key(call: Call) -> Receipt | None:
    """The receipt of the key that was given, whatever it was used for; None for one that is free."""
    from lockgate.store import reads

    if call.given_key is None:
        return None
    try:
        return call.read(reads.receipt, call.key)
    except StoreMissing:
        return None


def repeated(call: Call, command: str) -> Receipt | None:
    """The receipt of the key that was given, if this command used it before; taken then, it is adopted now."""
    found = of_key(call)
    if found is None or found.command != command:
        return None
    return msgspec.structs.replace(found, outcome="adopted") if found.outcome == "accepted" else found


def _of_run(call: Call, given: str, command: str, detail: str) -> str | None:
    known = repeated(call, command)
    if known is None:
        return None
    try:
        run_id = call.run_id(given)
    except NotFound:
        return None
    found: str | None = known.details.get(detail) if run_id == known.run_id else None
    return found
