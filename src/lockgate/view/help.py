"""The help of a pane: its keys first, then the keys of everywhere, the glyphs and the two clocks."""

from collections.abc import Sequence

from lockgate.model.statuses import Word
from lockgate.view.cells import EMPTY, Line, Span, beside, blank, fitted, joined, right
from lockgate.view.lens import Lens
from lockgate.view.situations import label, styled

KEY_CELLS = 9
CLOCKS = (
    ("Two clocks:", " worked", " is time a worker spent; ", "waited", " is time spent on people."),
    ("They are never added up. Paused time counts as neither.",),
)

Keys = Sequence[tuple[str, str]]


def help_lines(groups: Sequence[tuple[str, Keys]], cells: int, lens: Lens) -> list[Line]:
    """Groups of keys in two columns (one below 70 cells), the glyphs with their words, the clocks.

    The first half of the groups stands at the left; `cells` is the width inside the padding.
    """
    blocks = [_keys(title, pairs, lens) for title, pairs in groups]
    blocks.append(_glyphs(lens))
    if cells < 70:
        lines = [line for block in blocks for line in (*block, EMPTY)]
        return [fitted(line, cells, lens.glyphs.ellipsis) for line in (*lines, *_clocks())]
    middle = (len(blocks) + 1) // 2
    start = [line for block in blocks[:middle] for line in (*block, EMPTY)]
    end = [line for block in blocks[middle:] for line in (*block, EMPTY)]
    width = (cells - 2) // 2
    height = max(len(start), len(end))
    rows = beside(start, end, width + (cells % 2), 2, height, width)
    rule: Line = (Span(lens.glyphs.rule * cells, "line"),)
    return [fitted(row, cells, lens.glyphs.ellipsis) for row in (*rows, rule, *_clocks())]


def _keys(title: str, pairs: Keys, lens: Lens) -> list[Line]:
    lines: list[Line] = [(Span(title, "strong", bold=True),)]
    named = [(lens.glyphs.key(keys), words) for keys, words in pairs]
    width = max([KEY_CELLS, *(len(keys) for keys, _ in named)])
    for keys, words in named:
        lines.append(joined(Span(right(keys, width), "strong", bold=True), Span(f"  {words}")))
    return lines


def _glyphs(lens: Lens) -> list[Line]:
    lines: list[Line] = [(Span("Glyphs", "strong", bold=True),)]
    entries: list[Line] = [
        joined(Span(lens.glyphs.asking, "you"), Span(" waiting for you")),
        joined(Span(lens.glyphs.wanting, "you"), Span(" waiting for input")),
        joined(Span(lens.glyphs.wanting, "muted"), Span(" waiting for agent")),
    ]
    for name in (word for word in Word if word is not Word.WAITING):
        state = styled(name, lens.glyphs)
        entries.append(joined(Span(state.glyph, state.role), Span(f" {label(name)}")))
    half = (len(entries) + 1) // 2
    for index in range(half):
        second = entries[half + index] if half + index < len(entries) else EMPTY
        lines.append(joined(blank(2), fitted(entries[index], 20), second))
    return lines


def _clocks() -> list[Line]:
    first, second = CLOCKS
    return [
        joined(
            Span(first[0], "strong", bold=True),
            Span(first[1]),
            Span(first[2], "muted"),
            Span(first[3]),
            Span(first[4], "muted"),
        ),
        joined(Span(second[0], "muted")),
    ]
