"""What a decision shows: a summary and blocks, checked whole before a request opens.

Blocks are plain data under their `kind`. Line ends become LF; nothing else is changed or left out.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from lockgate.model.errors import PayloadError

MAX_UNITS = 64_000
MAX_BLOCKS = 256
MAX_ITEMS = 256
MAX_STRING_UNITS = 16_000


class Paragraph(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="paragraph"):
    text: str


class Section(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="section"):
    title: str


class Bullets(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="bullets"):
    items: tuple[str, ...]


class Field(Struct, frozen=True, forbid_unknown_fields=True):
    label: str
    value: str


class Fields(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="fields"):
    items: tuple[Field, ...]


class Preformatted(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="preformatted"):
    text: str


Block = Paragraph | Section | Bullets | Fields | Preformatted


class Presentation(Struct, frozen=True, forbid_unknown_fields=True):
    """A summary line and the blocks below it."""

    summary: str
    blocks: tuple[Block, ...] = ()


def presentation(summary: str, blocks: Sequence[Any]) -> Presentation:
    """The checked presentation of a summary and blocks (block values, or their JSON form).

    Raises PayloadError with the JSON path, the limit and what was seen. Lengths are UTF-16 units.
    """
    if len(blocks) > MAX_BLOCKS:
        raise PayloadError("$.blocks", f"at most {MAX_BLOCKS} blocks", str(len(blocks)))
    read = tuple(_block(block, f"$.blocks[{index}]") for index, block in enumerate(blocks))
    budget = _Budget()
    head = budget.line(summary, "$.summary")
    body = tuple(_normal(block, f"$.blocks[{index}]", budget) for index, block in enumerate(read))
    return Presentation(head, body)


def title(text: Any, path: str = "$.title") -> str:
    """One checked line of at most 200 UTF-16 units, such as a decision's question."""
    return _Budget().line(text, path, limit=200)


def _block(block: Any, path: str) -> Block:
    try:
        read: Block = msgspec.convert(msgspec.to_builtins(block), Block)
    except (msgspec.ValidationError, TypeError) as problem:
        raise PayloadError(path, "a paragraph, section, bullets, fields or preformatted block", str(problem)) from None
    return read


def _normal(block: Block, path: str, budget: "_Budget") -> Block:
    match block:
        case Paragraph(text=text):
            return Paragraph(budget.text(text, f"{path}.text"))
        case Preformatted(text=text):
            return Preformatted(budget.text(text, f"{path}.text"))
        case Section(title=words):
            return Section(budget.line(words, f"{path}.title"))
        case Bullets(items=items):
            _bound_items(len(items), path)
            return Bullets(tuple(budget.line(item, f"{path}.items[{n}]") for n, item in enumerate(items)))
        case Fields(items=pairs):
            _bound_items(len(pairs), path)
            return Fields(
                tuple(
                    Field(
                        budget.line(pair.label, f"{path}.items[{n}].label"),
                        budget.line(pair.value, f"{path}.items[{n}].value"),
                    )
                    for n, pair in enumerate(pairs)
                )
            )


def _bound_items(count: int, path: str) -> None:
    if not 1 <= count <= MAX_ITEMS:
        raise PayloadError(f"{path}.items", f"1 to {MAX_ITEMS} items", str(count))


def _units(text: str, path: str) -> int:
    try:
        return len(text.encode("utf-16-le")) // 2
    except UnicodeEncodeError as error:
        raise PayloadError(path, "whole characters", f"a lone surrogate at {error.start}") from None


class _Budget:
    """Counts the units of one presentation while its strings are checked."""

    def __init__(self) -> None:
        self.spent = 0

    def line(self, text: Any, path: str, limit: int = MAX_STRING_UNITS) -> str:
        """A non-blank string without control characters."""
        given = self._spend(text, path, limit)
        self._refuse_controls(given, path, allowed="")
        return given

    def text(self, text: Any, path: str) -> str:
        """A string in which line feeds and tabs may stand; CRLF and CR become LF."""
        if isinstance(text, str):
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        given = self._spend(text, path, MAX_STRING_UNITS)
        self._refuse_controls(given, path, allowed="\n\t")
        return given

    def _spend(self, text: Any, path: str, limit: int) -> str:
        if not isinstance(text, str):
            raise PayloadError(path, "text", f"a {type(text).__name__}")
        if not text.strip():
            raise PayloadError(path, "a non-blank text", "blank")
        units = _units(text, path)
        if units > limit:
            raise PayloadError(path, f"at most {limit} UTF-16 units", str(units))
        self.spent += units
        if self.spent > MAX_UNITS:
            raise PayloadError(path, f"at most {MAX_UNITS} UTF-16 units in all", str(self.spent))
        return text

    @staticmethod
    def _refuse_controls(text: str, path: str, allowed: str) -> None:
        for place, character in enumerate(text):
            if (character < " " or character == "\x7f") and character not in allowed:
                raise PayloadError(path, "no control characters", f"U+{ord(character):04X} at {place}")
