"""Which code performs which kind of node, and what of it rides in the transaction that starts the attempt."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockgate.engine.kinds import agents, asking, effectful, passages, plain
from lockgate.engine.visit import Done, Visit, Waits
from lockgate.flow.authoring.includes import ExitNode, IncludeNode
from lockgate.flow.authoring.nodes import (
    ActionNode,
    AgentNode,
    CheckpointNode,
    ComputeNode,
    HumanDecisionNode,
    Node,
    NotifyNode,
    ShellNode,
)
from lockgate.flow.transitions import AnyProposal
from lockgate.model.records import Value


@dataclass(frozen=True, slots=True)
class Opening:
    """Proposals that need nothing but the definition. With `waits` the attempt waits once they are accepted."""

    proposals: tuple[AnyProposal, ...] = ()
    values: tuple[Value, ...] = ()
    waits: bool = False


def opening(node: Node, attempt_id: str) -> Opening:
    if isinstance(node, ActionNode | ShellNode):
        return Opening((effectful.opening(node, attempt_id),))
    if isinstance(node, CheckpointNode):
        wait = asking.checkpoint_opening(node, attempt_id)
        if wait is not None:
            return Opening((wait[0],), (wait[1],), waits=True)
    return Opening()


async def perform(visit: Visit, opened: Mapping[str, Any]) -> Done | Waits:
    """Does the node's work; `opened` is the result of its opening, where it has one."""
    match visit.node:
        case ComputeNode() as node:
            return await plain.compute(node, visit)
        case NotifyNode() as node:
            return await plain.notify(node, visit)
        case ActionNode() as node:
            return await effectful.action(node, visit, opened)
        case ShellNode() as node:
            return await effectful.shell(node, visit, opened)
        case CheckpointNode() as node:
            return await asking.checkpoint(node, visit)
        case HumanDecisionNode() as node:
            return await asking.human_decision(node, visit)
        case AgentNode(command=None) as node:
            return await asking.agent(node, visit)
        case AgentNode(command=command) as node if command is not None:
            return await agents.agent(node, command, visit)
        case IncludeNode() as node:
            return await passages.enter(node, visit)
        case ExitNode() as node:
            return await passages.leave(node, visit)
    raise AssertionError(f"no code for {visit.node!r}")
