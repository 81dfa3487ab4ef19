"""One whole screen as lines: what `--once` prints, laid out as the dashboard is."""

from collections.abc import Sequence
from datetime import tzinfo
from pathlib import Path

import msgspec

from lockgate.store.clock import SystemClock
from lockgate.store.location import default_path
from lockgate.store.openfile import open_file
from lockgate.store.opening import unwritable
from lockgate.view.cells import EMPTY, Line, Span, blank, joined, plain, stacked
from lockgate.view.decisions import NOTHING, decision_lines, decisions_height, in_order, queue_words, rows_each
from lockgate.view.empty import said, start_here
from lockgate.view.facts import UNWRITABLE, store_fact
from lockgate.view.glyphs import Glyphs
from lockgate.view.header import banner_lines, header_line, status_line, too_small_lines
from lockgate.view.lens import ROOMY_ROWS, Band, Lens
from lockgate.view.panes import lost_at, timeline_state, timeline_title
from lockgate.view.reading import Reader
from lockgate.view.rules import count, marked, pane_rule, tab_rule, tabs, title
from lockgate.view.runs import no_runs, run_line, runs_head, sort_words
from lockgate.view.snapshots import Interest, ShownDetail, Snapshot
from lockgate.view.timeline import TimelineView, height_of, timeline_rows
from lockgate.view.times import second
from lockgate.view.trace import NO_EVENTS, seq_width, trace_line, trace_rule

KEYS = (
    ("d", "decide"),
    ("/", "filter"),
    ("f", "follow"),
    ("!", "stuck only"),
    ("z", "zoom"),
    (":", "commands"),
    ("?", "help"),
    ("q", "quit"),
)
LEFT_CELLS = {Band.WIDE: 72, Band.USUAL: 50, Band.NARROW: 34}


class Layout(msgspec.Struct, frozen=True):
    """Where the panes of a screen are, in cells and rows; `right` is 0 below 80 columns."""

    left: int
    gutter: int
    right: int
    body: int
    gap: int


def layout(lens: Lens, banners: int = 0) -> Layout:
    """The two columns between the header (with its banners) and the status line."""
    body = max(lens.rows - 2 - banners, 0)
    gap = 1 if lens.rows >= ROOMY_ROWS else 0
    if lens.band is Band.ONE_PANE:
        return Layout(lens.columns, 0, 0, body, gap)
    left = LEFT_CELLS[lens.band]
    gutter = 2 if lens.band is Band.WIDE else 1
    return Layout(left, gutter, lens.columns - left - gutter, body, gap)


def frame(snapshot: Snapshot, lens: Lens, *, focus: int = 1) -> list[Line]:
    """The screen as `lens.rows` lines of `lens.columns` cells, the pane `focus` (1 to 4) focused."""
    if lens.too_small:
        return too_small_lines(lens)
    banners = banner_lines(snapshot, lens)
    place = layout(lens, len(banners))
    if place.right:
        left = left_column(snapshot, place, lens, focus)
        right = right_column(snapshot, place, lens, focus)
        body = [
            joined(here, blank(place.gutter), there)
            for here, there in zip(
                stacked(left, place.body, place.left), stacked(right, place.body, place.right), strict=True
            )
        ]
    else:
        body = stacked(one_pane(snapshot, place, lens, focus), place.body, lens.columns)
    status = status_line(KEYS, _position(snapshot, focus), lens)
    return [header_line(snapshot, lens), *banners, *body, status]


