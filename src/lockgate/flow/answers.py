"""The pure check of a decision's answer against its choices, the same on every path."""

from collections.abc import Sequence
from typing import Any

from lockgate.flow.choices import Choice
from lockgate.model.errors import Refused


def check_answer(choices: Sequence[Choice], choice: str, text: str | None) -> dict[str, Any]:
    """The response that an answer stands for: {"choice": key}, with {"input": {name: text}} where it has one.

    Line ends become LF. Raises Refused `invalid_input` whose details carry the field, and the limit with the
    observed value: an unknown choice, a text that is missing, unwanted, blank, too short or too long.
    """
    chosen = next((known for known in choices if known.key == choice), None)
    if chosen is None:
        keys = ", ".join(known.key for known in choices)
        raise _invalid("choice", f"one of {keys}", repr(choice[:80]))
    if chosen.input is None:
        if text:
            raise _invalid("text", f"no text with {chosen.key!r}", f"{len(text)} characters")
        return {"choice": chosen.key}
    wanted = chosen.input
    given = _plain(text or "")
    length = len(given)
    if wanted.min_length > 0 and not given.strip():
        raise _invalid(wanted.name, f"{wanted.min_length} to {wanted.max_length} characters", "none")
    if not wanted.min_length <= length <= wanted.max_length:
        limit = f"{wanted.min_length} to {wanted.max_length} characters"
        raise _invalid(wanted.name, limit, f"{length} characters")
    return {"choice": chosen.key, "input": {wanted.name: given}}


def _plain(text: str) -> str:
    given = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        given.encode("utf-8")
    except UnicodeEncodeError as error:
        raise _invalid("text", "whole characters", f"a lone surrogate at {error.start}") from error
    return given


def _invalid(field: str, limit: str, observed: str) -> Refused:
    message = f"{field}: {limit}, got {observed}"
    return Refused("invalid_input", message, field=field, limit=limit, observed=observed)
