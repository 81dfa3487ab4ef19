"""What the events of a run and its claim do to the rows; used by `flow.enact` only."""

from typing import Any, cast

from msgspec.structs import replace

from lockgate.flow.graph import Graph
from lockgate.flow.head import RunHead, Scope
from lockgate.model import events as ev
from lockgate.model import ids
from lockgate.model.records import AttemptRow, QueueRow, Row, RunRow, SettingsRow, SourceRow
from lockgate.model.statuses import (
    GRAPH_CHANGED,
    AttemptStatus,
    BlockCode,
    Clock,
    QueueStatus,
    RequestStatus,
    RunStatus,
)

Enacted = tuple[RunHead, tuple[Row, ...]]


def unclaimed(queue: QueueRow, **changes: Any) -> QueueRow:
    """The queue row with its claim ended; the generation stays, so that a late holder is told apart."""
    return replace(
        queue,
        token_hash=None,
        owner_kind=None,
        owner_id=None,
        host_epoch=None,
        boot_id=None,
        heartbeat_mono=None,
        heartbeat_at=None,
        **changes,
    )


def worked(attempt: AttemptRow, clocks: ev.Clocks) -> int:
    return attempt.active_ms + clocks.elapsed_ms


def bear(event: ev.Event, graph: Graph) -> Enacted:
    queued = cast(ev.RunQueued, event.payload)
    birth = queued.birth
    assert birth is not None
    run = RunRow(
        run_id=event.run_id,
        workflow=birth.workflow,
        definition_digest=birth.definition_digest,
        workflow_ref=birth.workflow_ref,
        project_dir=birth.project_dir,
        title=birth.title,
        status=RunStatus.QUEUED,
        paused=False,
        revision=event.seq,
        input_hash=birth.input_hash,
        output_hash=None,
        error_hash=None,
        error_code=None,
        error_summary=None,
        parent_run_id=birth.parent_run_id,
        parent_revision=birth.parent_revision,
        root_run_id=birth.root_run_id,
        restart_number=birth.restart_number,
        started_by=birth.started_by,
        started_by_uid=birth.started_by_uid,
        active_ms=0,
        waiting_ms=0,
        clock=Clock.IDLE,
        clock_since=event.at,
        steps=0,
        chain_head=event.hash,
        last_at=event.at,
        created_at=event.at,
        started_at=None,
        finished_at=None,
    )
    queue = QueueRow(
        run_id=event.run_id,
        status=QueueStatus.QUEUED,
        available_at=queued.available_at,
        losses=0,
        error_code=None,
        generation=0,
        token_hash=None,
        owner_kind=None,
        owner_id=None,
        host_epoch=None,
        boot_id=None,
        heartbeat_mono=None,
        heartbeat_at=None,
    )
    scope = first_scope(event, ids.ROOT_MOUNT, 1, 0, birth.settings_hash)
    head = RunHead(run=run, queue=queue, graph=graph, scopes=(scope,))
    sources = SourceRow(run_id=event.run_id, sources_hash=birth.sources_hash)
    return head, (sources,) if scope.settings is None else (sources, scope.settings)


def first_scope(event: ev.Event, mount: str, invocation: int, steps: int, initial_hash: str | None) -> Scope:
    """An invocation as it begins, with its settings as they are at first."""
    if initial_hash is None:
        return Scope(mount=mount, invocation=invocation, steps=steps, settings=None)
    settings = SettingsRow(
        scope_id=ids.scope_id(event.run_id, mount, invocation),
        run_id=event.run_id,
        mount_path=mount,
        invocation=invocation,
        initial_hash=initial_hash,
        current_hash=initial_hash,
        change_number=0,
        created_at=event.at,
        updated_at=event.at,
    )
    return Scope(mount=mount, invocation=invocation, steps=steps, settings=settings)


def settings_changed(head: RunHead, event: ev.Event, payload: ev.SettingsChanged) -> Enacted:
    changed = payload.settings
    place = [scope.mount for scope in head.scopes].index(changed.mount_path)
    known = head.scopes[place]
    assert known.settings is not None
    assert (known.settings.scope_id, known.invocation) == (changed.scope_id, changed.invocation)
    scopes = (*head.scopes[:place], replace(known, settings=changed), *head.scopes[place + 1 :])
    return replace(head, scopes=scopes), (changed, payload.change)


def include_entered(head: RunHead, event: ev.Event, payload: ev.IncludeEntered) -> Enacted:
    assert payload.mount_path in head.graph.mounts
    scope = first_scope(event, payload.mount_path, payload.invocation, head.run.steps, payload.settings_hash)
    rows = () if scope.settings is None else (scope.settings,)
    return replace(head, scopes=(*head.scopes, scope)), rows


def include_exited(head: RunHead, event: ev.Event, payload: ev.IncludeExited) -> Enacted:
    *outer, left = head.scopes
    assert (left.mount, left.invocation) == (payload.mount_path, payload.invocation)
    return replace(head, scopes=tuple(outer)), ()


def queued(head: RunHead, event: ev.Event, payload: ev.RunQueued) -> Enacted:
    queue = unclaimed(head.queue, status=QueueStatus.QUEUED, available_at=payload.available_at)
    return replace(head, queue=queue), ()


