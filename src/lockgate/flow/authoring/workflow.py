"""The Workflow: a checked graph of nodes with their code."""

import sys
from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Any

import msgspec

from lockgate.flow.authoring.checks import check_graph
from lockgate.flow.authoring.includes import Exit, checked_exits, compiled
from lockgate.flow.authoring.nodes import Callback, ComputeNode, Node
from lockgate.flow.authoring.settings import Settings
from lockgate.flow.authoring.shapes import identifier, line, schema
from lockgate.flow.graph import VERSION, Edge, Graph, SettingsSpec
from lockgate.flow.titles import MAX_TITLE, check_title
from lockgate.model.errors import DefinitionError, PayloadError
from lockgate.model.ids import WORKFLOW_NAME

MAX_STEPS = 100
_MOST_STEPS = 1_000_000


class Workflow:
    """A durable workflow: nodes, the edges between them, and where it starts.

    Raises DefinitionError, naming the node or edge and the reason, when the graph cannot run. `file` is the
    file in which it was made, None where there is none (its source is then `inline:<name>`).

    `exits` are the ways out of it where another workflow includes it: a name for each node at which it ends.
    `nodes` and `edges` hold what it includes itself, too, compiled into one graph.

    `input` is the JSON Schema that an input must meet before there is a run, or a function of the input that
    refuses it by raising; what the function returns is not used, and nodes see the input as it was given. `title`
    is what a run is called where whoever starts it gives no title: a text, or a function of the input, whose text
    is made one line and cut at 500 characters; a restart keeps its parent's. Functions of the input, sync or
    async, run when a run is started, within 30 s together; one that fails refuses the start.
    """

    def __init__(
        self,
        name: str,
        *,
        start: str,
        nodes: Mapping[str, Node],
        edges: Iterable[Edge] = (),
        max_steps: int = MAX_STEPS,
        settings: Settings | None = None,
        exits: Mapping[str, str | Exit] | None = None,
        input: dict[str, Any] | bool | Callback | None = None,
        title: str | Callback | None = None,
    ) -> None:
        self.name = _checked_name(name)
        self.start = start
        own = _checked_nodes(nodes)
        whole = compiled(self.name, own, _checked_edges(edges))
        self.nodes, self.edges = whole.nodes, whole.edges
        self.max_steps = _checked_steps(max_steps)
        check_graph(self.start, own, self.nodes, self.edges)
        self.exits = checked_exits(exits or {}, self.nodes, self.edges)
        self.file = _file(sys._getframe(1))
        self.functions = _functions(input=input, settings=getattr(settings, "compute", None), title=title)
        self.graph = Graph(
            version=VERSION,
            name=self.name,
            start=self.start,
            max_steps=self.max_steps,
            nodes={node_id: node.spec for node_id, node in self.nodes.items()},
            edges=self.edges,
            settings=_settings_spec(settings, own),
            mounts=whole.mounts,
            input=None if "input" in self.functions else schema(input, "the input of a workflow"),
            title=None if "title" in self.functions else _checked_title(title),
            computed=tuple(self.functions),
        )

    def document(self) -> dict[str, Any]:
        """The graph as plain JSON data, without code; its digest tells whether the graph changed."""
        built: dict[str, Any] = msgspec.to_builtins(self.graph)
        return built

    def __repr__(self) -> str:
        return f"<Workflow {self.name!r}: {len(self.nodes)} nodes>"


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or WORKFLOW_NAME.fullmatch(name) is None:
        raise DefinitionError(f"a workflow's name must match {WORKFLOW_NAME.pattern}, got {name!r}")
    return name


def _checked_nodes(nodes: Any) -> dict[str, Node]:
    if not isinstance(nodes, Mapping) or not nodes:
        raise DefinitionError("a workflow needs nodes: a map from node id to node")
    for node_id, node in nodes.items():
        identifier(node_id, "a node id")
        if not isinstance(node, Node):
            raise DefinitionError(f"made by compute, shell, human_decision ..., got {node!r}", node=node_id)
    return dict(nodes)


def _checked_edges(edges: Any) -> tuple[Edge, ...]:
    if isinstance(edges, Edge | str) or not isinstance(edges, Iterable):
        raise DefinitionError(f"edges must be a list of edges, got {edges!r}")
    found = tuple(edges)
    for edge in found:
        if not isinstance(edge, Edge):
            raise DefinitionError(f"an edge is made by edge, switch_edge or decision_edge, got {edge!r}")
    return found


def _checked_steps(max_steps: Any) -> int:
    if isinstance(max_steps, bool) or not isinstance(max_steps, int) or not 1 <= max_steps <= _MOST_STEPS:
        raise DefinitionError(f"max_steps must be 1 to {_MOST_STEPS}, got {max_steps!r}")
    return max_steps


def _settings_spec(settings: Any, nodes: Mapping[str, Node]) -> SettingsSpec | None:
    routes = tuple(name for name, node in nodes.items() if isinstance(node, ComputeNode) and node.settings_route)
    if settings is None:
        if routes:
            raise DefinitionError("a settings route needs a workflow with settings", node=routes[0])
        return None
    if not isinstance(settings, Settings):
        raise DefinitionError(f"settings are made by settings(...), got {settings!r}")
    return SettingsSpec(initial=settings.initial, schema=settings.schema, rules=settings.rules, routes=routes)


def _checked_title(title: Any) -> str | None:
    if title is None:
        return None
    try:
        check_title(line(title, "a title", limit=MAX_TITLE))
    except PayloadError as problem:
        raise DefinitionError(f"a title must have {problem.limit}, got {problem.observed}") from problem
    return str(title)


def _functions(**given: Any) -> dict[str, Callback]:
    """Those of the given that are functions of the input, by name."""
    return {name: value for name, value in given.items() if callable(value)}


def _file(caller: FrameType) -> str | None:
    file = caller.f_globals.get("__file__")
    return file if isinstance(file, str) else None
