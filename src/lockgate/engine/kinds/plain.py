"""Nodes that only compute or tell."""

from lockgate.engine.failures import NodeFailed
from lockgate.engine.values import value_of
from lockgate.engine.visit import Done, Visit
from lockgate.flow.authoring.nodes import ComputeNode, NotifyNode
from lockgate.flow.transitions import RecordNotice

_SUMMARY = 200


async def compute(node: ComputeNode, visit: Visit) -> Done:
    return Done(value_of(await visit.call(node.function, visit.context)))


async def notify(node: NotifyNode, visit: Visit) -> Done:
    message = await visit.text(node.message)
    if not isinstance(message, str) or not message.strip():
        raise NodeFailed("NotifyError", f"a message is a non-blank text, got {message!r}"[:500])
    value = value_of({"message": message})
    await visit.journal.commit(
        RecordNotice(
            attempt_id=visit.attempt_id,
            message_hash=value.hash,
            summary=message.strip().splitlines()[0][:_SUMMARY],
        ),
        values=(value,),
    )
    return Done(value)
