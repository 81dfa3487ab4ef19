"""The JSON documents that programs read: one function for each record, every key always there.

Times are `2026-11-29T14:02:11.123Z`, durations integer `*_ms`, hashes lower-case hex. Unlike a snapshot a
document is raw: JSON escapes what a terminal would obey.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from lockgate.flow.words import left_ms, waiting_for, word
from lockgate.model.ids import short_id
from lockgate.model.records import (
    AttemptRow,
    EarlierOutcome,
    EffectRow,
    EventView,
    Now,
    Receipt,
    RequestRow,
    RequestView,
    ResolutionRow,
    Run,
    RunDetail,
    SettingsChangeRow,
    SettingsRow,
    UpdateRow,
)
from lockgate.model.statuses import Clock, RequestStatus, Word

Document = dict[str, Any]
ReadValue = Callable[[str | None], Any]
"""From a value's hash (None gives None) to the value: JSON as data, text as text."""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MS = -30_610_224_000_000
_LAST_MS = 253_402_300_799_999
"""The years 1000 and 9999, in which every year has four digits."""


def moment(ms: int | None) -> str | None:
    """`2026-11-29T14:02:11.123Z`; a time that no calendar has becomes the nearest one that it has."""
    if ms is None:
        return None
    ms = min(max(ms, _FIRST_MS), _LAST_MS)
    return f"{_EPOCH + timedelta(milliseconds=ms):%Y-%m-%dT%H:%M:%S}.{ms % 1000:03}Z"


def run_document(run: Run, now: Now) -> Document:
    """A run of a list; its two clocks run on to `now` while the run works or waits."""
    said = word(run, now)
    working, waiting = _clocks(run, said, now)
    current = run.current
    return {
        "run_id": run.run_id,
        "short_id": short_id(run.run_id),
        "workflow": run.workflow,
        "title": run.title,
        "status": run.status,
        "word": said,
        "paused": run.paused,
        "blocked": run.error_code if said is Word.BLOCKED else None,
        "revision": run.revision,
        "started_by": run.started_by,
        "created_at": moment(run.created_at),
        "updated_at": moment(run.updated_at),
        "finished_at": moment(run.finished_at),
        "active_ms": working,
        "waiting_ms": waiting,
        "waiting_for": waiting_for(run, now),
        "request_id": run.request_id,
        "current": None
        if current is None
        else {"node": current.node, "attempt_id": current.attempt_id, "number": current.number},
        "steps": run.steps,
        "losses": run.losses,
    }


def runs_document(runs: Iterable[Run], now: Now, next: str | None) -> Document:
    return {"schema": "lockgate.runs.v1", "runs": [run_document(run, now) for run in runs], "next": next}


def show_document(detail: RunDetail, now: Now, value: ReadValue) -> Document:
    """A run with everything it owns; here `steps` is the list of finished attempts in their order."""
    row = detail.row
    resolutions = {resolution.decision_id: resolution for resolution in detail.resolutions}
    nodes = {attempt.attempt_id: attempt.node_id for attempt in detail.attempts}
    steps = sorted((a for a in detail.attempts if a.step_index is not None), key=lambda a: a.step_index or 0)
    return {
        "schema": "lockgate.run.v1",
        **run_document(detail.run, now),
        "input": value(row.input_hash),
        "output": value(row.output_hash),
        "error": value(row.error_hash),
        "source": [{"path": path, "sha256": sha256} for path, sha256 in sorted(detail.sources.items())],
        "lineage": {
            "parent_run_id": row.parent_run_id,
            "parent_revision": row.parent_revision,
            "root_run_id": row.root_run_id,
            "restart_number": row.restart_number,
            "children": list(detail.children),
            "earlier": [_earlier(outcome, value) for outcome in detail.earlier],
        },
        "steps": [_step(attempt, value) for attempt in steps],
        "attempts": [_attempt(attempt) for attempt in detail.attempts],
        "requests": [_request(row, resolutions.get(row.request_id)) for row in detail.requests],
        "effects": [effect_document(effect) for effect in detail.effects],
        "updates": [_update(update, nodes, value) for update in detail.updates],
        "claim": _claim(detail),
        "worker": _worker(detail),
    }


