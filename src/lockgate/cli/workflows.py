"""Workflows as people name and read them on the command line."""

from collections.abc import Iterator

from lockgate.cli.tables import table
from lockgate.config.places import user_data
from lockgate.engine.checking import Checked, check
from lockgate.flow.graph import Graph


def checked(reference: str) -> Checked:
    """The workflow that `file.py[:name]` or a name stands for, loaded in a child with a time limit."""
    return check(reference, data_dir=user_data())


def graph_text(graph: Graph) -> str:
    """One row for each node: its kind, and where it leads."""
    rows = [
        (("▸ " if node == graph.start else "  ") + node, spec.kind, _ways(graph, node))
        for node, spec in graph.nodes.items()
    ]
    return f"{graph.name}\n{table(('  node', 'kind', 'leads to'), rows)}"


def mermaid(graph: Graph) -> str:
    """The graph for Mermaid; every label is quoted, so that no name is read as syntax."""
    number = {node: f"n{index}" for index, node in enumerate(graph.nodes)}
    lines = ["flowchart TD"]
    lines += [f'    {number[node]}["{_quoted(node)}: {spec.kind}"]' for node, spec in graph.nodes.items()]
    for node in graph.nodes:
        for case, target in _targets(graph, node):
            label = f'|"{_quoted(case)}"|' if case else ""
            lines.append(f"    {number[node]} -->{label} {number[target]}")
    return "\n".join(lines)


def _ways(graph: Graph, node: str) -> str:
    ways = [f"{case}: {target}" if case else target for case, target in _targets(graph, node)]
    return ", ".join(ways) or "(the end)"


def _targets(graph: Graph, node: str) -> Iterator[tuple[str, str]]:
    """(case, target) pairs; a straight edge has an empty case."""
    edge = graph.edge_from(node)
    if edge is None:
        return
    if edge.switch is not None:
        yield from edge.switch.cases.items()
    elif edge.to is not None:
        yield "", edge.to


def _quoted(text: str) -> str:
    return text.replace("&", "#amp;").replace('"', "#quot;").replace("\n", " ")
