"""What the events of a node, its request and its effect do to the rows; used by `flow.enact` only."""

from msgspec.structs import replace

from lockgate.flow.enact_run import Enacted, unclaimed, worked
from lockgate.flow.head import LastStep, RunHead
from lockgate.model import events as ev
from lockgate.model.records import AttemptRow, Row
from lockgate.model.statuses import AttemptStatus, Outcome, QueueStatus, RequestStatus, RunStatus

FINISHED = {
    Outcome.OK: AttemptStatus.COMPLETED,
    Outcome.FAILED: AttemptStatus.FAILED,
    Outcome.TIMED_OUT: AttemptStatus.TIMED_OUT,
    Outcome.CANCELLED: AttemptStatus.CANCELLED,
}


def node_started(head: RunHead, event: ev.Event, payload: ev.NodeStarted) -> Enacted:
    rows: list[Row] = []
    if payload.replaced_attempt_id is not None and head.attempt is not None:
        rows.append(replace(head.attempt, status=AttemptStatus.CANCELLED, finished_at=event.at))
    assert event.attempt_id is not None
    attempt = AttemptRow(
        run_id=event.run_id,
        ordinal=payload.ordinal,
        attempt_id=event.attempt_id,
        workflow=head.run.workflow,
        node_id=payload.node,
        kind=payload.kind,
        attempt_number=payload.attempt_number,
        visit=payload.visit,
        status=AttemptStatus.RUNNING,
        timeout_ms=payload.timeout_ms,
        active_ms=0,
        step_index=None,
        outcome=None,
        switch_value=None,
        prompt_hash=None,
        output_hash=None,
        error_hash=None,
        error_summary=None,
        started_at=event.at,
        finished_at=None,
        settings_change=payload.settings_change,
        settings_hash=payload.settings_hash,
    )
    rows.append(attempt)
    effect = head.effect
    same = effect is not None and (effect.node_id, effect.visit) == (payload.node, payload.visit)
    head = replace(
        head,
        attempt=attempt,
        request=None,
        decision=None,
        effect=effect if same else None,
        effect_attempt=head.effect_attempt if same else None,
    )
    return head, tuple(rows)


def timeout_set(head: RunHead, event: ev.Event, payload: ev.NodeTimeoutSet) -> Enacted:
    assert head.attempt is not None
    # 0 says that there is no limit, and that this was settled: it is set once.
    attempt = replace(head.attempt, timeout_ms=payload.timeout_ms or 0)
    return replace(head, attempt=attempt), (attempt,)


def node_ended(head: RunHead, event: ev.Event, payload: ev.NodeEnded) -> Enacted:
    assert head.attempt is not None
    attempt = replace(
        head.attempt,
        status=FINISHED[payload.outcome],
        active_ms=worked(head.attempt, payload.clocks),
        step_index=payload.step_index,
        outcome=payload.outcome,
        switch_value=payload.switch_value,
        prompt_hash=payload.prompt_hash or head.attempt.prompt_hash,
        output_hash=payload.output_hash,
        error_hash=payload.error_hash,
        error_summary=payload.error_summary,
        finished_at=event.at,
    )
    rows: list[Row] = [attempt]
    if payload.consumed_request_id is not None and head.request is not None:
        rows.append(replace(head.request, consumed_at=event.at))
    last = LastStep(
        ordinal=attempt.ordinal,
        attempt_number=attempt.attempt_number,
        visit=attempt.visit,
        node_id=payload.node,
        outcome=payload.outcome,
        switch_value=payload.switch_value,
        output_hash=payload.output_hash,
    )
    head = replace(
        head,
        run=head.run if head.graph.is_passage(payload.node) else replace(head.run, steps=payload.step_index + 1),
        queue=replace(head.queue, losses=0),
        last=last,
        attempt=None,
        request=None,
        decision=None,
        effect=None,
        effect_attempt=None,
    )
    return head, tuple(rows)


def update(head: RunHead, event: ev.Event, payload: ev.UpdatePublished) -> Enacted:
    return head, (payload.update,)


def opened(head: RunHead, event: ev.Event, payload: ev.RequestOpened) -> Enacted:
    assert head.attempt is not None
    attempt = replace(head.attempt, status=AttemptStatus.WAITING, active_ms=worked(head.attempt, payload.clocks))
    rows: list[Row] = [attempt, payload.request]
    if payload.decision is not None:
        rows.append(payload.decision)
    head = replace(
        head,
        run=replace(head.run, status=RunStatus.WAITING),
        queue=unclaimed(head.queue, status=QueueStatus.PARKED, losses=0),
        attempt=attempt,
        request=payload.request,
        decision=payload.decision,
    )
    return head, tuple(rows)


def rejected(head: RunHead, event: ev.Event, payload: ev.SubmissionRejected) -> Enacted:
    return head, (payload.submission,)


def answered(head: RunHead, event: ev.Event, payload: ev.RequestAnswered) -> Enacted:
    assert head.request is not None
    request = replace(
        head.request,
        status=RequestStatus.SETTLED,
        accepted_submission_id=payload.submission.submission_id,
        output_hash=payload.output_hash,
        settled_at=event.at,
    )
    rows: list[Row] = [payload.submission, request]
    if payload.resolution is not None:
        rows.append(payload.resolution)
    queue = replace(head.queue, status=QueueStatus.QUEUED, available_at=payload.available_at)
    return replace(head, request=request, queue=queue), tuple(rows)


def withdrawn(head: RunHead, event: ev.Event, payload: ev.DecisionWithdrawn) -> Enacted:
    return head, (payload.resolution,)


def effect(head: RunHead, event: ev.Event, payload: ev.EffectChanged) -> Enacted:
    rows: tuple[Row, ...] = (payload.effect,)
    if payload.effect_attempt is not None:
        rows = (payload.effect, payload.effect_attempt)
    return replace(head, effect=payload.effect, effect_attempt=payload.effect_attempt), rows


def resolved(head: RunHead, event: ev.Event, payload: ev.EffectResolved) -> Enacted:
    if payload.queue is None:
        return head, (payload.effect,)
    rows: list[Row] = [payload.effect]
    attempt = head.attempt
    if attempt is not None:
        attempt = replace(attempt, status=AttemptStatus.INTERRUPTED)
        rows.append(attempt)
    queue = replace(head.queue, status=payload.queue, available_at=payload.available_at, error_code=None, losses=0)
    run = replace(head.run, status=RunStatus.RUNNING, error_code=None, error_summary=None)
    return replace(head, run=run, queue=queue, attempt=attempt, effect=payload.effect), tuple(rows)


def route_retried(head: RunHead, event: ev.Event, payload: ev.SettingsRouteRetried) -> Enacted:
    assert head.attempt is not None
    attempt = replace(head.attempt, settings_change=payload.settings_change, settings_hash=payload.settings_hash)
    return replace(head, attempt=attempt), (attempt,)


def prompt(head: RunHead, event: ev.Event, payload: ev.AgentPromptSent) -> Enacted:
    assert head.attempt is not None
    attempt = replace(head.attempt, prompt_hash=payload.prompt_hash)
    return replace(head, attempt=attempt), (attempt,)
