"""The graph of a workflow as data: what a definition document holds, decoded, and the one rule of routing.

A document has no code in it; it is stored with the run, and everything that asks "what comes next" asks here:
the law's route checks, the runner, the consequences on a decision's card.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from lockgate.flow.choices import Choice, Default
from lockgate.flow.mounts import exit_of, line_of, mount_of
from lockgate.flow.patches import SettingsRule
from lockgate.model.errors import DefinitionError, RouteError
from lockgate.model.ids import ROOT_MOUNT
from lockgate.model.statuses import NodeKind, Outcome, Recovery

VERSION = 1
_REMEMBERED = 256


class EffectSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """The declared side effect of an action or shell node."""

    type: str
    recovery: Recovery


class NodeSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """One node as data.

    `timeout_ms` counts working time, null is unlimited; with `timeout_computed` the worker sets it once the
    attempt runs. `audience` and `default` of a human decision are null where a function computes them.
    `contract` is the JSON Schema that an output must meet.
    """

    kind: NodeKind
    timeout_ms: int | None = None
    timeout_computed: bool = False
    effect: EffectSpec | None = None
    summary: str | None = None
    audience: str | None = None
    choices: tuple[Choice, ...] = ()
    default: Default | None = None
    contract: dict[str, Any] | bool | None = None
    commanded: bool = False


class Switch(Struct, frozen=True, forbid_unknown_fields=True):
    """Routes by the string form of one scalar: `on` is `$.a.b`, `$output.a.b` or `$result.outcome`."""

    on: str
    cases: dict[str, str]


class Edge(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Leads on from one node: straight to `to`, or by `switch`; exactly one of them is set."""

    source: str = msgspec.field(name="from")
    to: str | None = None
    switch: Switch | None = None

    @property
    def targets(self) -> tuple[str, ...]:
        """Every node that this edge can lead to, each once, in declared order."""
        if self.switch is None:
            return (self.to,) if self.to is not None else ()
        return tuple(dict.fromkeys(self.switch.cases.values()))


class SettingsSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """Live settings: what they are at first, the JSON Schema that every change must meet, and who may change what.

    `initial` is null where a function of the input gives it. `routes` are the compute nodes whose decision must have
    seen the newest settings.
    """

    initial: Any
    schema: dict[str, Any] | bool | None
    rules: tuple[SettingsRule, ...]
    routes: tuple[str, ...] = ()


