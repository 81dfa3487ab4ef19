"""The attempts of a run as the Timeline and the Steps tab show them, made from its rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from lockgate.model.records import AttemptRow, EventView, IntervalRow, RequestRow, RunDetail
from lockgate.model.statuses import AttemptStatus, Clock, RequestStatus
from lockgate.model.text import clean
from lockgate.view.segments import attempt_segments, doubts, interruptions, pauses, run_pauses
from lockgate.view.snapshots import SegmentKind, ShownAttempt, ShownStep, ShownTimeline
from lockgate.view.timeline import mark_for_request

_TICKING = {
    Clock.ACTIVE: SegmentKind.WORK,
    Clock.PERSON: SegmentKind.PERSON,
    Clock.AGENT: SegmentKind.AGENT,
    Clock.PAUSED: SegmentKind.PAUSED,
}

Labels = Mapping[tuple[str, str], str]


def shown_timeline(
    detail: RunDetail, marks: Sequence[EventView], *, total: int | None = None, labels: Labels | None = None
) -> ShownTimeline:
    """The timeline of a run; `labels` are those of its choices by (node, key), `total` counts all its attempts."""
    row = detail.row
    paused = pauses(marks, row.finished_at)
    lost = interruptions(marks)
    asked = doubts(marks, row.finished_at)
    work, asking = _by_attempt(detail.intervals), _by_attempt(detail.requests)
    attempts = []
    for attempt in detail.attempts:
        requests = asking.get(attempt.attempt_id, [])
        mark, outcome = outcome_of(attempt, requests, detail, lost, labels or {})
        attempts.append(
            ShownAttempt(
                attempt_id=attempt.attempt_id,
                node=clean(attempt.node_id),
                number=attempt.attempt_number,
                visit=attempt.visit,
                kind=attempt.kind,
                started_at=attempt.started_at,
                ended_at=attempt.finished_at,
                mark=mark,
                outcome=outcome,
                segments=attempt_segments(
                    attempt,
                    work.get(attempt.attempt_id, []),
                    requests,
                    paused,
                    lost.get(attempt.attempt_id),
                    asked.get(attempt.attempt_id),
                ),
                worked_ms=attempt.active_ms,
                error=clean(attempt.error_summary or ""),
            )
        )
    return ShownTimeline(
        run_id=row.run_id,
        started_at=row.created_at,
        ended_at=row.finished_at,
        attempts=tuple(attempts),
        total=len(attempts) if total is None else total,
        pauses=run_pauses(paused, work),
        worked_ms=row.active_ms,
        waited_ms=row.waiting_ms,
        ticking=_TICKING.get(row.clock),
        ticking_since=row.clock_since,
    )


R = TypeVar("R", IntervalRow, RequestRow)


def _by_attempt(rows: Iterable[R]) -> dict[str, list[R]]:
    found: dict[str, list[R]] = {}
    for row in rows:
        found.setdefault(row.attempt_id, []).append(row)
    return found


def outcome_of(
    attempt: AttemptRow,
    requests: Sequence[RequestRow],
    detail: RunDetail,
    lost: Mapping[str, int],
    labels: Labels,
) -> tuple[str, str]:
    """The mark and the words of an attempt: how it ended, else what it is doing."""
    status = attempt.status
    if status is AttemptStatus.COMPLETED:
        chosen = _choice_of(requests, detail)
        return "ok", clean(labels.get((attempt.node_id, chosen), chosen)) if chosen else "ok"
    if status is AttemptStatus.RUNNING:
        return "running", "running"
    if status is AttemptStatus.WAITING:
        pending = next((each for each in requests if each.status is RequestStatus.PENDING), None)
        if pending is not None:
            return mark_for_request(pending.kind)
        return ("answered", "answered") if requests else ("effect", "did it happen?")
    if status is AttemptStatus.INTERRUPTED or attempt.attempt_id in lost:
        return "interrupted", "interrupted"
    return str(status), "timed out" if status is AttemptStatus.TIMED_OUT else str(status)


def _choice_of(requests: Sequence[RequestRow], detail: RunDetail) -> str | None:
    ids = {request.request_id for request in requests}
    return next((each.choice for each in detail.resolutions if each.decision_id in ids), None)


def shown_steps(detail: RunDetail, timeline: ShownTimeline) -> tuple[ShownStep, ...]:
    """Finished attempts in their order, then the one that is not finished."""
    shown = {attempt.attempt_id: attempt for attempt in timeline.attempts}
    finished: list[ShownStep] = []
    open_ones: list[ShownStep] = []
    following = detail.row.steps
    for row in reversed(detail.attempts):
        step = ShownStep(
            index=None if row.step_index is None else row.step_index + 1,
            attempt=shown[row.attempt_id],
            outcome=row.outcome,
            prompt_hash=row.prompt_hash,
            output_hash=row.output_hash,
            error_hash=row.error_hash,
            settings_hash=row.settings_hash,
            is_passage=row.step_index == following,
        )
        if row.step_index is not None:
            following = row.step_index
            finished.append(step)
        elif step.attempt.ended_at is None:
            open_ones.append(step)
    return (*reversed(finished), *reversed(open_ones))
