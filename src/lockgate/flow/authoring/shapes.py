"""The small checks that every constructor shares; each failure is a DefinitionError with the reason."""

import math
import re
from collections.abc import Callable
from typing import Any

import msgspec

from lockgate.model.encoding import checked
from lockgate.model.errors import DefinitionError, PayloadError

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,127}")
MAX_LINE = 200


def identifier(value: Any, what: str) -> str:
    if not isinstance(value, str) or IDENTIFIER.fullmatch(value) is None:
        raise DefinitionError(f"{what} must match {IDENTIFIER.pattern}, got {value!r}")
    return value


def line(value: Any, what: str, limit: int = MAX_LINE) -> str:
    """One non-blank line of text without control characters."""
    if not isinstance(value, str) or not value.strip():
        raise DefinitionError(f"{what} must be a non-blank text, got {value!r}")
    if any(character < " " or character == "\x7f" for character in value):
        raise DefinitionError(f"{what} must have no control characters, got {value!r}")
    if len(value) > limit:
        raise DefinitionError(f"{what} must have at most {limit} characters, got {len(value)}")
    return value


def function(value: Any, what: str) -> Callable[..., Any]:
    if not callable(value):
        raise DefinitionError(f"{what} must be a function, got {value!r}")
    found: Callable[..., Any] = value
    return found


def milliseconds(seconds: Any, what: str) -> int:
    """Authors give seconds, the system counts whole milliseconds, at least one."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise DefinitionError(f"{what} must be a number of seconds, got {seconds!r}")
    if not math.isfinite(seconds) or seconds <= 0 or seconds > 10**10:
        raise DefinitionError(f"{what} must be positive and finite, got {seconds!r}")
    return max(1, round(seconds * 1000))


def schema(value: Any, what: str) -> dict[str, Any] | bool | None:
    """A JSON Schema as plain data; that it is a valid schema is seen where contracts are checked."""
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, dict):
        raise DefinitionError(f"{what} must be a JSON Schema (an object), got {type(value).__name__}")
    try:
        return dict(msgspec.json.decode(checked(msgspec.json.decode(msgspec.json.encode(value)))))
    except (TypeError, ValueError, RecursionError, PayloadError) as problem:
        raise DefinitionError(f"{what} must be JSON: {problem}") from problem
