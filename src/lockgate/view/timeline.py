"""Pane 3: where a run's time went, one row per attempt on one axis."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from lockgate.model.statuses import RequestKind, Word
from lockgate.model.text import cell_width, clip
from lockgate.view.axis import Window, fitting, ticks
from lockgate.view.bars import ROLES, Bar, stroke
from lockgate.view.cells import (
    EMPTY,
    Line,
    Role,
    Span,
    blank,
    fitted,
    joined,
    left,
    line_width,
    node_name,
    right,
    spread,
)
from lockgate.view.folds import Fold, folded
from lockgate.view.lens import Band, Lens
from lockgate.view.snapshots import Segment, SegmentKind, ShownAttempt, ShownTimeline
from lockgate.view.times import duration, exact, second

LABEL_CELLS = 11
OPEN_MARKS = frozenset({"running", "you", "input", "agent", "effect", "answered"})

_MARKS: dict[str, tuple[Word | None, Role]] = {
    "ok": (Word.COMPLETED, "muted"),
    "failed": (Word.FAILED, "bad"),
    "timed_out": (Word.TIMED_OUT, "bad"),
    "cancelled": (Word.CANCELLED, "muted"),
    "interrupted": (Word.INTERRUPTED, "run"),
    "running": (Word.RUNNING, "run"),
    "you": (Word.WAITING, "you"),
    "effect": (Word.BLOCKED, "bad"),
    "answered": (Word.ANSWERED, "run"),
    "paused": (Word.PAUSED, "paused"),
    "lost": (Word.LOST, "bad"),
}


class TimelineView(msgspec.Struct, frozen=True):
    """How the pane is looked at. A `window` of None is the whole run and follows now. `stale` is the time of
    the data where the store cannot be read: nothing grows then."""

    window: Window | None = None
    cursor: str | None = None
    focused: bool = False
    stale: int | None = None
    lost_since: int | None = None


class TimelineRow(msgspec.Struct, frozen=True):
    """A painted row; `attempt_id` where the cursor can stand on it."""

    line: Line
    attempt_id: str | None = None


class TimelineParts(msgspec.Struct, frozen=True):
    """`head`: the whole run and the axis; `rows`: one per attempt (or fold); `foot`: the sums line."""

    head: tuple[Line, ...]
    rows: tuple[TimelineRow, ...]
    foot: tuple[Line, ...]


def mark_of(mark: str, lens: Lens) -> tuple[str, Role]:
    """The glyph and the colour of an attempt's outcome."""
    if mark in ("input", "agent"):
        return lens.glyphs.wanting, "you" if mark == "input" else "muted"
    if mark == "you":
        return lens.glyphs.asking, "you"
    name, role = _MARKS.get(mark, (None, "muted"))
    return (lens.glyphs.words[name] if name else lens.glyphs.dot), role


def mark_for_request(kind: RequestKind) -> tuple[str, str]:
    """The mark and the words of an attempt that waits for a request."""
    return {
        RequestKind.DECISION: ("you", "waiting for you"),
        RequestKind.CHECKPOINT: ("input", "waiting for input"),
        RequestKind.AGENT: ("agent", "waiting for agent"),
    }[kind]


def window_of(timeline: ShownTimeline, lens: Lens, view: TimelineView) -> Window:
    """The window that is drawn: the chosen one, else the whole run."""
    now_ms = lens.now_ms if view.stale is None else view.stale
    return view.window or fitting(timeline.started_at, timeline.ended_at, now_ms)


def timeline_rows(
    timeline: ShownTimeline, cells: int, lens: Lens, view: TimelineView, height: int
) -> list[TimelineRow]:
    """The whole run, the axis, the attempts and the sums, at most `height` rows of exactly `cells` cells.

    Finished repeats of a node are folded into one row where the attempts would not fit; if they still do not,
    the newest rows are kept, the one under the cursor among them.
    """
    parts = timeline_parts(timeline, cells, lens, view, height)
    return [*(TimelineRow(line) for line in parts.head), *parts.rows, *(TimelineRow(line) for line in parts.foot)]


def timeline_parts(timeline: ShownTimeline, cells: int, lens: Lens, view: TimelineView, height: int) -> TimelineParts:
    """The same rows in three parts, for a list whose head and foot do not scroll."""
    return _Painter(timeline, cells, lens, view).parts(height)


