"""The one rule on top of a pane, with its title at the left and its state at the right; and the cursor's bar."""

from collections.abc import Sequence
from typing import Literal

from lockgate.view.cells import EMPTY, Line, Role, Span, blank, clipped, fitted, joined, line_width
from lockgate.view.lens import Lens

Mood = Literal["calm", "focused", "replay", "stale"]
"""Why a rule has its colour; stale keeps the focus of the pane in its title."""

LEAST_TITLE = 12
TABS = ("Trace", "Steps", "Output", "Info")


def title(number: int, name: str, lens: Lens, *, focused: bool, rest: Line = EMPTY) -> Line:
    """`1 Runs 128`: the number and the name, then what the pane shows."""
    role: Role = "accent" if focused else "strong"
    head = (Span(str(number), "accent" if focused else "muted", bold=focused), Span(" "))
    return joined(*head, Span(name, role, bold=True), *((Span(" "), rest) if rest else ()))


def count(number: int) -> Line:
    return (Span(f"{number}", "muted"),)


def tabs(current: str, *, focused: bool, names: Sequence[str] = TABS) -> Line:
    """`4 Trace  Steps  Output  Info` with the current one underlined."""
    parts: list[Line | Span] = [Span("4", "accent" if focused else "muted", bold=focused), Span(" ")]
    for index, name in enumerate(names):
        chosen = name == current
        parts.append(Span("  ") if index else Span(""))
        parts.append(Span(name, "strong" if chosen else "muted", bold=chosen, underline=chosen))
    return joined(*parts)


def pane_rule(
    start: Line,
    end: Line,
    cells: int,
    lens: Lens,
    *,
    mood: Mood = "calm",
    focused: bool = False,
    as_of: str = "",
) -> Line:
    """`─ 1 Runs 128 ─────── newest first ▾ ─`: a rule of exactly `cells` cells.

    `as_of` is the time of stale data; it takes the right part's place. Where the rule is too short the left part
    is cut down to 12 cells, then the right part goes.
    """
    glyphs = lens.glyphs
    role: Role = "replay" if mood == "replay" else "accent" if focused or mood == "focused" else "line"
    stroke = glyphs.stale_rule if mood == "stale" else glyphs.rule
    if mood == "stale" and as_of:
        end = (Span(f"as of {as_of}", "bad"),)
    room = cells - 4
    if end and line_width(start) + line_width(end) + 3 > room:
        left = room - line_width(end) - 3
        start, end = (clipped(start, left, glyphs.ellipsis), end) if left >= LEAST_TITLE else (start, EMPTY)
    start = clipped(start, max(room, 0), glyphs.ellipsis)
    tail = joined(Span(" "), end, Span(f" {stroke}", role)) if end else EMPTY
    head = joined(Span(f"{stroke} ", role), start)
    between = cells - line_width(head) - line_width(tail) - 1
    if between < 1:
        return fitted(joined(head, tail), cells, glyphs.ellipsis)
    return joined(head, Span(" "), Span(stroke * between, role), tail)


def tab_rule(current: int, counts: Line, runs: int, cells: int, lens: Lens) -> Line:
    """Below 80 columns: the rule is the strip of all four panes, the current one underlined."""
    parts: list[Line | Span] = []
    names = ("Runs", "Decisions", "Timeline", "Detail")
    for number, name in enumerate(names, start=1):
        chosen = number == current
        parts.append(Span("   ") if number > 1 else Span(""))
        parts.append(Span(f"{number} ", "accent" if chosen else "muted", bold=chosen))
        parts.append(Span(name, "strong" if chosen else "muted", bold=chosen, underline=chosen))
        if number == 1:
            parts.append(Span(f" {runs}", "muted"))
        elif number == 2:
            parts.append(counts)
    return pane_rule(joined(*parts), EMPTY, cells, lens, focused=True)


def marked(line: Line, lens: Lens, *, focused: bool) -> Line:
    """The row under the cursor: its first cell, always blank, becomes the bar."""
    if not line:
        return line
    first = line[0]
    bar = Span(lens.glyphs.cursor, "accent" if focused else "muted")
    return joined(bar, Span(first.text[1:], first.role, first.bold, first.underline), line[1:])


def keys(pairs: Sequence[tuple[str, str]], cells: int, lens: Lens) -> Line:
    """Keys in strong with their label in muted; dropped from the middle until they fit."""
    gap = 2 if lens.columns < 100 else 3
    kept = [(lens.glyphs.key(key), label) for key, label in pairs]
    while kept and _keys_width(kept, gap) > cells:
        # The last two, help and quit, stay to the end, and so does the first, what this pane is for.
        kept.pop(-3 if len(kept) > 3 else 0)
    parts: list[Line | Span] = []
    for index, (key, label) in enumerate(kept):
        parts.append(blank(gap) if index else EMPTY)
        parts.append(Span(key, "strong", bold=True))
        parts.append(Span(f" {label}", "muted"))
    return joined(*parts)


def _keys_width(pairs: Sequence[tuple[str, str]], gap: int) -> int:
    return sum(len(key) + 1 + len(label) for key, label in pairs) + gap * (len(pairs) - 1)