def claimed(head: RunHead, event: ev.Event, payload: ev.RunClaimed) -> Enacted:
    queue = replace(head.queue, status=QueueStatus.STARTING, generation=payload.generation)
    return replace(head, queue=queue), ()


def started(head: RunHead, event: ev.Event, payload: ev.RunStarted) -> Enacted:
    run = replace(head.run, status=RunStatus.RUNNING, started_at=event.at)
    return replace(head, run=run, queue=replace(head.queue, status=QueueStatus.RUNNING)), ()


def resumed(head: RunHead, event: ev.Event, payload: ev.RunResumed) -> Enacted:
    head = replace(
        head,
        run=replace(head.run, status=RunStatus.RUNNING),
        queue=replace(head.queue, status=QueueStatus.RUNNING),
    )
    if payload.request_id is None or head.attempt is None:
        return head, ()
    attempt = replace(head.attempt, status=AttemptStatus.RUNNING)
    return replace(head, attempt=attempt), (attempt,)


def parked(head: RunHead, event: ev.Event, payload: ev.RunParked) -> Enacted:
    return replace(head, queue=unclaimed(head.queue, status=QueueStatus.PARKED)), ()


def paused(head: RunHead, event: ev.Event, payload: ev.RunPaused) -> Enacted:
    queue = replace(head.queue, status=payload.queue)
    return replace(head, run=replace(head.run, paused=True), queue=queue), ()


def unpaused(head: RunHead, event: ev.Event, payload: ev.RunUnpaused) -> Enacted:
    queue = replace(head.queue, status=payload.queue, available_at=payload.available_at, losses=0)
    return replace(head, run=replace(head.run, paused=False), queue=queue), ()


def blocked(head: RunHead, event: ev.Event, payload: ev.RunBlocked) -> Enacted:
    reason = GRAPH_CHANGED if payload.graph_changed else payload.code
    head = replace(
        head,
        queue=unclaimed(head.queue, status=QueueStatus.PARKED, error_code=payload.code),
        run=replace(head.run, error_code=reason, error_summary=payload.detail),
    )
    if payload.code != BlockCode.EFFECT_AMBIGUOUS or head.attempt is None:
        return head, ()
    attempt = replace(head.attempt, status=AttemptStatus.WAITING, active_ms=worked(head.attempt, payload.clocks))
    run = replace(head.run, status=RunStatus.WAITING)
    return replace(head, run=run, attempt=attempt), (attempt,)


def unblocked(head: RunHead, event: ev.Event, payload: ev.RunUnblocked) -> Enacted:
    queue = replace(head.queue, status=payload.queue, available_at=payload.available_at, error_code=None, losses=0)
    return replace(head, run=replace(head.run, error_code=None, error_summary=None), queue=queue), ()


def interrupted(head: RunHead, event: ev.Event, payload: ev.RunInterrupted) -> Enacted:
    status = QueueStatus.PARKED if head.run.paused else QueueStatus.QUEUED
    queue = unclaimed(head.queue, status=status, available_at=payload.retry_at, losses=payload.losses)
    head = replace(head, queue=queue)
    attempt = head.attempt
    if attempt is None or attempt.status is not AttemptStatus.RUNNING:
        return head, ()
    active_ms = worked(attempt, payload.clocks)
    if payload.attempt_id is None:
        # The accepted answer is not used up: the attempt goes back to waiting for its worker.
        attempt = replace(attempt, status=AttemptStatus.WAITING, active_ms=active_ms)
        return replace(head, run=replace(head.run, status=RunStatus.WAITING), attempt=attempt), (attempt,)
    attempt = replace(attempt, status=AttemptStatus.INTERRUPTED, active_ms=active_ms)
    return replace(head, attempt=attempt), (attempt,)


def ended(head: RunHead, event: ev.Event, payload: ev.RunEnded) -> Enacted:
    status = RunStatus(event.type.removeprefix("run_"))
    run = replace(
        head.run,
        status=status,
        paused=False,
        output_hash=payload.output_hash,
        error_hash=payload.error_hash,
        error_code=payload.error_code,
        error_summary=payload.error_summary,
        finished_at=event.at,
    )
    rows: list[Row] = []
    if head.attempt is not None:
        rows.append(
            replace(
                head.attempt,
                status=AttemptStatus.CANCELLED,
                active_ms=worked(head.attempt, payload.clocks),
                finished_at=event.at,
            )
        )
    if payload.request_id is not None and head.request is not None:
        rows.append(replace(head.request, status=RequestStatus.CANCELLED))
    queue = unclaimed(head.queue, status=QueueStatus.DONE, error_code=None)
    bare = replace(head, run=run, queue=queue, attempt=None, interval=None, request=None, decision=None)
    return bare, tuple(rows)


def sources(head: RunHead, event: ev.Event, payload: ev.SourceAccepted) -> Enacted:
    return head, (SourceRow(run_id=event.run_id, sources_hash=payload.new_hash),)


def nothing(head: RunHead, event: ev.Event, payload: ev.Payload) -> Enacted:
    return head, ()