def once_frame(
    path: Path | None, *, columns: int, rows: int, glyphs: Glyphs, zone: tzinfo, run_id: str | None = None
) -> str:
    """One frame of the store at `path` as plain text; `run_id` chooses the run of panes 3 and 4.

    Raises the store's errors. Below 80 columns a chosen run takes the screen.
    """
    clock = SystemClock()
    lens = Lens(clock.now(), columns, rows, glyphs, zone)
    interest = Interest(run_id=run_id, count=max(rows, 1), trace_count=max(rows, 1))
    file = open_file(path or default_path(), clock, read_only=True)
    try:
        why = UNWRITABLE if unwritable(file.path) is not None else ""
        fact = store_fact(file.path.name, still=file.still, why_not=why)
        snapshot = file.read(lambda connection: Reader().read(connection, interest, fact, clock.now()))
    finally:
        file.close()
    return frame_text(frame(snapshot, lens.at(snapshot.at), focus=3 if run_id and lens.band is Band.ONE_PANE else 1))


def frame_text(lines: Sequence[Line]) -> str:
    """The frame as plain text, one line each, without blanks at their ends."""
    return "\n".join(plain(line) for line in lines) + "\n"


def _position(snapshot: Snapshot, focus: int) -> Line:
    page = snapshot.runs
    if focus == 1 and page.total:
        last = page.first + len(page.rows)
        return (Span(f"{page.first + 1}-{last} of {page.total}", "muted"),)
    detail = snapshot.detail
    if detail is not None and detail.trace.total:
        total = detail.trace.total
        return (Span(f"{detail.trace.first + len(detail.trace.rows) - 1} of {total} events", "muted"),)
    return EMPTY


def _rule(snapshot: Snapshot, start: Line, end: Line, cells: int, lens: Lens, *, focused: bool, old: bool) -> Line:
    """A pane's rule; `old` puts the time of stale data in the place of its right part."""
    live = snapshot.store.state.is_live
    as_of = "" if live or not old else second(snapshot.store.as_of, lens.zone)
    return pane_rule(start, end, cells, lens, mood="calm" if live else "stale", focused=focused, as_of=as_of)


def left_column(snapshot: Snapshot, place: Layout, lens: Lens, focus: int) -> list[Line]:
    """Runs above decisions, the decisions at the bottom of the column."""
    below = decisions_height(len(snapshot.decisions), place.body, lens)
    above = max(place.body - below - place.gap, 1)
    runs = [
        _rule(
            snapshot,
            title(1, "Runs", lens, focused=focus == 1, rest=count(snapshot.runs.total)),
            sort_words(snapshot.runs, lens) if snapshot.runs.total else EMPTY,
            place.left,
            lens,
            focused=focus == 1,
            old=True,
        ),
        *run_rows(snapshot, place.left, lens, above - 1, focused=focus == 1),
    ]
    decisions = [
        _rule(
            snapshot,
            title(2, "Decisions", lens, focused=focus == 2, rest=count(len(snapshot.decisions))),
            queue_words(lens) if snapshot.decisions else EMPTY,
            place.left,
            lens,
            focused=focus == 2,
            old=False,
        ),
        *decision_rows(snapshot, place.left, lens, below - 1),
    ]
    return [*stacked(runs, above + place.gap, place.left), *decisions]


def run_rows(snapshot: Snapshot, cells: int, lens: Lens, height: int, *, focused: bool) -> list[Line]:
    """The head and the rows of the list, or what an empty one says."""
    page = snapshot.runs
    if not page.rows:
        return said(no_runs(page), cells, lens)
    head = runs_head(cells, lens)
    lines = [head] if head else []
    chosen = snapshot.detail.run.run_id if snapshot.detail else None
    for shown in page.rows[: max(height - len(lines), 0)]:
        selected = shown.run_id == chosen
        line = run_line(shown, cells, lens, selected=selected)
        lines.append(marked(line, lens, focused=focused) if selected else line)
    return lines


def decision_rows(snapshot: Snapshot, cells: int, lens: Lens, height: int) -> list[Line]:
    """The queue, or what an empty one says; what does not fit is counted in the last row."""
    if not snapshot.decisions:
        return said(NOTHING, cells, lens)
    queue = in_order(snapshot.decisions)
    room = height // rows_each(lens)
    lines = [line for request in queue[:room] for line in decision_lines(request, cells, lens)]
    if len(queue) > room and len(lines) < height:
        lines.append((Span(f"    {len(queue) - room} more {lens.glyphs.below}", "muted"),))
    return lines


