"""How the time of each attempt was spent, worked out from rows and the few events that rows do not keep."""

from collections.abc import Iterable, Mapping, Sequence

from lockgate.model.records import AttemptRow, EventView, IntervalRow, RequestRow
from lockgate.model.statuses import AttemptStatus, RequestKind
from lockgate.view.snapshots import Segment, SegmentKind

Span = tuple[int, int | None]


def pauses(marks: Iterable[EventView], ended_at: int | None) -> list[Span]:
    """The spans in which the run was paused; the last may be open."""
    spans: list[Span] = []
    since: int | None = None
    for mark in marks:
        if mark.type == "run_paused" and since is None:
            since = mark.at
        elif mark.type == "run_unpaused" and since is not None:
            spans.append((since, mark.at))
            since = None
    if since is not None:
        spans.append((since, ended_at))
    return spans


def interruptions(marks: Iterable[EventView]) -> dict[str, int]:
    """When the loss of each interrupted attempt was noticed."""
    found: dict[str, int] = {}
    for mark in marks:
        attempt_id = mark.payload.get("attempt_id") or mark.attempt_id
        if mark.type == "run_interrupted" and isinstance(attempt_id, str):
            found[attempt_id] = mark.at
    return found


def doubts(marks: Iterable[EventView], ended_at: int | None) -> dict[str, Span]:
    """The spans in which a person was asked whether an effect happened, by attempt."""
    found: dict[str, Span] = {}
    for mark in marks:
        if mark.attempt_id is None:
            continue
        if mark.type == "effect_ambiguous" and ended_at != mark.at:
            found[mark.attempt_id] = (mark.at, ended_at)
        elif mark.type == "effect_resolved" and mark.attempt_id in found:
            found[mark.attempt_id] = (found[mark.attempt_id][0], mark.at)
    return found


def attempt_segments(
    attempt: AttemptRow,
    intervals: Sequence[IntervalRow],
    requests: Sequence[RequestRow],
    paused: Sequence[Span],
    lost_at: int | None,
    doubt: Span | None,
) -> tuple[Segment, ...]:
    """Worked, waited, paused and lost, in order of time; what is none of them leaves a hole (queued)."""
    segments: list[Segment] = []
    for interval in intervals:
        end = interval.ended_at
        if end is None and attempt.status is not AttemptStatus.RUNNING:
            end = interval.started_at + interval.elapsed_ms
        segments.append(Segment(SegmentKind.WORK, interval.started_at, end))
    for request in requests:
        kind = SegmentKind.AGENT if request.kind is RequestKind.AGENT else SegmentKind.PERSON
        end = request.settled_at if request.settled_at is not None else attempt.finished_at
        segments.extend(_waiting((request.created_at, end), kind, paused))
    if doubt is not None:
        segments.extend(_waiting(doubt, SegmentKind.PERSON, paused))
    if lost_at is not None:
        seen = max((each.end or each.start for each in segments if each.start <= lost_at), default=attempt.started_at)
        if lost_at > seen:
            segments.append(Segment(SegmentKind.LOST, seen, lost_at))
    return tuple(sorted(segments, key=lambda each: each.start))


def _waiting(span: Span, kind: SegmentKind, paused: Sequence[Span]) -> list[Segment]:
    """A wait with its paused parts taken out: paused time counts as neither clock."""
    return [
        Segment(SegmentKind.PAUSED if is_paused else kind, start, end) for start, end, is_paused in _split(span, paused)
    ]


def _split(span: Span, holes: Sequence[Span]) -> list[tuple[int, int | None, bool]]:
    """The span as pieces inside and outside of the holes; pieces without length are left out."""
    start, end = span
    pieces: list[tuple[int, int | None, bool]] = []
    for hole_start, hole_end in holes:
        begin = max(hole_start, start)
        stop = _earlier(hole_end, end)
        if (end is not None and begin >= end) or (stop is not None and stop <= begin):
            continue
        if begin > start:
            pieces.append((start, begin, False))
        pieces.append((begin, stop, True))
        if stop is None:
            return pieces
        start = stop
    if end is None or end > start:
        pieces.append((start, end, False))
    return pieces


def _earlier(first: int | None, second: int | None) -> int | None:
    known = [each for each in (first, second) if each is not None]
    return min(known) if known else None


def run_pauses(paused: Sequence[Span], work: Mapping[str, Sequence[IntervalRow]]) -> tuple[Segment, ...]:
    """The run's paused spans without the time in which a worker still finished its node."""
    busy: list[Span] = sorted(
        ((each.started_at, each.ended_at) for intervals in work.values() for each in intervals),
        key=lambda span: span[0],
    )
    segments: list[Segment] = []
    for span in paused:
        segments.extend(
            Segment(SegmentKind.PAUSED, start, end) for start, end, is_busy in _split(span, busy) if not is_busy
        )
    return tuple(segments)
