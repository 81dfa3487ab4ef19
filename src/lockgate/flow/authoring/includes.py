"""Workflows inside workflows: how an author includes one, and how its nodes become the parent's.

The child is there before the parent is made, so that the whole graph is known at once, and compiled into one flat
graph. flow.mounts says how the ids tell where a node belongs.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace

from lockgate.flow.authoring.nodes import Node
from lockgate.flow.authoring.shapes import identifier
from lockgate.flow.authoring.shapes import schema as checked_schema
from lockgate.flow.graph import Edge, Mount, NodeSpec, SettingsSpec
from lockgate.flow.mounts import MAX_ID_CHARS, exit_id, line_of, local_id
from lockgate.model.encoding import checked
from lockgate.model.errors import DefinitionError, PayloadError
from lockgate.model.statuses import NodeKind

if TYPE_CHECKING:
    from lockgate.flow.authoring.workflow import Workflow

_MOST_NODES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IncludeNode(Node):
    """What `include(...)` makes: the entry of the included workflow. `input` is a JSON value or a function."""

    kind: ClassVar[NodeKind] = NodeKind.COMPUTE
    child: "Workflow"
    input: Any

    @property
    def spec(self) -> NodeSpec:
        return self._spec(contract=self.child.graph.input)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitNode(Node):
    """An exit of an included workflow: takes out what its node `source` made."""

    kind: ClassVar[NodeKind] = NodeKind.COMPUTE
    exit: str
    source: str
    output: dict[str, Any] | bool | None

    @property
    def spec(self) -> NodeSpec:
        return self._spec(contract=self.output)


@dataclass(frozen=True, slots=True)
class Exit:
    """What `exit_at(...)` makes."""

    node: str
    output: dict[str, Any] | bool | None = None


def include(workflow: "Workflow", *, input: Any = None) -> IncludeNode:
    """Includes another workflow under the id that it has in `nodes`: edges lead to `review`, and on from `review.done`.

    `input` is the child's input: a JSON value, or a function of the parent's context that gives it. The child sees
    only what is its own: its input, the outputs and steps of this invocation, its settings. The parent sees
    {"exit": name, "output": ...} at ctx.outputs["review"]. An input that the child does not take fails the entry,
    and with it the run. The child's steps count for its own max_steps and for those of whoever includes it.
    """
    from lockgate.flow.authoring.workflow import Workflow

    if not isinstance(workflow, Workflow):
        raise DefinitionError(f"include takes a Workflow, got {workflow!r}")
    if not callable(input):
        try:
            checked(input, root="$input")
        except PayloadError as problem:
            raise DefinitionError(f"the input of the include of {workflow.name!r}: {problem.message}") from problem
    return IncludeNode(child=workflow, input=input)


def fixed_inputs(nodes: Mapping[str, Node]) -> dict[str, Any]:
    """What each include is given by a compiled workflow, where that is no function."""
    entries = ((mount, node.input) for mount, node in nodes.items() if isinstance(node, IncludeNode))
    return {mount: input for mount, input in entries if not callable(input)}


def exit_at(node: str, *, output: dict[str, Any] | bool | None = None) -> Exit:
    """An exit, where the output of `node` has to meet a JSON Schema; without one the node's id says the same."""
    return Exit(node, checked_schema(output, "the output of an exit"))


@dataclass(frozen=True, slots=True)
class Compiled:
    """The flat graph: the author's own nodes and edges, and everything that is included."""

    nodes: dict[str, Node]
    edges: tuple[Edge, ...]
    mounts: dict[str, Mount] = field(default_factory=dict)


def compiled(name: str, nodes: Mapping[str, Node], edges: Iterable[Edge]) -> Compiled:
    """Puts what is included into the graph of the workflow `name`. Raises DefinitionError."""
    flat, ways, mounts = dict(nodes), list(edges), dict[str, Mount]()
    included = {mount: node for mount, node in nodes.items() if isinstance(node, IncludeNode)}
    for edge in ways:
        _check_edge(edge, included)
    for mount, node in included.items():
        _check_child(name, mount, node.child)
        _put(mount, node.child, flat, ways, mounts)
    if len(flat) > _MOST_NODES:
        raise DefinitionError(f"with what it includes it has {len(flat)} nodes, at most {_MOST_NODES}")
    return Compiled(flat, tuple(ways), mounts)


def checked_exits(given: Any, nodes: Mapping[str, Node], edges: Iterable[Edge]) -> dict[str, Exit]:
    """The exits of a workflow: each is one of the places where its graph ends."""
    if not isinstance(given, Mapping):
        raise DefinitionError(f"exits must be a map from exit to node id, got {given!r}")
    ways = {edge.source: edge for edge in edges}
    exits: dict[str, Exit] = {}
    for name, said in given.items():
        identifier(name, "an exit")
        exit = said if isinstance(said, Exit) else Exit(said)
        _check_exit(name, exit.node, nodes, ways)
        twin = next((known for known, other in exits.items() if other.node == exit.node), None)
        if twin is not None:
            raise DefinitionError(f"the exits {twin!r} and {name!r} both name this node", node=exit.node)
        exits[name] = exit
    return exits


