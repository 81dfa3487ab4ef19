"""Workflows as people name and read them on the command line."""

from collections.abc import Iterator

from lockgate.cli.tables import table
from lockgate.config.places import user_data
from lockgate.engine.checking import Checked, check
from lockgate.flow.definition import Given
from lockgate.flow.graph import Graph
from lockgate.flow.mounts import exit_of, mount_of
from lockgate.model.encoding import stored
from lockgate.model.ids import ROOT_MOUNT

MOST_SHOWN = 300


def checked(reference: str, given: Given | None = None) -> Checked:
    """The workflow that `file.py[:name]` or a name stands for, loaded in a child with a time limit.

    Raises NotFound, DefinitionError with file, node and reason, and Refused for an input that it does not take.
    """
    return check(reference, data_dir=user_data(), given=given)


def takes(graph: Graph) -> str | None:
    """What the workflow says about its input, on one line; None where it takes any."""
    if "input" in graph.computed:
        return "checked by a function"
    if graph.input is None:
        return None
    text = stored(graph.input).decode()
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def called(graph: Graph) -> str | None:
    """What a run of it is called where nobody names it."""
    return "made from the input" if "title" in graph.computed else graph.title


def graph_text(graph: Graph) -> str:
    """One row for each node: its kind, and where it leads."""
    rows = [
        (("▸ " if node == graph.start else "  ") + node, _kind(graph, node), _ways(graph, node))
        for node in _in_order(graph)
    ]
    says = takes(graph)
    head = graph.name if says is None else f"{graph.name}, input {says}"
    return f"{head}\n{table(('  node', 'kind', 'leads to'), rows)}"


def mermaid(graph: Graph) -> str:
    """The graph for Mermaid; every label is quoted, so that no name is read as syntax."""
    number = {node: f"n{index}" for index, node in enumerate(_in_order(graph))}
    lines = ["flowchart TD", *_block(graph, number, ROOT_MOUNT, 1)]
    for node in number:
        for case, target in _targets(graph, node):
            label = f'|"{_quoted(case)}"|' if case else ""
            lines.append(f"    {number[node]} -->{label} {number[target]}")
    return "\n".join(lines)


def _block(graph: Graph, number: dict[str, str], mount: str, depth: int) -> Iterator[str]:
    """The nodes of a workflow, and a subgraph for each that it includes."""
    indent = "    " * depth
    for node, name in number.items():
        if mount_of(node) != mount:
            continue
        yield f'{indent}{name}["{_quoted(node)}: {_quoted(_kind(graph, node))}"]'
        if node in graph.mounts:
            yield f'{indent}subgraph m{name}["{_quoted(node)}"]'
            yield from _block(graph, number, node, depth + 1)
            yield f"{indent}end"


def _kind(graph: Graph, node: str) -> str:
    if node in graph.mounts:
        return f"include {graph.mounts[node].workflow}"
    return "exit" if exit_of(node) is not None else str(graph.node(node).kind)


def _in_order(graph: Graph) -> list[str]:
    """The nodes as a run may come to them: the stored document keeps no order of its own."""
    found = [graph.start]
    for node in found:
        found.extend(target for _, target in _targets(graph, node) if target not in found)
    return found


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
