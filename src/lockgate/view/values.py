"""Stored values as lines: JSON indented, text as it is, the first 64 KB until more is asked for."""

import json
from collections.abc import Iterator
from typing import Any

from lockgate.model.text import clean
from lockgate.view.cells import Line, Span, clipped, joined
from lockgate.view.lens import Lens
from lockgate.view.snapshots import ShownValue
from lockgate.view.times import size

FIRST_BYTES = 65_536


def shown_value(hash: str, content: bytes, *, total: int | None = None, limit: int = FIRST_BYTES) -> ShownValue:
    """A value of which `content` has been read (the whole is `total` bytes), cleaned, at most `limit` bytes."""
    whole = len(content) if total is None else total
    part = content[:limit]
    text = part.decode("utf-8", "replace")
    is_json = False
    if len(part) == whole:
        try:
            text = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
            is_json = True
        except ValueError:
            pass
    lines = tuple(clean(text, multiline=True).split("\n"))
    return ShownValue(hash=hash, size=whole, shown=len(part), lines=lines, is_json=is_json)


def settings_pairs(content: bytes) -> tuple[tuple[str, str], ...]:
    """The settings of a stored object as name and value, nested ones by their path (`notes.tone`)."""
    try:
        value = json.loads(content)
    except ValueError:
        return ()
    return tuple((clean(name), clean(text)) for name, text in _flat(value, ""))


def _flat(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flat(item, f"{path}.{key}" if path else str(key))
    else:
        yield path or "settings", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def value_facts(value: ShownValue) -> str:
    """`JSON, 1.4 KB`; what is not shown whole says so."""
    kind = "JSON, " if value.is_json else ""
    if value.cut:
        return f"first {size(value.shown)} of {size(value.size)}, m for more"
    return f"{kind}{size(value.size)}"


def value_lines(title: str, value: ShownValue | None, cells: int, lens: Lens, rows: int | None = None) -> list[Line]:
    """A titled block of a value, indented by two; with `rows` the rest is counted instead of shown."""
    if value is None:
        return [joined(Span(title, "strong", bold=True)), joined(Span("  none", "muted"))]
    facts = f"{value_facts(value)}, sha256 {value.hash[:4]} {value.hash[4:8]} {value.hash[8:12]}"
    head = joined(Span(title, "strong", bold=True), Span(f"  {facts}", "muted"))
    body = value.lines if rows is None else value.lines[:rows]
    lines = [clipped(head, cells, lens.glyphs.ellipsis)]
    lines += [clipped(joined(Span("  "), Span(text)), cells, lens.glyphs.ellipsis) for text in body]
    hidden = len(value.lines) - len(body)
    if hidden:
        more = f"  {lens.glyphs.ellipsis} {hidden} more lines {lens.glyphs.dot} Enter opens"
        lines.append(clipped(joined(Span(more, "muted")), cells, lens.glyphs.ellipsis))
    return lines