def _check_exit(name: str, node_id: Any, nodes: Mapping[str, Node], ways: Mapping[str, Edge]) -> None:
    node = nodes.get(node_id) if isinstance(node_id, str) and "/" not in node_id else None
    if node is None:
        raise DefinitionError(f"the exit {name!r} names {node_id!r}, which is not a node")
    if isinstance(node, IncludeNode):
        known = ", ".join(repr(exit_id(node_id, exit)) for exit in node.child.exits)
        raise DefinitionError(f"the exit {name!r} names an include: name one of its own exits, {known}", node=node_id)
    if node_id in ways:
        targets = ", ".join(ways[node_id].targets)
        raise DefinitionError(f"the exit {name!r} names a node that leads on, to {targets}", node=node_id)


def _check_edge(edge: Edge, included: Mapping[str, IncludeNode]) -> None:
    """A parent goes in by the mount and out by its exits; the nodes inside are the child's own."""
    shown = f"the edge {edge.source} → {', '.join(edge.targets)}"
    node = included.get(edge.source)
    if node is not None:
        raise DefinitionError(f"{shown} leaves an include without an exit: {_exits(edge.source, node)}")
    mount, dot, exit = edge.source.partition(".")
    if dot and mount in included and exit not in included[mount].child.exits:
        known = _exits(mount, included[mount])
        raise DefinitionError(f"{shown} names an exit {exit!r} that {mount!r} has not: {known}")
    if dot and mount in included and edge.switch is not None and edge.switch.on.startswith("$result."):
        raise DefinitionError(f"{shown} switches on {edge.switch.on}: an exit that fails ends the run")
    for place in (edge.source, *edge.targets):
        inside = place.partition("/")[0]
        if "/" in place and inside in included:
            known = _exits(inside, included[inside])
            raise DefinitionError(
                f"{shown} names {place!r}, a node inside an include: in by {inside!r}, out by {known}"
            )
    for target in edge.targets:
        mount, dot, _ = target.partition(".")
        if dot and mount in included:
            raise DefinitionError(f"{shown} leads to an exit of {mount!r}: in by {mount!r}")


def _exits(mount: str, node: IncludeNode) -> str:
    return ", ".join(repr(exit_id(mount, exit)) for exit in node.child.exits) or "it has none"


def _check_child(name: str, mount: str, child: "Workflow") -> None:
    chain = _chain(name, child)
    if chain is not None:
        raise DefinitionError(f"the workflow includes itself: {' → '.join(chain)}", node=mount)
    if not child.exits:
        raise DefinitionError(f"the workflow {child.name!r} has no exits, so nothing can include it", node=mount)
    taken = {exit.node for exit in child.exits.values()}
    left = set(child.nodes) - taken - {edge.source for edge in child.edges}
    if left:
        reason = f"the workflow {child.name!r} ends at {min(left)!r} too, which is none of its exits"
        raise DefinitionError(f"{reason}: {', '.join(map(repr, child.exits))}", node=mount)


def _chain(name: str, child: "Workflow") -> list[str] | None:
    """How a workflow of this name comes to include one of the same name; None where it does not."""
    if child.name == name:
        return [name, name]
    mounts = child.graph.mounts
    path = next((path for path, mount in mounts.items() if mount.workflow == name), None)
    return None if path is None else [name, child.name, *(mounts[part].workflow for part in line_of(path))]


def _put(mount: str, child: "Workflow", flat: dict[str, Node], ways: list[Edge], mounts: dict[str, Mount]) -> None:
    def inside(node_id: str) -> str:
        return f"{mount}/{node_id}"

    ways.append(Edge(source=mount, to=inside(child.start)))
    ways.extend(_moved(edge, inside) for edge in child.edges)
    for node_id, node in child.nodes.items():
        flat[_short(inside(node_id))] = node
    for name, exit in child.exits.items():
        way_out = exit_id(mount, name)
        flat[_short(way_out)] = ExitNode(exit=name, source=local_id(exit.node), output=exit.output)
        ways.append(Edge(source=inside(exit.node), to=way_out))
    mounts[mount] = Mount(
        workflow=child.name,
        max_steps=child.max_steps,
        exits={name: inside(exit.node) for name, exit in child.exits.items()},
        settings=_settings(child.graph.settings, inside),
        computed="settings" in child.functions,
    )
    for path, nested in child.graph.mounts.items():
        exits = {name: inside(node_id) for name, node_id in nested.exits.items()}
        mounts[inside(path)] = replace(nested, exits=exits, settings=_settings(nested.settings, inside))


def _moved(edge: Edge, inside: Callable[[str], str]) -> Edge:
    switch = edge.switch
    if switch is not None:
        switch = replace(switch, cases={case: inside(target) for case, target in switch.cases.items()})
    return Edge(source=inside(edge.source), to=None if edge.to is None else inside(edge.to), switch=switch)


def _settings(spec: SettingsSpec | None, inside: Callable[[str], str]) -> SettingsSpec | None:
    if spec is None:
        return None
    return replace(spec, routes=tuple(inside(node_id) for node_id in spec.routes))


def _short(node_id: str) -> str:
    if len(node_id) > MAX_ID_CHARS:
        raise DefinitionError(f"an included node's id has at most {MAX_ID_CHARS} characters, got {len(node_id)}")
    return node_id
