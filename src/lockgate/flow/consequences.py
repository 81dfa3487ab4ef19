"""What a choice leads to, in words read from the graph: `publish → done`, `notes → approve, asks again`."""

from lockgate.flow.graph import Graph
from lockgate.model.statuses import NodeKind, Outcome

RUN_ENDS = "the run ends"
"""How a consequence begins that leads to nothing more than a last computation, which it names after a colon."""

_SHOWN = 6
_ASKS = {NodeKind.HUMAN_DECISION: "asks", NodeKind.CHECKPOINT: "waits for input"}


def consequence(graph: Graph, decision: str, choice: str) -> str:
    """The way from a decision's choice to the next place where the graph ends, asks or forks, as one line."""
    first = graph.next(decision, Outcome.OK, choice)
    if first is None:
        return RUN_ENDS
    if graph.edge_from(first) is None and graph.node(first).kind is NodeKind.COMPUTE:
        return f"{RUN_ENDS}: {first}"
    walked: list[str] = []
    node: str | None = first
    while node is not None:
        if node in walked:
            return f"{_chain(walked)} → {node}, goes round"
        walked.append(node)
        if node == decision:
            return f"{_chain(walked)}, asks again"
        asks = _ASKS.get(graph.node(node).kind)
        if asks:
            return f"{_chain(walked)}, {asks}"
        edge = graph.edge_from(node)
        if edge is not None and edge.switch is not None:
            return f"{_chain(walked)} → {' or '.join(edge.targets)}"
        node = edge.to if edge is not None else None
    return f"{_chain(walked)} → done"


def consequences(graph: Graph, decision: str) -> dict[str, str]:
    """The consequence of every choice of a decision node, by choice key."""
    return {choice.key: consequence(graph, decision, choice.key) for choice in graph.node(decision).choices}


def _chain(walked: list[str]) -> str:
    if len(walked) <= _SHOWN:
        return " → ".join(walked)
    return " → ".join([*walked[: _SHOWN - 1], "…", walked[-1]])
