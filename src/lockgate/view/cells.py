"""Lines of styled text measured in terminal cells: what the panes hand to whoever paints them."""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from lockgate.model.text import cell_width, clip

Role = Literal[
    "bg",
    "surface",
    "field",
    "select",
    "line",
    "text",
    "strong",
    "muted",
    "accent",
    "you",
    "you-fill",
    "you-bar",
    "bad",
    "run",
    "work",
    "agent",
    "paused",
    "replay",
    "replay-fill",
    "button",
    "add",
    "rem",
    "back",
]


class Span(msgspec.Struct, frozen=True):
    """A piece of clean text in one style.

    The roles `you-fill`, `replay-fill`, `button` and `field` name a background with its own ink; every other
    role is the colour of the text. Only the current tab is underlined.
    """

    text: str
    role: Role = "text"
    bold: bool = False
    underline: bool = False


Line = tuple[Span, ...]

EMPTY: Line = ()


def line_width(line: Line) -> int:
    """Cells that the line takes."""
    return sum(cell_width(span.text) for span in line)


def plain(line: Line) -> str:
    """The text of a line, without style and without blanks at its end."""
    return "".join(span.text for span in line).rstrip(" ")


def blank(cells: int, role: Role = "text") -> Line:
    """A run of blanks; empty for zero cells or less."""
    return (Span(" " * cells, role),) if cells > 0 else EMPTY


def joined(*parts: Line | Span) -> Line:
    """One line out of lines and spans, in order, without empty spans."""
    spans: list[Span] = []
    for part in parts:
        for span in (part,) if isinstance(part, Span) else part:
            if span.text:
                spans.append(span)
    return tuple(spans)


def left(text: str, cells: int, ellipsis: str = "…") -> str:
    """Text of exactly `cells` cells, cut or filled up at its right."""
    shown = clip(text, cells, ellipsis)
    return shown + " " * (cells - cell_width(shown))


def node_name(node: str, cells: int, ellipsis: str = "…") -> str:
    """A node's id in exactly `cells` cells. Of one inside an include, its own end says most: `…/draft`, `….done`."""
    if cell_width(node) > cells:
        at = max(node.rfind("/"), node.rfind("."))
        if at > 0:
            short = f"{ellipsis}{node[at:]}"
            node = short if cell_width(short) <= cells else node[at + 1 :]
    return left(node, cells, ellipsis)


def right(text: str, cells: int, ellipsis: str = "…") -> str:
    """Text of exactly `cells` cells, filled up at its left."""
    shown = clip(text, cells, ellipsis)
    return " " * (cells - cell_width(shown)) + shown


def clipped(line: Line, cells: int, ellipsis: str = "…") -> Line:
    """A line of at most `cells` cells; the span in which it is cut ends with the ellipsis."""
    if line_width(line) <= cells:
        return line
    spans: list[Span] = []
    room = cells
    for index, span in enumerate(line):
        width = cell_width(span.text)
        rest = line_width(line[index + 1 :])
        if width < room or (width == room and not rest):
            spans.append(span)
            room -= width
            continue
        text = clip(span.text + (" " if rest else ""), room, ellipsis)
        spans.append(_with_text(span, text))
        break
    return joined(*spans)


def fitted(line: Line, cells: int, ellipsis: str = "…") -> Line:
    """A line of exactly `cells` cells, cut or filled up at its right."""
    shown = clipped(line, cells, ellipsis)
    return joined(shown, blank(cells - line_width(shown)))


def spread(start: Line, end: Line, cells: int, ellipsis: str = "…", gap: int = 1) -> Line:
    """`start` at the left and `end` at the right of exactly `cells` cells.

    The start is cut first; when not even one cell of it would stay, the end is cut instead.
    """
    end = clipped(end, cells, ellipsis)
    room = cells - line_width(end) - (gap if end else 0)
    shown = clipped(start, max(room, 0), ellipsis)
    return joined(shown, blank(cells - line_width(shown) - line_width(end)), end)


def beside(
    lines: Sequence[Line], others: Sequence[Line], cells: int, gutter: int, height: int, other: int
) -> list[Line]:
    """Two blocks of lines side by side: `cells`, then `gutter` blanks, then `other` cells, `height` rows."""
    rows: list[Line] = []
    for y in range(height):
        here = lines[y] if y < len(lines) else EMPTY
        there = others[y] if y < len(others) else EMPTY
        rows.append(joined(fitted(here, cells), blank(gutter), fitted(there, other)))
    return rows


def stacked(lines: Iterable[Line], height: int, cells: int) -> list[Line]:
    """Exactly `height` lines of exactly `cells` cells: cut at the bottom, or filled up with blank lines."""
    rows = [fitted(line, cells) for _, line in zip(range(height), lines, strict=False)]
    rows.extend(blank(cells) for _ in range(height - len(rows)))
    return rows


def restyled(line: Line, role: Role) -> Line:
    """The line in one role and without weight: the page behind an open card, a ghost row."""
    return tuple(Span(span.text, role) for span in line)


def wrapped(text: str, cells: int) -> list[str]:
    """Clean text (line ends allowed) broken into rows of at most `cells` cells, at blanks where it has some.

    Nothing is lost but the blanks at which a row was broken; a word wider than a row is cut inside.
    """
    rows: list[str] = []
    for paragraph in text.split("\n"):
        rows.extend(_wrapped_line(paragraph, max(cells, 1)))
    return rows


def _wrapped_line(text: str, cells: int) -> list[str]:
    rows: list[str] = []
    while cell_width(text) > cells:
        head = clip(text, cells, "")
        if not head:  # a wide character in a column of one cell
            head = text[:1]
        cut = head.rfind(" ")
        if text[len(head) : len(head) + 1] == " ":
            cut = len(head)
        if cut <= 0:
            rows.append(head)
            text = text[len(head) :]
        else:
            rows.append(text[:cut].rstrip(" "))
            text = text[cut:].lstrip(" ")
    rows.append(text)
    return rows


def _with_text(span: Span, text: str) -> Span:
    return Span(text, span.role, span.bold, span.underline)
