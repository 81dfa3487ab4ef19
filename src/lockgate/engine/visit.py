"""One attempt in progress: its context, its updates, and what it may run."""

import contextlib
import os
import sys
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lockgate.engine.calls import Caller
from lockgate.engine.commands import Order, Ran, Sink, Stop, run_command
from lockgate.engine.context import Context, EffectState
from lockgate.engine.journal import Journal
from lockgate.engine.updates import Updates
from lockgate.engine.values import Values
from lockgate.flow.authoring.nodes import Node
from lockgate.model.records import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What stays the same for all nodes of a run.

    `environment` is what commands inherit; the engine keeps the run, node and attempt in it. `own_groups`
    gives each command its own process group, for a process that is not a worker.
    """

    environment: MutableMapping[str, str]
    project_dir: Path
    sink: Sink
    own_groups: bool


@dataclass(frozen=True, slots=True)
class Done:
    """The node's output; `prompt_hash` names the prompt that led to it, `settings` are an include's at first."""

    value: Value
    prompt_hash: str | None = None
    settings: Value | None = None


@dataclass(frozen=True, slots=True)
class Waits:
    """The attempt waits for an answer; the claim has ended."""


@dataclass(slots=True, kw_only=True)
class Visit:
    """`number` is which visit of its node it is in the whole run. `applying` is the effect that this attempt has
    reserved and not settled; `retries` counts how often a settings route has decided again."""

    node_id: str
    node: Node
    attempt_id: str
    ordinal: int
    number: int
    journal: Journal
    values: Values
    caller: Caller
    context: Context
    updates: Updates
    around: Surroundings
    applying: EffectState | None = None
    verifying: bool = False
    left_command: bool = False
    limit_ms: int | None = None
    retries: int = 0
    _command: Stop | None = field(default=None)

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await self.caller.call(function, *arguments)

    async def text(self, given: str | Callable[..., Any]) -> Any:
        """A text that the definition has, or that its function makes."""
        return given if isinstance(given, str) else await self.call(given, self.context)

    async def command(
        self, argv: list[str], *, capture: int, cwd: str | None, env: Mapping[str, str], stdin: bytes
    ) -> Ran:
        """Runs a command to its end. Raises OSError when it cannot be started."""
        order = Order(
            argv=argv,
            cwd=str(self.around.project_dir / (cwd or "")),
            env={**self.around.environment, **env},
            stdin=stdin,
            capture=capture,
            own_group=self.around.own_groups,
        )
        stop = self._command = Stop()
        try:
            ran: Ran = await self.caller.block(_run_and_close, order, self.around.sink, stop)
            return ran
        finally:
            self._command = None

    @property
    def runs_command(self) -> bool:
        return self._command is not None

    def stop(self) -> None:
        """Tells the node that its time is over."""
        self.context.stop()
        if self._command is not None:
            self.left_command = not self.around.own_groups
            self._command.ask()


def _run_and_close(order: Order, sink: Sink, stop: Stop) -> Ran:
    # Closed where it is used: a caller that gave up must not take the descriptor away from the thread.
    try:
        return run_command(order, sink, stop)
    finally:
        stop.close()


def pass_on(stream: str, piece: bytes) -> None:
    """Writes a command's output to this process's own stdout or stderr, at once."""
    target = 1 if stream == "stdout" else 2
    rest = memoryview(piece)
    with contextlib.suppress(BrokenPipeError):
        while rest:
            rest = rest[os.write(target, rest) :]


def flush_streams() -> None:
    """What functions printed belongs to their attempt: it leaves before the attempt ends."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
