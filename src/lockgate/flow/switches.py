"""The scalar that a switch reads from a finished attempt, and its string form, by which cases are keyed."""

import re
from collections.abc import Mapping
from typing import Any

from lockgate.model.errors import RouteError

MAX_SWITCH_CHARS = 200
"""Of the form that an event keeps; every case is shorter, so that a text which was cut meets none of them."""

PATH = re.compile(r"\$(output|result)?(\.[A-Za-z_][A-Za-z0-9_-]*)+")


def form(value: Any) -> str | None:
    """The string form of a scalar (`true`, `null`, `3`, `2.5`, text as it is); None for anything else."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        # A whole number is the same number in JSON with or without its fraction.
        return str(int(value)) if value.is_integer() else repr(value)
    return None


def scalar(node_id: str, on: str, output: Any, result: Mapping[str, Any]) -> str:
    """The string form of what `on` names: `$.a` and `$output.a` in the output, `$result.a` in the result.

    A form that is longer than any case is cut. Raises RouteError where the path leads nowhere or to no scalar.
    """
    head, *members = on.split(".")
    value: Any = result if head == "$result" else output
    for member in members:
        if not isinstance(value, Mapping) or member not in value:
            raise RouteError(node_id, f"the switch on {on} found no {member!r}")
        value = value[member]
    found = form(value)
    if found is None:
        raise RouteError(node_id, f"the switch on {on} needs a scalar, found {type(value).__name__}")
    return found if len(found) < MAX_SWITCH_CHARS else f"{found[: MAX_SWITCH_CHARS - 1]}…"