class _Painter:
    def __init__(self, timeline: ShownTimeline, cells: int, lens: Lens, view: TimelineView) -> None:
        self.timeline, self.cells, self.lens, self.view = timeline, cells, lens, view
        self.two = lens.band >= Band.USUAL
        self.width = max(cells - (30 if self.two else 22), 1)
        self.now_ms = lens.now_ms if view.stale is None else view.stale
        self.live = timeline.ended_at is None and view.stale is None
        self.window = window_of(timeline, lens, view)
        self.ticks = list(ticks(self.window, self.width, lens.zone))

    def parts(self, height: int) -> TimelineParts:
        head = (self.whole(),) if self.lens.short else (self.whole(), self.axis())
        room = max(height - len(head) - 1, 0)
        rows = tuple(self.attempt_rows(room))
        foot = (self.sums(),) if len(head) + len(rows) < height else ()
        return TimelineParts(head[:height], rows, foot)

    def attempt_rows(self, room: int) -> list[TimelineRow]:
        attempts: Sequence[ShownAttempt] = self.timeline.attempts
        if self.lens.short:
            attempts = [each for each in attempts if each.mark in OPEN_MARKS] or attempts[-1:]
        rows: list[TimelineRow] = []
        hidden = self.timeline.total - len(self.timeline.attempts)
        if hidden > 0 and room > 1 and not self.lens.short:
            text = f"  {self.lens.glyphs.ellipsis} {hidden} earlier attempts are not drawn"
            rows.append(TimelineRow(fitted((Span(text, "muted"),), self.cells, self.lens.glyphs.ellipsis)))
            room -= 1
        folds = folded(attempts, room)
        if len(folds) > room:
            folds = _around_cursor(folds, room, self.view.cursor)
        node = ""
        for fold in folds:
            rows.append(TimelineRow(self.attempt(fold, named=fold.node != node), fold.attempts[-1].attempt_id))
            node = fold.node
        return rows

    def segments(self, attempt: ShownAttempt) -> tuple[Segment, ...]:
        """The attempt's segments; the open one of a silent worker is lost since its last sign of life."""
        since = self.view.lost_since
        if since is None:
            return attempt.segments
        kept: list[Segment] = []
        for segment in attempt.segments:
            if segment.end is None and segment.kind is SegmentKind.WORK:
                kept.append(replace(segment, end=max(since, segment.start)))
                kept.append(Segment(SegmentKind.LOST, max(since, segment.start), None))
            else:
                kept.append(segment)
        return tuple(kept)

    def every_segment(self) -> list[Segment]:
        spans = [segment for attempt in self.timeline.attempts for segment in self.segments(attempt)]
        return [*self.timeline.pauses, *spans]

    def whole(self) -> Line:
        bar = Bar(self.width, self.window, self.lens.glyphs)
        segments = self.every_segment()
        bar.paint(segments, self.now_ms)
        growing = [segment for segment in segments if segment.end is None]
        if self.live and growing:
            bar.live_end(growing[-1].kind)
        worked, waited = self.clocks()
        label = Span(left("  whole run", LABEL_CELLS + 2))
        if not self.two:
            return fitted(joined(label, bar.line()), self.cells)
        times = self._times(Span(duration(worked), "strong", bold=True), _waited(waited))
        return fitted(joined(label, bar.line(), times), self.cells)

    def clocks(self) -> tuple[int, int]:
        """The run's worked and waited time up to now; they are never added up."""
        timeline = self.timeline
        since = max(self.now_ms - timeline.ticking_since, 0) if timeline.ticking else 0
        if self.view.lost_since is not None:
            since = max(self.view.lost_since - timeline.ticking_since, 0)
        worked = timeline.worked_ms + (since if timeline.ticking is SegmentKind.WORK else 0)
        waited = timeline.waited_ms + (since if timeline.ticking is SegmentKind.PERSON else 0)
        return worked, waited

    def axis(self) -> Line:
        cells = [(" ", False)] * self.width
        end = self._axis_end()
        stop = self.width
        if end:
            tip = min(max(self.window.cell(self.now_ms, self.width), 0), self.width - 1)
            stop = max(tip + 1 - len(end[0].text), 0)
        for cell, label in self.ticks:
            if cell + 1 + len(label) >= stop + (1 if not end else 0):
                continue
            cells[cell] = (self.lens.glyphs.tick, True)
            for index, character in enumerate(label):
                cells[cell + 1 + index] = (character, False)
        spans = tuple(Span(text, "line" if tick else "muted") for text, tick in cells[:stop])
        row = joined(spans, end)
        row = joined(row, blank(self.width - line_width(row)))
        heads = "  worked  waited " if self.two else "    time "
        return fitted(joined(Span(left("  attempt", LABEL_CELLS + 2), "muted"), row, Span(heads, "muted")), self.cells)

    def _axis_end(self) -> Line:
        """What stands at the live end: now, or the time of data that is stale; nothing on a run that is over."""
        inside = self.window.start <= self.now_ms <= self.window.end
        if self.timeline.ended_at is not None or not inside:
            return EMPTY
        if self.view.stale is not None:
            return (Span(second(self.view.stale, self.lens.zone), "bad"),)
        return (Span("now", "muted"),)

    def attempt(self, fold: Fold, *, named: bool) -> Line:
        shown = fold.attempts[-1]
        bar = Bar(self.width, self.window, self.lens.glyphs)
        bar.grid(cell for cell, _ in self.ticks)
        segments = [segment for each in fold.attempts for segment in self.segments(each)]
        bar.paint(segments, self.now_ms)
        growing = [segment for segment in segments if segment.end is None]
        if self.live and growing:
            bar.live_end(growing[-1].kind)
        bar.place(fold.attempts[0].started_at)
        end = shown.ended_at or (self.now_ms if growing else shown.started_at)
        if self.view.window is not None:
            bar.cut_ends(fold.attempts[0].started_at, end)
        self._outcome(bar, fold)
        chosen = self.view.cursor is not None and any(each.attempt_id == self.view.cursor for each in fold.attempts)
        return fitted(
            joined(_label(fold, named or chosen, chosen, self.lens), bar.line(), self._sums_of(segments)),
            self.cells,
        )

    def _outcome(self, bar: Bar, fold: Fold) -> None:
        shown = fold.attempts[-1]
        mark, words = shown.mark, shown.outcome
        if self.view.lost_since is not None and mark == "running":
            mark, words = "lost", "lost"
        glyph, role = mark_of(mark, self.lens)
        words = fold.words or words
        texts = [f"{glyph} {clip(words, 24, self.lens.glyphs.ellipsis)}"]
        if " for " in words:
            texts.append(f"{glyph} {words.split(' for ')[0]}")
        # Wide characters would need two cells of the bar for one of the text.
        texts = [text for text in texts if cell_width(text) == len(text)]
        bar.write([*texts, glyph], role, glyph_role=role)

    def _sums_of(self, segments: Sequence[Segment]) -> Line:
        worked = total(segments, SegmentKind.WORK, self.now_ms)
        waited = total(segments, SegmentKind.PERSON, self.now_ms)
        waits = any(segment.kind is SegmentKind.PERSON for segment in segments)
        if not self.two:
            return self._times(_waited(waited) if waits else Span(duration(worked)))
        first = Span(duration(worked), "muted" if waits and not worked else "text")
        return self._times(first, _waited(waited) if waits else Span(""))

    def _times(self, *times: Span) -> Line:
        parts: list[Line | Span] = []
        for time in times:
            parts.append(Span("  "))
            parts.append(Span(right(time.text, 6), time.role, time.bold))
        return joined(*parts, Span(" "))

    def sums(self) -> Line:
        """The legend with the run's sums; with the pane focused, the attempt under the cursor exactly."""
        if self.view.focused and self.view.cursor is not None:
            for attempt in self.timeline.attempts:
                if attempt.attempt_id == self.view.cursor:
                    return self.exact(attempt)
        worked, waited = self.clocks()
        segments = self.every_segment()
        agent = total(segments, SegmentKind.AGENT, self.now_ms)
        paused = total(self.timeline.pauses, SegmentKind.PAUSED, self.now_ms)
        lost = total(segments, SegmentKind.LOST, self.now_ms)
        parts = [
            (SegmentKind.WORK, "worked", worked),
            (SegmentKind.PERSON, "waited for you", waited),
            *([(SegmentKind.AGENT, "waited for agent", agent)] if agent else []),
            (SegmentKind.PAUSED, "paused", paused),
            (SegmentKind.LOST, "lost", lost),
        ]
        return fitted(self._legend(parts), self.cells, self.lens.glyphs.ellipsis)

    def _legend(self, parts: list[tuple[SegmentKind, str, int]]) -> Line:
        room = self.cells - 1
        shown = list(parts)
        line = self._legend_line(shown, 2)
        if line_width(line) > room:
            shown = [(kind, "waited" if kind is SegmentKind.PERSON else name, ms) for kind, name, ms in shown]
            line = self._legend_line(shown, 2)
        while line_width(line) > room and len(shown) > 2:
            tight = self._legend_line(shown, 1)
            if line_width(tight) <= room:
                return tight
            shown = shown[:-1]
            line = self._legend_line(shown, 2)
        return line

    def _legend_line(self, parts: Sequence[tuple[SegmentKind, str, int]], gap: int) -> Line:
        spans: list[Line | Span] = [Span("  ")]
        for index, (kind, name, ms) in enumerate(parts):
            spans.append(blank(gap) if index else EMPTY)
            spans.append(Span(stroke(kind, self.lens.glyphs), ROLES[kind]))
            spans.append(Span(f" {name} ", "muted"))
            spans.append(Span(duration(ms)))
        return joined(*spans)

    def exact(self, attempt: ShownAttempt) -> Line:
        """`approve #1  14:02:42.007 to 14:05:52.130   waited 2m20s, paused 50s`"""
        zone = self.lens.zone
        ended = attempt.ended_at
        end = exact(ended, self.lens.now_ms, zone) if ended is not None else "now"
        name = Span(f"  {attempt.node} #{attempt.number}", "strong", bold=True)
        start = joined(name, Span("  "), Span(f"{exact(attempt.started_at, self.lens.now_ms, zone)} to {end}"))
        segments = self.segments(attempt)
        parts: list[Line | Span] = []
        for kind in SegmentKind:
            ms = total(segments, kind, self.now_ms)
            if ms or (kind is SegmentKind.WORK and len(segments) == 1):
                parts.append(Span(", " if parts else "", "muted"))
                parts.append(Span(f"{kind} ", "muted"))
                person = kind is SegmentKind.PERSON
                parts.append(Span(duration(ms), "you" if person else "text", bold=person))
        return spread(start, joined(*parts, Span(" ")), self.cells, self.lens.glyphs.ellipsis, gap=2)


