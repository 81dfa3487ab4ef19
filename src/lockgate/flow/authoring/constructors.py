"""How authors make nodes. Times are seconds of working time; functions take the context, sync or async."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lockgate.flow.authoring.effects import Effect
from lockgate.flow.authoring.nodes import (
    ActionNode,
    AgentNode,
    Callback,
    CheckpointNode,
    Command,
    ComputeNode,
    HumanDecisionNode,
    NotifyNode,
    ShellNode,
    Timeout,
)
from lockgate.flow.authoring.offers import default_of, keyed
from lockgate.flow.authoring.shapes import function, identifier, line, milliseconds, schema
from lockgate.flow.choices import Choice, Default
from lockgate.model.errors import DefinitionError

AGENT_TIMEOUT = 900.0
_MAX_PROMPT = 200_000
_MAX_CAPTURE = 4_000_000

Seconds = float | Callback | None
"""A number of seconds, None for no limit, or a function of the context that gives one of these."""


def compute(function: Callback, *, timeout: Seconds = None, settings_route: bool = False) -> ComputeNode:
    """A pure function of the context; its return value is the output (JSON). After a loss it runs again.

    A `settings_route` decides by ctx.settings where the run goes: when they change while it decides, it decides
    again with the newest.
    """
    made = _function(function, "the function of a compute node")
    return ComputeNode(function=made, timeout=_timeout(timeout), settings_route=bool(settings_route))


def action(function: Callback, *, effect: Effect, timeout: Seconds = None) -> ActionNode:
    """A function with a declared side effect; its return value is the output and the effect's result."""
    made = _function(function, "the function of an action node")
    return ActionNode(function=made, effect=_effect(effect), timeout=_timeout(timeout))


def shell(
    argv: Sequence[str] | Callback,
    *,
    effect: Effect,
    timeout: Seconds = None,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | Callback | None = None,
    allow: Iterable[int] = (0,),
    capture: int = 1_000_000,
    parse: Callback | None = None,
) -> ShellNode:
    """A command without a shell, started in the project directory (or `cwd` below it).

    The output is {argv, exit_code, signal, stdout, stderr, truncated, duration_ms}, or what `parse(result)`
    makes of it. An exit code outside `allow` fails the attempt. `capture` bounds each stream in characters.
    """
    command = _command(argv, cwd=cwd, env=env, stdin=stdin, allow=allow, capture=capture)
    parser = None if parse is None else _function(parse, "parse")
    return ShellNode(command=command, effect=_effect(effect), parse=parser, timeout=_timeout(timeout))


def notify(message: str | Callback, *, timeout: Seconds = None) -> NotifyNode:
    """A message for whoever watches: a `notified` event, and the node's output."""
    return NotifyNode(message=_text(message, "the message of a notify node"), timeout=_timeout(timeout))


def checkpoint(
    summary: str | Callback, *, output: dict[str, Any] | bool | None = None, timeout: Seconds = None
) -> CheckpointNode:
    """Waits for a JSON value that anyone who can write the store may submit; `output` is its JSON Schema."""
    return CheckpointNode(
        summary=_text(summary, "the summary of a checkpoint"),
        output=schema(output, "the output of a checkpoint"),
        timeout=_timeout(timeout),
    )


def human_decision(
    *,
    audience: str | Callback,
    choices: Mapping[str, Choice],
    request: Callback,
    on_timeout: tuple[str, float] | Callback | None = None,
    timeout: Seconds = None,
) -> HumanDecisionNode:
    """Waits for a person's choice. `request(ctx)` returns the Ask; the output is {"choice", "input"?}.

    `on_timeout=(choice, seconds)` is taken when nobody answered in time; a function may compute it, or
    return None for no deadline.
    """
    offered = keyed(choices)
    default: Default | Callback | None = None
    if callable(on_timeout):
        default = on_timeout
    elif on_timeout is not None:
        default = default_of(on_timeout, offered)
    return HumanDecisionNode(
        audience=audience if callable(audience) else identifier(audience, "an audience"),
        choices=offered,
        request=_function(request, "the request of a human decision"),
        default=default,
        timeout=_timeout(timeout),
    )


def agent(
    prompt: str | Callback,
    *,
    command: Sequence[str] | Callback | None = None,
    output: dict[str, Any] | bool | None = None,
    validate: Callback | None = None,
    timeout: Seconds = AGENT_TIMEOUT,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
) -> AgentNode:
    """Asks an agent: with `command`, runs it with the prompt on stdin and takes its stdout as the output.

    Without a command it opens a request that anyone who can write the store may submit. With a schema stdout is
    read as JSON, else as text. `validate(output, ctx)` may refuse the output (raise) or replace it; what is then
    there has to meet `output`, a JSON Schema, or the attempt fails.
    """
    ran = None if command is None else _command(command, cwd=cwd, env=env)
    waits = timeout is AGENT_TIMEOUT and ran is None
    return AgentNode(
        prompt=_text(prompt, "the prompt of an agent node", limit=_MAX_PROMPT),
        command=ran,
        output=schema(output, "the output of an agent node"),
        validate=None if validate is None else _function(validate, "validate"),
        timeout=_timeout(None if waits else timeout),
    )


_function = function


def _timeout(given: Seconds) -> Timeout:
    if given is None:
        return Timeout()
    if callable(given):
        return Timeout(computed=given)
    return Timeout(ms=milliseconds(given, "a timeout"))


def _effect(given: Any) -> Effect:
    if not isinstance(given, Effect):
        raise DefinitionError(f"effect is made by idempotent, verified or manual, got {given!r}")
    return given


def _text(given: Any, what: str, limit: int = 2000) -> str | Callback:
    if callable(given):
        return function(given, what)
    if not isinstance(given, str) or not given.strip():
        raise DefinitionError(f"{what} must be a non-blank text or a function, got {given!r}")
    if len(given) > limit:
        raise DefinitionError(f"{what} must have at most {limit} characters, got {len(given)}")
    return given


def _command(
    argv: Any,
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | Callback | None = None,
    allow: Iterable[int] = (0,),
    capture: int = 1_000_000,
) -> Command:
    if isinstance(capture, bool) or not isinstance(capture, int) or not 0 < capture <= _MAX_CAPTURE:
        raise DefinitionError(f"capture must be 1 to {_MAX_CAPTURE} characters, got {capture!r}")
    for name, value in (env or {}).items():
        if not isinstance(name, str) or not isinstance(value, str) or not name or "=" in name or "\0" in name + value:
            raise DefinitionError(f"env must map names to texts, got {name!r}: {value!r}")
    codes = frozenset(allow)
    if not codes or any(isinstance(code, bool) or not isinstance(code, int) for code in codes):
        raise DefinitionError(f"allow must be exit codes, got {sorted(codes, key=str)}")
    return Command(
        argv=argv if callable(argv) else _argv(argv),
        cwd=None if cwd is None else line(cwd, "cwd", limit=4096),
        env=dict(env or {}),
        stdin=stdin,
        allow=codes,
        capture=capture,
    )


def _argv(argv: Any) -> tuple[str, ...]:
    if isinstance(argv, str) or not isinstance(argv, Sequence) or not argv:
        raise DefinitionError(f"a command is a list of texts or a function, got {argv!r}")
    for element in argv:
        if not isinstance(element, str) or "\0" in element:
            raise DefinitionError(f"a command is a list of texts, got the element {element!r}")
    return tuple(argv)
