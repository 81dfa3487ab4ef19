"""The ways into and out of an included workflow: what goes in is the child's input, what comes out {exit, output}."""

import msgspec

from lockgate.engine.values import value_of
from lockgate.engine.visit import Done, Visit
from lockgate.flow.authoring.includes import ExitNode, IncludeNode
from lockgate.flow.patches import MAX_SETTINGS_BYTES
from lockgate.model.encoding import MAX_VALUE_BYTES


async def enter(node: IncludeNode, visit: Visit) -> Done:
    given = await visit.call(node.input, visit.context) if callable(node.input) else node.input
    input = value_of(given, "$input", limit=MAX_VALUE_BYTES)
    functions = node.child.functions
    if "input" in functions:
        await visit.call(functions["input"], msgspec.json.decode(input.content))
    spec, settings = node.child.graph.settings, None
    if spec is not None:
        computed = "settings" in functions
        first = (
            await visit.call(functions["settings"], msgspec.json.decode(input.content)) if computed else spec.initial
        )
        settings = value_of(first, "$settings", limit=MAX_SETTINGS_BYTES)
    return Done(input, settings=settings)


async def leave(node: ExitNode, visit: Visit) -> Done:
    return Done(value_of({"exit": node.exit, "output": visit.context.outputs[node.source]}))
