"""The contract of a request: what the person or program reads, and what its answer must be. Immutable.

The engine makes it, the store keeps it as a value (`contract_hash` names it) and every screen shows it whole.
"""

from typing import Any

import msgspec
from msgspec import Struct

from lockgate.flow.choices import Choice
from lockgate.flow.presentation import Paragraph, Preformatted, Presentation
from lockgate.model.encoding import stored
from lockgate.model.statuses import RequestKind

_TITLE = 200


class Contract(Struct, frozen=True):
    """`schema` is the JSON Schema of an ordinary answer (null: any JSON); `choices` are a decision's."""

    kind: RequestKind
    title: str
    presentation: Presentation
    choices: tuple[Choice, ...] = ()
    schema: dict[str, Any] | bool | None = None

    def encoded(self) -> bytes:
        """The stored form, whose SHA-256 is the contract's hash."""
        return stored(msgspec.to_builtins(self))


def read_contract(content: bytes) -> Contract:
    return msgspec.json.decode(content, type=Contract)


def for_checkpoint(summary: str, schema: dict[str, Any] | bool | None) -> Contract:
    """`summary` may have several lines: the first is the title."""
    return Contract(
        kind=RequestKind.CHECKPOINT,
        title=_first_line(summary),
        presentation=Presentation(_first_line(summary), (Paragraph(summary),)),
        schema=schema,
    )


def for_agent(prompt: str, schema: dict[str, Any] | bool | None) -> Contract:
    return Contract(
        kind=RequestKind.AGENT,
        title=_first_line(prompt),
        presentation=Presentation(_first_line(prompt), (Preformatted(prompt),)),
        schema=schema,
    )


def for_decision(title: str, shown: Presentation, choices: tuple[Choice, ...]) -> Contract:
    return Contract(kind=RequestKind.DECISION, title=title, presentation=shown, choices=choices)


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
