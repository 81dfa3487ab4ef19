"""An agent that is a command: the prompt goes to its stdin, its stdout is the output."""

from typing import Any

from lockgate.engine.failures import NodeFailed
from lockgate.engine.kinds import asking, shells
from lockgate.engine.values import value_of
from lockgate.engine.visit import Done, Visit
from lockgate.flow.authoring.nodes import AgentNode, Command
from lockgate.model.encoding import MAX_OUTPUT_BYTES, parsed
from lockgate.model.errors import PayloadError


async def agent(node: AgentNode, command: Command, visit: Visit) -> Done:
    prompt = await visit.text(node.prompt)
    if not isinstance(prompt, str) or not prompt.strip():
        raise NodeFailed("RequestError", f"a prompt is a non-blank text, got {prompt!r}"[:500])
    prompt_hash = await asking.sent(visit, prompt)
    result = await shells.run(command, visit, stdin=prompt.encode())
    output = _output(node, result)
    if node.validate is not None:
        checked = await visit.call(node.validate, output, visit.context)
        output = output if checked is None else checked
    return Done(value_of(output), prompt_hash)


def _output(node: AgentNode, result: dict[str, Any]) -> Any:
    """JSON where the node has a schema, else text."""
    text: str = result["stdout"].strip()
    if node.output is None:
        return text
    try:
        return parsed(text, limit=MAX_OUTPUT_BYTES)
    except PayloadError as problem:
        raise NodeFailed("AgentOutput", f"stdout is not the JSON asked for: {problem.message}", result) from problem