def right_column(snapshot: Snapshot, place: Layout, lens: Lens, focus: int) -> list[Line]:
    """The timeline above the trace of the selected run; commands to start with on an empty store."""
    detail = snapshot.detail
    if detail is None:
        return _no_detail(snapshot, place, lens, focus)
    height = min(height_of(detail.timeline, lens), max(place.body // 2 - 1, 3))
    upper = [_timeline_rule(snapshot, detail, place.right, lens, focus)]
    upper += timeline_lines(snapshot, detail, place.right, lens, height)
    lower = [
        _rule(
            snapshot,
            tabs("Trace", focused=focus == 4),
            trace_rule(detail.trace.total, lens),
            place.right,
            lens,
            focused=focus == 4,
            old=False,
        ),
        *trace_lines(detail, place.right, lens, place.body - len(upper) - place.gap - 1),
    ]
    return [*stacked(upper, len(upper) + place.gap, place.right), *lower]


def _no_detail(snapshot: Snapshot, place: Layout, lens: Lens, focus: int) -> list[Line]:
    focused = focus == 3
    if snapshot.runs.everything:
        rule = _rule(
            snapshot, timeline_title(None, lens, focused=focused), EMPTY, place.right, lens, focused=focused, old=False
        )
        return [rule]
    end: Line = (Span("nothing to draw yet", "muted"),)
    start = title(3, "Start here", lens, focused=focused)
    rule = _rule(snapshot, start, end, place.right, lens, focused=focused, old=False)
    return [rule, *start_here(snapshot, place.right, lens)]


def _timeline_rule(snapshot: Snapshot, detail: ShownDetail, cells: int, lens: Lens, focus: int) -> Line:
    end = timeline_state(detail, lens, following=True)
    start = timeline_title(detail, lens, focused=focus == 3, cells=cells, end=end)
    return _rule(snapshot, start, end, cells, lens, focused=focus == 3, old=True)


def timeline_lines(snapshot: Snapshot, detail: ShownDetail, cells: int, lens: Lens, height: int) -> list[Line]:
    """The timeline of the whole run, as of the data."""
    stale = None if snapshot.store.state.is_live else snapshot.store.as_of
    view = TimelineView(stale=stale, lost_since=lost_at(detail, lens))
    return [row.line for row in timeline_rows(detail.timeline, cells, lens, view, height)]


def trace_lines(detail: ShownDetail, cells: int, lens: Lens, height: int) -> list[Line]:
    """The newest events that fit, the newest at the end."""
    if not detail.trace.rows:
        return [joined(blank(2), Span(NO_EVENTS, "muted"))]
    width = seq_width(detail.trace.total)
    shown = detail.trace.rows[-max(height, 0) :] if height > 0 else ()
    return [trace_line(event, cells, lens, seq_cells=width) for event in shown]


def one_pane(snapshot: Snapshot, place: Layout, lens: Lens, focus: int) -> list[Line]:
    """Below 80 columns: the strip of all panes, and the focused one below it."""
    cells = lens.columns
    asked = len(snapshot.decisions)
    waiting = Span(f" {asked}", "you" if asked else "muted", bold=bool(asked))
    rule = tab_rule(focus, (waiting,), snapshot.runs.total, cells, lens)
    room = max(place.body - 1, 0)
    detail = snapshot.detail
    if focus == 2:
        return [rule, *decision_rows(snapshot, cells, lens, room)]
    if focus in (3, 4) and detail is not None:
        upper = timeline_lines(snapshot, detail, cells, lens, min(height_of(detail.timeline, lens), max(room // 2, 3)))
        if focus == 4:
            upper = []
        return [rule, *upper, *trace_lines(detail, cells, lens, room - len(upper))]
    return [rule, *run_rows(snapshot, cells, lens, room, focused=True)]