def _earlier(outcome: EarlierOutcome, value: ReadValue) -> Document:
    return {
        "run_id": outcome.run_id,
        "status": outcome.status,
        "reason": outcome.reason,
        "output": value(outcome.output_hash),
        "error": value(outcome.error_hash),
        "finished_at": moment(outcome.finished_at),
    }


def request_document(request: RequestView, now: Now) -> Document:
    return {
        "request_id": request.request_id,
        "digest": request.digest,
        "kind": request.kind,
        "run_id": request.run_id,
        "workflow": request.workflow,
        "node": request.node,
        "attempt_id": request.attempt_id,
        "audience": request.audience,
        "title": request.title,
        "presentation": request.presentation,
        "choices": list(request.choices),
        "contract": request.contract,
        "deadline_at": moment(request.deadline_at),
        "default": request.default,
        "state": request_state(request, now),
        "created_at": moment(request.created_at),
    }


def requests_document(requests: Iterable[RequestView], now: Now) -> Document:
    return {"schema": "lockgate.requests.v1", "requests": [request_document(each, now) for each in requests]}


def request_state(request: RequestView, now: Now) -> str:
    """pending, overdue (its default is due), accepted or withdrawn."""
    if request.status is RequestStatus.SETTLED:
        return "accepted"
    if request.status is RequestStatus.CANCELLED:
        return "withdrawn"
    deadline_at = request.deadline_at
    over = deadline_at is not None and left_ms(deadline_at, now.wall_ms, request.run_at) < 0
    return "overdue" if over else "pending"


def event_document(event: EventView) -> Document:
    return {
        "event_seq": event.event_seq,
        "run_id": event.run_id,
        "seq": event.seq,
        "at": moment(event.at),
        "type": event.type,
        "actor": {"kind": event.actor.kind, "id": event.actor.id},
        "attempt_id": event.attempt_id,
        "node": event.node,
        "payload": event.payload,
        "hash": event.hash,
    }


def receipt_document(receipt: Receipt) -> Document:
    return {
        "outcome": receipt.outcome,
        "command": receipt.command,
        "key": receipt.key,
        "run_id": receipt.run_id,
        "revision": receipt.revision,
        "reason": receipt.reason,
        "winner": None if receipt.winner is None else winner_document(receipt.winner),
        "at": moment(receipt.at),
    }


def winner_document(winner: dict[str, Any]) -> Document:
    """Who won, when and with what; for an effect `choice` is the status that it was resolved to."""
    return {
        "choice": winner.get("choice") or winner.get("status"),
        "actor": winner.get("actor"),
        "at": moment(winner.get("at")),
        "source": winner.get("provenance") or winner.get("source"),
    }


def effect_document(effect: EffectRow) -> Document:
    return {
        "effect_id": effect.effect_id,
        "run_id": effect.run_id,
        "attempt_id": effect.attempt_id,
        "node": effect.node_id,
        "visit": effect.visit,
        "type": effect.effect_type,
        "recovery": effect.recovery,
        "status": effect.status,
        "attempts": effect.attempt_count,
        "result_hash": effect.result_hash,
        "error_hash": effect.error_hash,
        "resolved_by": effect.resolved_by,
        "resolved_at": moment(effect.resolved_at),
        "created_at": moment(effect.created_at),
        "settled_at": moment(effect.settled_at),
    }


def settings_document(
    run_id: str, scopes: Iterable[SettingsRow], changes: Iterable[SettingsChangeRow], value: ReadValue
) -> Document:
    """The live settings of a run, one entry for each scope, and the accepted changes, oldest first."""
    every = tuple(scopes)
    known = {scope.scope_id: scope for scope in every}
    return {
        "schema": "lockgate.settings.v1",
        "run_id": run_id,
        "scopes": [
            {
                "mount_path": scope.mount_path,
                "invocation": scope.invocation,
                "initial": value(scope.initial_hash),
                "current": value(scope.current_hash),
                "change_number": scope.change_number,
                "updated_at": moment(scope.updated_at),
            }
            for scope in every
        ],
        "changes": [
            {
                "mount_path": known[change.scope_id].mount_path,
                "invocation": known[change.scope_id].invocation,
                "change_number": change.change_number,
                "actor": {"kind": change.actor_kind, "id": change.actor_id},
                "source": change.source,
                "patch": value(change.patch_hash),
                "before_hash": change.before_hash,
                "after_hash": change.after_hash,
                "at": moment(change.accepted_at),
            }
            for change in changes
        ],
    }


