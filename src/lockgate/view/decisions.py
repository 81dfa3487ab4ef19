"""Pane 2: what waits for an answer, across all runs, least time left first."""

from collections.abc import Sequence

from lockgate.model.statuses import Provenance, RequestKind, Word
from lockgate.view.cells import EMPTY, Line, Span, blank, clipped, fitted, joined, left, line_width, spread
from lockgate.view.lens import Band, Lens
from lockgate.view.snapshots import ShownRequest
from lockgate.view.times import duration, moment

NOTHING = ("Nothing needs you.", "A decision lands here and rings the bell once.")


def in_order(requests: Sequence[ShownRequest]) -> list[ShownRequest]:
    """Least time left first, those without a limit last, older ones first; agent requests after all others."""
    return sorted(
        requests,
        key=lambda request: (
            request.kind is RequestKind.AGENT,
            request.deadline_at is None,
            request.deadline_at or 0,
            request.created_at,
            request.request_id,
        ),
    )


def rows_each(lens: Lens) -> int:
    """One row per decision in the narrow column, two everywhere else."""
    return 1 if lens.band is Band.NARROW else 2


def queue_words(lens: Lens) -> Line:
    """The right end of the pane's rule."""
    return (Span("time left" if lens.band is Band.NARROW else "least time left first", "muted"),)


def decision_lines(request: ShownRequest, cells: int, lens: Lens, *, selected: bool = False) -> list[Line]:
    """The one or two rows of a pending request, exactly `cells` wide; cell 0 is blank."""
    if rows_each(lens) == 1:
        return [_single(request, cells, lens)]
    glyph = _glyph(request, lens)
    question = joined(Span("  "), glyph, Span(" "), Span(request.title, "strong", bold=True))
    first = spread(question, joined(_time_left(request, lens), Span(" ")), cells, lens.glyphs.ellipsis, gap=2)
    what = joined(blank(4), Span(request.workflow), Span(f" {request.short_id[:4]}", "muted"))
    if lens.band is Band.WIDE and request.audience:
        what = joined(what, Span(f" for {request.audience}", "muted"))
    # The run is told whole before the default is, which the card shows, too.
    then = clipped(_then(request), max(cells - line_width(what) - 3, cells // 3), lens.glyphs.ellipsis)
    second = spread(what, joined(then, Span(" ")) if then else EMPTY, cells, lens.glyphs.ellipsis, gap=2)
    return [first, second]


def _single(request: ShownRequest, cells: int, lens: Lens) -> Line:
    question = Span(left(request.title, cells - 12, lens.glyphs.ellipsis), "strong", bold=True)
    time = _time_left(request, lens, brief=True)
    room = 6 - line_width(time)
    start = joined(Span("  "), _glyph(request, lens), Span(" "), question)
    if room < 0:  # a chip is one cell wider than the column at each side
        return fitted(joined(clipped(start, cells - line_width(time), lens.glyphs.ellipsis), time), cells)
    return fitted(joined(start, Span(" "), blank(room), time, Span(" ")), cells)


def _glyph(request: ShownRequest, lens: Lens) -> Span:
    if request.is_overdue(lens.now_ms):
        return Span(lens.glyphs.words[Word.OVERDUE], "bad", bold=True)
    if request.kind is RequestKind.DECISION:
        return Span(lens.glyphs.asking, "you", bold=True)
    return Span(lens.glyphs.wanting, "you" if request.kind is RequestKind.CHECKPOINT else "muted")


def _time_left(request: ShownRequest, lens: Lens, *, brief: bool = False) -> Line:
    """`in 5m48s`, a chip under a tenth of the time, `due` when it is over, `no limit` without one."""
    left_ms = request.left_ms(lens.now_ms)
    if left_ms is None:
        return (Span("none" if brief else "no limit", "muted"),)
    if request.is_overdue(lens.now_ms):
        return (Span("due" if brief else "overdue", "bad", bold=True),)
    text = duration(left_ms) if brief else f"in {duration(left_ms)}"
    if request.paused:
        return (Span(text, "paused"),)
    if request.is_urgent(lens.now_ms):
        return (Span(f" {text} " if not brief else f" {text}", "you-fill", bold=True),)
    return (Span(text, "you", bold=True),)


def _then(request: ShownRequest) -> Line:
    """`then Stop here`: what the deadline takes; what else the request is, where it has none."""
    if request.default_label:
        return joined(Span("then ", "muted"), Span(request.default_label))
    if request.kind is RequestKind.AGENT:
        return (Span("for an agent", "muted"),)
    return (Span("takes input", "muted"),) if request.kind is RequestKind.CHECKPOINT else EMPTY


def decided_lines(request: ShownRequest, cells: int, lens: Lens) -> list[Line]:
    """Two rows of what was decided: the question and the choice; who, when and from where."""
    resolution = request.resolution
    ellipsis = lens.glyphs.ellipsis
    start = joined(Span("  "), Span(lens.glyphs.ok, "muted"), Span(" "), Span(request.title))
    if resolution is None:
        return [fitted(start, cells, ellipsis), blank(cells)]
    words = clipped((Span(resolution_words(request), "strong"),), cells // 2, ellipsis)
    first = spread(start, joined(words, Span(" ")), cells, ellipsis, gap=2)
    when = moment(resolution.at, lens.now_ms, lens.zone)
    who = joined(blank(4), Span(request.workflow), Span(f" {request.short_id[:4]}", "muted"))
    from_where = f" from {resolution.place}" if resolution.place else ""
    end = joined(Span(f"{resolver(request)}{from_where} at {when} ", "muted"))
    return [first, spread(who, end, cells, ellipsis, gap=2)]


def resolution_words(request: ShownRequest) -> str:
    """What became of a decided request: the choice's label, or that it was withdrawn."""
    resolution = request.resolution
    if resolution is None:
        return "pending"
    if resolution.provenance is Provenance.EXPLICIT_CANCEL:
        return "withdrawn"
    return resolution.label or resolution.choice or "answered"


def resolver(request: ShownRequest) -> str:
    """Who decided it, in words: `by ada`, or that the deadline did."""
    resolution = request.resolution
    if resolution is None:
        return ""
    if resolution.provenance is Provenance.TIMEOUT_POLICY:
        return "by its deadline"
    return f"by {resolution.actor}"


def decisions_height(count: int, column: int, lens: Lens) -> int:
    """Rows of the pane at the bottom of the left column, its rule included: at most a third of the column."""
    wanted = 1 + max(count * rows_each(lens), 3 if count == 0 else 0)
    return min(wanted, max(column // 3, 1 + rows_each(lens)))
