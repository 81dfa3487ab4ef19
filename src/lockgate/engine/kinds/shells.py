"""Turns a declared command into a running one."""

import sys
from collections.abc import Sequence
from typing import Any

from lockgate.engine.commands import Ran
from lockgate.engine.failures import NodeFailed
from lockgate.engine.visit import Visit
from lockgate.flow.authoring.nodes import Command, argv_of


async def run(command: Command, visit: Visit, stdin: bytes | None = None) -> dict[str, Any]:
    """The result {argv, exit_code, signal, stdout, stderr, truncated, duration_ms} of an allowed exit.

    Raises NodeFailed with that result for any other exit, or when the command cannot be started.
    """
    argv = await _argv(command, visit)
    given = stdin if stdin is not None else await _stdin(command, visit)
    try:
        ran = await visit.command(argv, capture=command.capture, cwd=command.cwd, env=command.env, stdin=given)
    except (OSError, ValueError) as problem:
        raise NodeFailed("CommandNotStarted", f"{argv[0]}: {problem}") from problem
    result = ran.as_json(argv)
    if ran.exit_code not in command.allow:
        raise NodeFailed("CommandFailed", f"{_ending(ran)}{_last_words(ran)}", result)
    return result


async def _argv(command: Command, visit: Visit) -> list[str]:
    given = command.argv
    if callable(given):
        given = await visit.call(given, visit.context)
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise NodeFailed("CommandError", f"a command is a list of texts, got {given!r}"[:500])
    return argv_of(given, sys.executable)


async def _stdin(command: Command, visit: Visit) -> bytes:
    if command.stdin is None:
        return b""
    text = await visit.text(command.stdin)
    return text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogateescape")


def _ending(ran: Ran) -> str:
    return f"signal {ran.signal}" if ran.exit_code is None else f"exit code {ran.exit_code}"


def _last_words(ran: Ran) -> str:
    lines = (ran.stderr.strip() or ran.stdout.strip()).splitlines()
    return f": {lines[-1].strip()}" if lines else ""
