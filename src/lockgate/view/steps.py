"""The Steps tab: the finished attempts in order, and all that the one under the cursor read and wrote."""

from collections.abc import Sequence

from lockgate.model.statuses import EffectStatus
from lockgate.view.cells import EMPTY, Line, Role, Span, clipped, fitted, joined, left, node_name, right
from lockgate.view.lens import Lens
from lockgate.view.snapshots import SegmentKind, ShownEffect, ShownStep, StepDetail
from lockgate.view.timeline import mark_of, total
from lockgate.view.times import duration, fine_duration, moment
from lockgate.view.values import value_lines

LIST_CELLS = 38
SPLIT_CELLS = 100
NO_STEPS = "No step has finished yet."


def steps_head(lens: Lens) -> Line:
    """The heads of the list's columns; an empty line where rows are short."""
    if lens.short:
        return EMPTY
    return fitted((Span("  step  node       outcome     worked ", "muted"),), LIST_CELLS)


def step_line(step: ShownStep, lens: Lens, *, selected: bool = False, cells: int = LIST_CELLS) -> Line:
    """The row of a step (or of the attempt that is not finished), exactly `cells` wide, cell 0 blank."""
    attempt = step.attempt
    number = f"#{attempt.number}"
    ellipsis = lens.glyphs.ellipsis
    glyph, role = mark_of(attempt.mark, lens)
    waits = attempt.mark in ("you", "input", "agent")
    if waits:
        time = Span(right(duration(_waited(step, lens)), 6), "you" if role == "you" else "text", role == "you")
    else:
        time = Span(right(duration(_worked(step, lens)), 6))
    node_cells = 10 - len(number) - 1
    index = "" if step.index is None or step.is_passage else str(step.index)
    words = attempt.outcome.split(" for ")[0]
    row = joined(
        Span(f"  {right(index, 4)}  ", "muted"),
        Span(node_name(attempt.node, node_cells, ellipsis), "strong" if selected else "text", selected),
        Span(f" {number} ", "muted"),
        Span(glyph, role),
        Span(f" {left(words, cells - 29, ellipsis)} ", "text" if role == "muted" else role),
        time,
        Span(" "),
    )
    return fitted(row, cells, ellipsis)


def _waited(step: ShownStep, lens: Lens) -> int:
    return sum(total(step.attempt.segments, kind, lens.now_ms) for kind in (SegmentKind.PERSON, SegmentKind.AGENT))


def _worked(step: ShownStep, lens: Lens) -> int:
    return total(step.attempt.segments, SegmentKind.WORK, lens.now_ms)


def steps_rule(steps: Sequence[ShownStep], total_steps: int, lens: Lens) -> Line:
    """`4 steps · 1 attempt not finished`: the right end of the pane's rule."""
    unfinished = sum(step.index is None for step in steps)
    text = "1 step" if total_steps == 1 else f"{total_steps} steps"
    if unfinished:
        attempts = "1 attempt" if unfinished == 1 else f"{unfinished} attempts"
        text += f" {lens.glyphs.dot} {attempts} not finished"
    return (Span(text, "muted"),)


def step_lines(step: ShownStep, detail: StepDetail | None, cells: int, lens: Lens, rows: int = 12) -> list[Line]:
    """Prompt, output, error, receipts and effects of a step, as titled blocks of at most `cells` cells.

    `rows` is how much of each value stands here; the rest opens with Enter.
    """
    lines = [clipped(_title(step, lens), cells, lens.glyphs.ellipsis), EMPTY]
    if detail is None or detail.attempt_id != step.attempt.attempt_id:
        return lines
    for title, value in (("Prompt", detail.prompt), ("Error", detail.error)):
        if value is not None:
            lines += [*value_lines(title, value, cells, lens, rows), EMPTY]
    lines += [*value_lines("Output", detail.output, cells, lens, rows), EMPTY]
    if detail.receipts:
        lines.append(joined(Span("Receipts", "strong", bold=True)))
        lines += [_indented(f"{lens.glyphs.ok} {text}", cells, lens) for text in detail.receipts]
        lines.append(EMPTY)
    lines.append(joined(Span("Effects", "strong", bold=True)))
    if not detail.effects:
        lines.append(joined(Span("  none", "muted")))
    lines += [effect_line(effect, cells, lens) for effect in detail.effects]
    if detail.settings is not None:
        lines += [
            EMPTY,
            joined(Span("Settings", "strong", bold=True), Span(f"  {len(detail.settings)} bound", "muted")),
        ]
        lines += [_setting(name, value, cells, lens) for name, value in detail.settings]
    return lines


def _setting(name: str, value: str, cells: int, lens: Lens) -> Line:
    row = joined(Span(f"  {left(name, 12, lens.glyphs.ellipsis)} ", "muted"), Span(value))
    return clipped(row, cells, lens.glyphs.ellipsis)


def _title(step: ShownStep, lens: Lens) -> Line:
    attempt = step.attempt
    dot = f" {lens.glyphs.dot} "
    facts = [str(attempt.kind).replace("_", " "), f"visit {attempt.visit}"]
    start = moment(attempt.started_at, lens.now_ms, lens.zone)
    if attempt.ended_at is not None:
        facts.append(f"{start} to {moment(attempt.ended_at, lens.now_ms, lens.zone)}")
    else:
        facts.append(f"since {start}")
    facts.append(f"worked {fine_duration(_worked(step, lens))}")
    name = Span(f"{attempt.node} #{attempt.number}", "strong", bold=True)
    return joined(name, Span(f"   {dot.join(facts)}", "muted"))


def _indented(text: str, cells: int, lens: Lens) -> Line:
    return clipped(joined(Span("  "), Span(text)), cells, lens.glyphs.ellipsis)


def effect_line(effect: ShownEffect, cells: int, lens: Lens) -> Line:
    """`tag  manual, ambiguous: did it happen?`"""
    role: Role = "bad" if effect.status is EffectStatus.AMBIGUOUS else "text"
    words = "ambiguous: did it happen?" if effect.status is EffectStatus.AMBIGUOUS else str(effect.status)
    tries = f", {effect.attempts} tries" if effect.attempts > 1 else ""
    resolved = f", resolved by {effect.resolved_by}" if effect.resolved_by else ""
    row = joined(
        Span("  "),
        Span(left(effect.type, 16, lens.glyphs.ellipsis)),
        Span(f" {effect.recovery}, ", "muted"),
        Span(words, role),
        Span(f"{tries}{resolved}", "muted"),
    )
    return clipped(row, cells, lens.glyphs.ellipsis)


def not_finished(lens: Lens) -> Line:
    """The heading above the attempts that have no step yet."""
    return fitted((Span("  not finished", "muted"),), LIST_CELLS, lens.glyphs.ellipsis)
