"""A presentation as rows: every block in full, in its order."""

from collections.abc import Sequence

from lockgate.view.cells import EMPTY, Line, Role, Span, blank, clipped, joined, left, wrapped
from lockgate.view.lens import Lens
from lockgate.view.snapshots import Block

LABEL_CELLS = 10
_SIGNS: dict[str, Role] = {"+": "add", "-": "rem"}


def block_lines(blocks: Sequence[Block], cells: int, lens: Lens, *, shift: int = 0) -> list[Line]:
    """Rows of at most `cells` cells. Text is wrapped and never cut; preformatted lines are never wrapped.

    A preformatted line that is too wide ends with the ellipsis; `shift` scrolls those lines sideways by so many
    characters.
    """
    rows: list[Line] = []
    before = ""
    for block in blocks:
        if rows and not _belongs(before, block.kind):
            rows.append(EMPTY)
        rows.extend(_block(block, cells, lens, shift))
        before = block.kind
    return rows


def widest(blocks: Sequence[Block]) -> int:
    """Characters of the widest preformatted line: how far sideways scrolling may go."""
    texts = (line for block in blocks if block.kind == "preformatted" for line in block.text.split("\n"))
    return max((len(text) for text in texts), default=0)


def _belongs(before: str, kind: str) -> bool:
    """What stands directly below the block before it, without a blank row."""
    if kind == "section":
        return False
    return before == "section" or (before == "paragraph" and kind == "bullets")


def _block(block: Block, cells: int, lens: Lens, shift: int) -> list[Line]:
    if block.kind == "section":
        return [(Span(row, "strong", bold=True),) for row in wrapped(block.text, cells)]
    if block.kind == "bullets":
        return [row for item in block.items for row in _bullet(item, cells, lens)]
    if block.kind == "fields":
        return [row for label, value in block.fields for row in _field(label, value, cells)]
    if block.kind == "preformatted":
        return [_preformatted(text, cells, lens, shift) for text in block.text.split("\n")]
    return [(Span(row),) for row in wrapped(block.text, cells)]


def _bullet(item: str, cells: int, lens: Lens) -> list[Line]:
    rows = wrapped(item, cells - 2)
    first = joined(Span(f"{lens.glyphs.bullet} ", "muted"), Span(rows[0]))
    return [first, *(joined(blank(2), Span(row)) for row in rows[1:])]


def _field(label: str, value: str, cells: int) -> list[Line]:
    name = left(label, LABEL_CELLS - 1) if len(label) < LABEL_CELLS else ""
    rows = wrapped(value, cells - LABEL_CELLS)
    lines: list[Line] = []
    if not name:  # a long label has a row of its own: a cut one could read as another
        lines = [(Span(row, "muted"),) for row in wrapped(label, cells)]
    lines.append(joined(Span(left(name, LABEL_CELLS), "muted"), Span(rows[0])))
    lines += [joined(blank(LABEL_CELLS), Span(row)) for row in rows[1:]]
    return lines


def _preformatted(text: str, cells: int, lens: Lens, shift: int) -> Line:
    """`│ + added`: the sign of a difference keeps its own column whatever is scrolled."""
    role = _SIGNS.get(text[:1])
    sign, rest = (text[0], text[1:]) if role else (" ", f" {text}")
    row = joined(Span(f"{lens.glyphs.upright} ", "line"), Span(f"{sign}{rest[shift:]}", role or "text"))
    return clipped(row, cells, lens.glyphs.ellipsis)