class Mount(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An included workflow: `exits` maps each exit to the node whose output it takes out.

    `max_steps` limits one invocation. The nodes stand among the graph's own, under the mount's path. With
    `computed` the first settings are a function of the input.
    """

    workflow: str
    max_steps: int
    exits: dict[str, str]
    settings: SettingsSpec | None = None
    computed: bool = False


class Graph(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, dict=True):
    """A whole definition; `version` is the document's form. A node without an outgoing edge ends the run.

    `mounts` are the included workflows by their path, at every depth. `input` is the JSON Schema that an input must
    meet, `title` what a run is called where nobody names it. `computed` names what functions make of the input:
    input (they take or refuse it), settings, title.
    """

    version: int
    name: str
    start: str
    max_steps: int
    nodes: dict[str, NodeSpec]
    edges: tuple[Edge, ...]
    settings: SettingsSpec | None = None
    mounts: dict[str, Mount] = {}
    input: dict[str, Any] | bool | None = None
    title: str | None = None
    computed: tuple[str, ...] = ()

    @property
    def begins_with_input(self) -> bool:
        """Whether a run of it can begin only from an input that was looked at."""
        return self.input is not None or self.title is not None or bool(self.computed)

    def __post_init__(self) -> None:
        self.__dict__["_outgoing"] = {edge.source: edge for edge in self.edges}

    def node(self, node_id: str) -> NodeSpec:
        """Raises RouteError for a node that the graph does not have."""
        try:
            return self.nodes[node_id]
        except KeyError:
            raise RouteError(node_id, "the graph has no such node") from None

    def settings_of(self, mount: str) -> SettingsSpec | None:
        """What the root workflow, or an included one, declares of settings."""
        return self.settings if mount == ROOT_MOUNT else self.mounts[mount].settings

    def max_steps_of(self, mount: str) -> int:
        return self.max_steps if mount == ROOT_MOUNT else self.mounts[mount].max_steps

    def is_settings_route(self, node_id: str) -> bool:
        settings = self.settings_of(mount_of(node_id))
        return settings is not None and node_id in settings.routes

    def is_passage(self, node_id: str) -> bool:
        """Whether the node is the entry or an exit of a mount: such a step counts for no limit."""
        return node_id in self.mounts or exit_of(node_id) is not None

    def output_schema(self, node_id: str) -> dict[str, Any] | bool | None:
        """The JSON Schema that the output of an agent or of a passage has to meet. A checkpoint's output has met its
        own as an answer, and no other node has any."""
        spec = self.node(node_id)
        return spec.contract if spec.kind is NodeKind.AGENT or self.is_passage(node_id) else None

    def first_settings_schema(self, node_id: str) -> dict[str, Any] | bool | None:
        """The JSON Schema that the first settings of an include have to meet, where a function makes them."""
        mount = self.mounts.get(node_id)
        return mount.settings.schema if mount is not None and mount.computed and mount.settings is not None else None

    def is_held(self, node_id: str) -> bool:
        """Whether what the node gives is held against a schema before it is taken."""
        return self.output_schema(node_id) is not None or self.first_settings_schema(node_id) is not None

    @property
    def has_schemas(self) -> bool:
        return any(self.is_held(node_id) for node_id in self.nodes)

    def open_after(self, node_id: str, outcome: str) -> tuple[str, ...]:
        """The mounts that are entered and not left once `node_id` ended with `outcome`, the outermost first."""
        ok = outcome == Outcome.OK
        if ok and node_id in self.mounts:
            return line_of(node_id)
        inside = line_of(mount_of(node_id))
        return inside[:-1] if ok and exit_of(node_id) is not None else inside

    def edge_from(self, node_id: str) -> Edge | None:
        outgoing: dict[str, Edge] = self.__dict__["_outgoing"]
        return outgoing.get(node_id)

    def switch_on(self, node_id: str) -> str | None:
        """The path whose scalar the node's outgoing edge switches on, or None where it leads straight on."""
        edge = self.edge_from(node_id)
        return edge.switch.on if edge is not None and edge.switch is not None else None

    def routes(self, node_id: str, outcome: str) -> bool:
        """Whether an attempt of `node_id` that ended with `outcome` leads on over an edge at all."""
        edge = self.edge_from(node_id)
        if edge is None or outcome == Outcome.CANCELLED:
            return False
        if outcome == Outcome.OK:
            return True
        return edge.switch is not None and edge.switch.on.startswith("$result.")

    def next(self, node_id: str, outcome: str, switch: str | None) -> str | None:
        """The node after an attempt of `node_id` that ended with `outcome`; None where the run ends there.

        `switch` is the string form of the switch's scalar, None where the edge has no switch or the value
        is missing. After an outcome other than ok only a `$result.` switch leads on. Raises RouteError when
        the switch has no case for the value.
        """
        self.node(node_id)
        edge = self.edge_from(node_id)
        if edge is None or not self.routes(node_id, outcome):
            return None
        if edge.switch is None:
            return edge.to
        if switch is None:
            raise RouteError(node_id, f"the switch on {edge.switch.on} found no scalar")
        target = edge.switch.cases.get(switch)
        if target is None:
            cases = ", ".join(repr(case) for case in edge.switch.cases)
            raise RouteError(node_id, f"the switch on {edge.switch.on} has no case for {switch!r}: {cases}")
        return target


_graphs: dict[str, Graph] = {}


def remembered(digest: str) -> Graph | None:
    """The graph of this digest if this process decoded it before; saves reading the document."""
    return _graphs.get(digest)


def decode(digest: str, document: bytes) -> Graph:
    """Decodes a stored document, once per digest. Raises DefinitionError for bytes that are no document."""
    known = _graphs.get(digest)
    if known is not None:
        return known
    try:
        graph = msgspec.json.decode(document, type=Graph)
    except msgspec.ValidationError as problem:
        raise DefinitionError(f"the stored definition {digest[:12]} cannot be read: {problem}") from problem
    if len(_graphs) >= _REMEMBERED:
        _graphs.pop(next(iter(_graphs)), None)
    _graphs[digest] = graph
    return graph


def reachable(start: str, edges: Sequence[Edge]) -> frozenset[str]:
    """Every node that a run starting at `start` may come to."""
    outgoing: dict[str, list[str]] = {}
    for edge in edges:
        outgoing.setdefault(edge.source, []).extend(edge.targets)
    seen, ahead = {start}, [start]
    while ahead:
        for target in outgoing.get(ahead.pop(), ()):
            if target not in seen:
                seen.add(target)
                ahead.append(target)
    return frozenset(seen)