def total(segments: Sequence[Segment], kind: SegmentKind, now_ms: int) -> int:
    """The time of one kind, in milliseconds; an open segment counts up to now."""
    return sum(
        max((now_ms if each.end is None else each.end) - each.start, 0) for each in segments if each.kind is kind
    )


def _waited(ms: int) -> Span:
    return Span(duration(ms), "you" if ms else "muted", bold=bool(ms))


def _label(fold: Fold, named: bool, chosen: bool, lens: Lens) -> Line:
    """`build   #1`: the node on its first row only, the attempt at a fixed place."""
    number = f"x{len(fold.attempts)}" if len(fold.attempts) > 1 else f"#{fold.attempts[-1].number}"
    room = LABEL_CELLS - max(len(number), 3)
    # A blank stays before the number: a name that would touch it is cut.
    name = left(node_name(fold.node if named else "", room - 1, lens.glyphs.ellipsis), room)
    style: tuple[Role, bool] = ("strong", True) if chosen else ("text", False)
    start = joined(Span("  "), Span(name, style[0], style[1]), Span(number, "muted"))
    return fitted(start, LABEL_CELLS + 2)


def _around_cursor(folds: list[Fold], room: int, cursor: str | None) -> list[Fold]:
    """The newest rows, or those around the cursor where it stands further up."""
    place = next(
        (index for index, fold in enumerate(folds) if any(each.attempt_id == cursor for each in fold.attempts)),
        len(folds) - 1,
    )
    start = min(max(place - room // 2, 0), max(len(folds) - room, 0))
    return folds[start : start + room]


def height_of(timeline: ShownTimeline, lens: Lens) -> int:
    """Rows that the whole timeline would take: the head, its attempts, the sums."""
    if lens.short:
        return 2 + max(sum(each.mark in OPEN_MARKS for each in timeline.attempts), min(len(timeline.attempts), 1))
    return 3 + len(timeline.attempts) + (1 if timeline.total > len(timeline.attempts) else 0)
