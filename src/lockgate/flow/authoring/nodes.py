"""The nodes of a workflow: what each kind needs to run, and the part of it that is data (`spec`)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from lockgate.flow.authoring.effects import Effect
from lockgate.flow.choices import Choice, Default
from lockgate.flow.graph import NodeSpec
from lockgate.model.statuses import NodeKind

Callback = Callable[..., Any]
"""A function of the node's context, sync or async."""

PYTHON = "{python}"
"""An argv element that is exactly this becomes the running interpreter when the command starts."""


@dataclass(frozen=True, slots=True)
class Timeout:
    """A limit on working time: whole milliseconds, None for unlimited, or computed from the context."""

    ms: int | None = None
    computed: Callback | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What every kind has."""

    kind: ClassVar[NodeKind]
    timeout: Timeout = field(default_factory=Timeout)

    @property
    def spec(self) -> NodeSpec:
        return self._spec()

    def _spec(self, **more: Any) -> NodeSpec:
        computed = self.timeout.computed is not None
        return NodeSpec(kind=self.kind, timeout_ms=self.timeout.ms, timeout_computed=computed, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command to run: argv (or a function of the context that gives it), where and with what.

    `allow` are the exit codes that count as success; `capture` bounds each of stdout and stderr in the
    output, in characters.
    """

    argv: tuple[str, ...] | Callback
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: str | Callback | None = None
    allow: frozenset[int] = frozenset({0})
    capture: int = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeNode(Node):
    kind: ClassVar[NodeKind] = NodeKind.COMPUTE
    function: Callback
    settings_route: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionNode(Node):
    kind: ClassVar[NodeKind] = NodeKind.ACTION
    function: Callback
    effect: Effect

    @property
    def spec(self) -> NodeSpec:
        return self._spec(effect=self.effect.spec)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellNode(Node):
    kind: ClassVar[NodeKind] = NodeKind.SHELL
    command: Command
    effect: Effect
    parse: Callback | None = None

    @property
    def spec(self) -> NodeSpec:
        return self._spec(effect=self.effect.spec)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyNode(Node):
    kind: ClassVar[NodeKind] = NodeKind.NOTIFY
    message: str | Callback


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointNode(Node):
    kind: ClassVar[NodeKind] = NodeKind.CHECKPOINT
    summary: str | Callback
    output: dict[str, Any] | bool | None

    @property
    def spec(self) -> NodeSpec:
        summary = self.summary if isinstance(self.summary, str) else None
        return self._spec(summary=summary, contract=self.output)


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanDecisionNode(Node):
    kind: ClassVar[NodeKind] = NodeKind.HUMAN_DECISION
    audience: str | Callback
    choices: tuple[Choice, ...]
    request: Callback
    default: Default | Callback | None

    @property
    def spec(self) -> NodeSpec:
        audience = self.audience if isinstance(self.audience, str) else None
        default = self.default if isinstance(self.default, Default) else None
        return self._spec(audience=audience, choices=self.choices, default=default)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentNode(Node):
    kind: ClassVar[NodeKind] = NodeKind.AGENT
    prompt: str | Callback
    command: Command | None
    output: dict[str, Any] | bool | None
    validate: Callback | None

    @property
    def spec(self) -> NodeSpec:
        return self._spec(contract=self.output, commanded=self.command is not None)


def argv_of(given: Sequence[Any], interpreter: str) -> list[str]:
    """The argv to start, with `{python}` replaced; nothing else is interpolated."""
    return [interpreter if element == PYTHON else str(element) for element in given]
