"""What makes a graph runnable, checked once when a Workflow is made."""

from collections.abc import Mapping, Sequence

from lockgate.flow.authoring.edges import CHOICE
from lockgate.flow.authoring.nodes import HumanDecisionNode, Node
from lockgate.flow.graph import Edge, reachable
from lockgate.model.errors import DefinitionError


def check_graph(start: str, own: Mapping[str, Node], nodes: Mapping[str, Node], edges: Sequence[Edge]) -> None:
    """Raises DefinitionError for the first thing that is wrong, naming the node or the edge.

    `own` are the nodes that the author named, `nodes` also those that are included.
    """
    if start not in own:
        raise DefinitionError(f"the start {start!r} is not a node")
    _check_ends(nodes, edges)
    _check_single(edges)
    for edge in edges:
        _check_choices(nodes, edge)
    _check_reached(start, nodes, edges)


def _check_ends(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> None:
    for edge in edges:
        if edge.source not in nodes:
            targets = ", ".join(edge.targets)
            raise DefinitionError(f"the edge {edge.source} → {targets} starts at an unknown node {edge.source!r}")
        for target in edge.targets:
            if target not in nodes:
                raise DefinitionError(
                    f"the edge {edge.source} → {target} leads to an unknown node {target!r}", node=edge.source
                )


def _check_single(edges: Sequence[Edge]) -> None:
    seen: dict[str, Edge] = {}
    for edge in edges:
        first = seen.setdefault(edge.source, edge)
        if first is not edge:
            raise DefinitionError(
                f"two outgoing edges, to {', '.join(first.targets)} and to {', '.join(edge.targets)}; "
                "a node has at most one",
                node=edge.source,
            )


def _check_choices(nodes: Mapping[str, Node], edge: Edge) -> None:
    node_id, node = edge.source, nodes[edge.source]
    if not isinstance(node, HumanDecisionNode) or edge.switch is None or edge.switch.on != CHOICE:
        return
    keys = {choice.key for choice in node.choices}
    for key in keys - edge.switch.cases.keys():
        raise DefinitionError(f"the choice {key!r} has no edge", node=node_id)
    for case in edge.switch.cases.keys() - keys:
        raise DefinitionError(f"the edge has a case {case!r}, which is not a choice", node=node_id)


def _check_reached(start: str, nodes: Mapping[str, Node], edges: Sequence[Edge]) -> None:
    reached = reachable(start, edges)
    missed = [node_id for node_id in nodes if node_id not in reached]
    if missed:
        raise DefinitionError(f"no edge leads here from the start {start!r}", node=missed[0])