def effects_document(effects: Iterable[EffectRow]) -> Document:
    return {"schema": "lockgate.effects.v1", "effects": [effect_document(effect) for effect in effects]}


def _clocks(run: Run, said: Word, now: Now) -> tuple[int, int]:
    """The working and the waiting milliseconds up to now; a lost run's clock stopped with its heartbeat."""
    since = max(0, now.wall_ms - run.clock_since)
    if said is Word.LOST:
        return run.active_ms, run.waiting_ms
    return (
        run.active_ms + (since if run.clock is Clock.ACTIVE else 0),
        run.waiting_ms + (since if run.clock is Clock.PERSON else 0),
    )


def _attempt(attempt: AttemptRow) -> Document:
    return {
        "attempt_id": attempt.attempt_id,
        "ordinal": attempt.ordinal,
        "node": attempt.node_id,
        "kind": attempt.kind,
        "number": attempt.attempt_number,
        "visit": attempt.visit,
        "status": attempt.status,
        "outcome": attempt.outcome,
        "timeout_ms": attempt.timeout_ms or None,
        "active_ms": attempt.active_ms,
        "step": attempt.step_index,
        "error_summary": attempt.error_summary,
        "started_at": moment(attempt.started_at),
        "finished_at": moment(attempt.finished_at),
    }


def _step(attempt: AttemptRow, value: ReadValue) -> Document:
    return {
        "step": attempt.step_index,
        "node": attempt.node_id,
        "attempt_id": attempt.attempt_id,
        "number": attempt.attempt_number,
        "visit": attempt.visit,
        "outcome": attempt.outcome,
        "output": value(attempt.output_hash),
        "output_hash": attempt.output_hash,
        "error": value(attempt.error_hash),
        "error_hash": attempt.error_hash,
        "active_ms": attempt.active_ms,
        "started_at": moment(attempt.started_at),
        "finished_at": moment(attempt.finished_at),
    }


def _request(request: RequestRow, resolution: ResolutionRow | None) -> Document:
    return {
        "request_id": request.request_id,
        "digest": request.digest,
        "kind": request.kind,
        "node": request.node_id,
        "attempt_id": request.attempt_id,
        "status": request.status,
        "deadline_at": moment(request.deadline_at),
        "created_at": moment(request.created_at),
        "settled_at": moment(request.settled_at),
        "resolution": None
        if resolution is None
        else {
            "provenance": resolution.provenance,
            "choice": resolution.choice,
            "actor": {"kind": resolution.actor_kind, "id": resolution.actor_id},
            "channel": resolution.channel,
            "at": moment(resolution.resolved_at),
        },
    }


def _update(update: UpdateRow, nodes: dict[str, str], value: ReadValue) -> Document:
    return {
        "type": update.update_type,
        "key": update.update_key,
        "node": nodes.get(update.attempt_id),
        "attempt_id": update.attempt_id,
        "data": value(update.data_hash),
        "at": moment(update.recorded_at),
    }


def _claim(detail: RunDetail) -> Document | None:
    claim = detail.claim
    if claim is None:
        return None
    return {
        "owner_kind": claim.owner_kind,
        "owner_id": claim.owner_id,
        "host_epoch": claim.host_epoch,
        "heartbeat_at": moment(claim.heartbeat_at),
    }


def _worker(detail: RunDetail) -> Document | None:
    worker = detail.worker
    if worker is None:
        return None
    return {
        "worker_id": worker.worker_id,
        "pid": worker.pid,
        "status": worker.status,
        "generation": worker.generation,
        "started_at": moment(worker.started_at),
        "ready_at": moment(worker.ready_at),
        "finished_at": moment(worker.finished_at),
        "exit_code": worker.exit_code,
        "signal": worker.signal,
        "stderr_tail": worker.stderr_tail,
    }
