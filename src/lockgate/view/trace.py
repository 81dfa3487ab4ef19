"""The Trace tab: one row per event, the newest at the end."""

import json

from lockgate.model.statuses import Word
from lockgate.model.text import clean
from lockgate.view.cells import EMPTY, Line, Span, blank, fitted, joined, left, line_width, node_name, restyled, right
from lockgate.view.glyphs import Glyphs
from lockgate.view.lens import Band, Lens
from lockgate.view.snapshots import ShownEvent
from lockgate.view.times import exact, stamp

EVENT_CELLS = 20
SUBJECT_CELLS = 10
WIDE_SUBJECT_CELLS = 16
DETAIL_CELLS = 56
BRIEF_CELLS = 90
NO_EVENTS = "No events yet."

_WORDS = {
    "failed": Word.FAILED,
    "timed_out": Word.TIMED_OUT,
    "cancelled": Word.CANCELLED,
    "ok": Word.COMPLETED,
    "lost": Word.LOST,
    "blocked": Word.BLOCKED,
    "answered": Word.ANSWERED,
    "paused": Word.PAUSED,
}


def glyph_of(mark: str, glyphs: Glyphs) -> str:
    """The glyph that a mark names; a blank for none."""
    if mark == "you":
        return glyphs.asking
    if mark in ("input", "agent"):
        return glyphs.wanting
    name = _WORDS.get(mark)
    return glyphs.words[name] if name else " "


def trace_line(
    event: ShownEvent,
    cells: int,
    lens: Lens,
    *,
    selected: bool = False,
    seq_cells: int = 3,
    ahead: bool = False,
) -> Line:
    """The row of an event, exactly `cells` wide, cell 0 blank.

    `seq_cells` grows with the trace. Below 120 columns the milliseconds and the number are left out, and the
    detail where it has no room. `ahead` greys events that have not happened yet as of a replay.
    """
    ellipsis = lens.glyphs.ellipsis
    brief = lens.band < Band.USUAL and cells < BRIEF_CELLS
    if brief:
        start = f"  {stamp(event.at, lens.now_ms, lens.zone, 8)} "
    else:
        start = f"  {stamp(event.at, lens.now_ms, lens.zone, 12)} {right(str(event.seq), seq_cells)}  "
    head = joined(
        Span(start, "muted"),
        Span(glyph_of(event.mark, lens.glyphs), event.role),
        Span(" "),
        Span(left(event.type, EVENT_CELLS, ellipsis), event.role, selected),
        Span(" "),
    )
    detailed = not brief or cells >= DETAIL_CELLS
    row = joined(*head, *_about(event, cells, cells - line_width(head) - 1, detailed=detailed, ellipsis=ellipsis))
    if ahead:
        row = restyled(row, "muted")
    return fitted(joined(fitted(row, cells - 1, ellipsis), Span(" ")), cells, ellipsis)


def _about(event: ShownEvent, cells: int, left_over: int, *, detailed: bool, ellipsis: str) -> Line:
    """What the event is about: in a column of its own where a detail follows."""
    if not detailed:
        return joined(Span(node_name(event.subject, max(left_over, 0), ellipsis)))
    width = WIDE_SUBJECT_CELLS if cells >= BRIEF_CELLS else SUBJECT_CELLS
    return joined(Span(node_name(event.subject, width, ellipsis)), Span(" "), Span(event.detail, "muted"))


def seq_width(total: int) -> int:
    """Cells of the number column for a trace of so many events."""
    return max(3, len(str(total)))


def trace_rule(total: int, lens: Lens, *, scope: str = "run") -> Line:
    """`run · 20 events`: the right end of the pane's rule."""
    if lens.band is Band.NARROW:
        return EMPTY
    events = "1 event" if total == 1 else f"{total} events"
    return (Span(f"{scope} {lens.glyphs.dot} {events}", "muted"),)


def payload_lines(event: ShownEvent, cells: int, lens: Lens) -> list[Line]:
    """The event whole: its facts and its payload, one row per line of JSON, clipped."""
    zone = lens.zone
    head = joined(Span(f"  {event.type}", "strong", bold=True), Span(f"  seq {event.seq}", "muted"))
    facts = joined(blank(2), Span(f"{exact(event.at, lens.now_ms, zone)}  {event.subject}  {event.detail}", "muted"))
    body = [joined(blank(4), Span(row)) for row in _indented(event.payload)]
    return [fitted(line, cells, lens.glyphs.ellipsis) for line in (head, facts, EMPTY, *body)]


def _indented(payload: str) -> list[str]:
    """JSON over several rows; what is no JSON stays as it is."""
    try:
        text = json.dumps(json.loads(payload), indent=2, ensure_ascii=False, sort_keys=True)
    except ValueError:
        text = payload
    return clean(text, multiline=True).split("\n")
