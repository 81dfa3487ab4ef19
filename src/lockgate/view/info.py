"""The Info tab: how far a run is, then its ids, lineage, claim, worker, effects and values."""

from collections.abc import Sequence

from lockgate.view.cells import EMPTY, Line, Span, blank, clipped, fitted, joined, left, spread
from lockgate.view.lens import Lens
from lockgate.view.snapshots import Progress, ShownInfo
from lockgate.view.steps import effect_line
from lockgate.view.times import moment
from lockgate.view.values import value_lines

LABEL_CELLS = 12
BAR_CELLS = 20


def info_lines(info: ShownInfo, cells: int, lens: Lens, rows: int = 8) -> list[Line]:
    """Titled groups of label and value, exactly `cells` wide, cell 0 blank; `rows` of each stored value."""
    lines: list[Line] = _progress(info.progress, cells - 3, lens)
    for title, pairs in info.groups:
        lines.append(joined(Span(title, "strong", bold=True)))
        lines += [_pair(label, value) for label, value in pairs]
        lines.append(EMPTY)
    if info.effects:
        lines.append(joined(Span("Effects", "strong", bold=True)))
        lines += [effect_line(effect, cells - 3, lens) for effect in info.effects]
        lines.append(EMPTY)
    for title, value in (("Input", info.input), ("Output", info.output), ("Error", info.error)):
        if value is not None:
            lines += [*value_lines(title, value, cells - 3, lens, rows), EMPTY]
    ellipsis = lens.glyphs.ellipsis
    return [fitted(joined(blank(2), clipped(line, cells - 3, ellipsis)), cells) for line in lines]


def _pair(label: str, value: str) -> Line:
    return joined(Span(f"  {left(label, LABEL_CELLS)} ", "muted"), Span(value))


def _progress(progress: Sequence[Progress], cells: int, lens: Lens) -> list[Line]:
    if not progress:
        return []
    lines: list[Line] = [joined(Span("Progress", "strong", bold=True))]
    for each in progress:
        bar = progress_bar(each.done, lens) if each.done is not None else EMPTY
        start = joined(
            Span(f"  {left(each.label, LABEL_CELLS, lens.glyphs.ellipsis)} ", "muted"),
            bar,
            Span(" " if bar else ""),
            Span(each.text),
        )
        # How long it still takes says more than when it was told last, which is only a moment ago then.
        end = each.estimate or f"{each.node} {moment(each.at, lens.now_ms, lens.zone)}"
        lines.append(spread(start, (Span(end, "muted"),), cells, lens.glyphs.ellipsis, gap=2))
    return [*lines, EMPTY]


def progress_bar(done: float, lens: Lens) -> Line:
    """A bar of 20 cells for a fraction of 0 to 1."""
    filled = round(min(max(done, 0.0), 1.0) * BAR_CELLS)
    return joined(Span(lens.glyphs.work * filled, "work"), Span(lens.glyphs.rule * (BAR_CELLS - filled), "line"))
