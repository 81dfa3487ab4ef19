"""The ways into and out of an included workflow: what goes in is the child's input, what comes out {exit, output}."""

import msgspec

from lockgate.engine.values import value_of
from lockgate.engine.visit import Done, Visit
from lockgate.flow.authoring.includes import ExitNode, IncludeNode
from lockgate.model.encoding import MAX_VALUE_BYTES, checked, sha256
from lockgate.model.records import Value


async def enter(node: IncludeNode, visit: Visit) -> Done:
    given = await visit.call(node.input, visit.context) if callable(node.input) else node.input
    content = checked(given, limit=MAX_VALUE_BYTES, root="$input")
    if "input" in node.child.functions:
        await visit.call(node.child.functions["input"], msgspec.json.decode(content))
    return Done(Value(hash=sha256(content), content=content))


async def leave(node: ExitNode, visit: Visit) -> Done:
    return Done(value_of({"exit": node.exit, "output": visit.context.outputs[node.source]}))
