"""The law's rules for ownership: claim, ready, release, lose, block."""

from typing import Any

from msgspec.structs import replace

from lockgate.flow import transitions as t
from lockgate.flow.draft import Draft
from lockgate.flow.effects import block_run, make_ambiguous
from lockgate.flow.head import Facts, RunHead
from lockgate.model import events as ev
from lockgate.model.errors import Refused
from lockgate.model.statuses import (
    AttemptStatus,
    BlockCode,
    Clock,
    EffectStatus,
    QueueStatus,
    Recovery,
    RunStatus,
)

MAX_LOSSES = 3
"""The counted loss that blocks a run instead of queueing it again."""

RETRY_MS = (0, 0, 1_000)
"""How long a run waits before it is claimable again, by the number of its counted losses."""

LONGEST_RETRY_MS = max(RETRY_MS)


def waits_ms(available_at: int, now_ms: int) -> int:
    """How long a queued run still waits. No wait is longer than the longest back-off: a moment that lies further
    ahead was written before the wall clock was set back, and is over."""
    left = available_at - now_ms
    return left if 0 < left <= LONGEST_RETRY_MS else 0


def claim(draft: Draft, wish: t.Claim, facts: Facts) -> dict[str, Any]:
    head = draft.head
    if head.queue.status is not QueueStatus.QUEUED or head.run.paused or head.queue.error_code is not None:
        raise Refused("not_claimable", f"the run's queue entry is {head.queue.status}")
    if waits_ms(head.queue.available_at, draft.now.wall_ms):
        raise Refused("not_yet", "the run waits before its next try", available_at=head.queue.available_at)
    generation = head.queue.generation + 1
    payload = ev.RunClaimed(
        generation=generation,
        owner_kind=wish.owner_kind,
        owner_id=wish.owner_id,
        host_epoch=wish.host_epoch,
    )
    draft.emit("run_claimed", payload)
    # Token and lease are beside the events: no trace event may ever hold them.
    draft.head = replace(
        draft.head,
        queue=replace(
            draft.head.queue,
            token_hash=wish.token_hash,
            owner_kind=wish.owner_kind,
            owner_id=wish.owner_id,
            host_epoch=wish.host_epoch,
            boot_id=draft.now.boot_id,
            heartbeat_mono=draft.now.mono_ms,
            heartbeat_at=draft.now.wall_ms,
        ),
    )
    return {"generation": generation}


def ready(draft: Draft, wish: t.Ready, facts: Facts) -> None:
    head = draft.head
    if head.queue.status is not QueueStatus.STARTING:
        raise Refused("not_starting", f"the run's queue entry is {head.queue.status}")
    if head.run.paused:
        raise Refused("paused", "the run is paused")
    if head.run.status is RunStatus.QUEUED:
        draft.emit("run_started", ev.RunStarted())
        return
    attempt = head.attempt
    if attempt is not None and attempt.status is AttemptStatus.WAITING:
        if not head.is_answered or head.request is None:
            raise Refused("not_answered", "the waiting attempt has no accepted answer")
        number = head.interval.interval_number + 1 if head.interval is not None else 1
        payload = ev.RunResumed(
            attempt_id=attempt.attempt_id,
            request_id=head.request.request_id,
            replaced_attempt_id=None,
            clocks=draft.opening(attempt.attempt_id, number),
        )
        draft.emit("run_resumed", payload, attempt.attempt_id)
        return
    replaced = attempt.attempt_id if attempt is not None else None
    draft.emit(
        "run_resumed",
        ev.RunResumed(attempt_id=None, request_id=None, replaced_attempt_id=replaced, clocks=draft.clocks(Clock.IDLE)),
    )


def release(draft: Draft, wish: t.Release, facts: Facts) -> None:
    head = draft.head
    _require_claim(head)
    if head.attempt is not None and head.attempt.status is AttemptStatus.RUNNING:
        raise Refused("attempt_active", "a running attempt is lost, not released")
    if head.run.paused:
        draft.emit("run_parked", ev.RunParked(clocks=draft.clocks(Clock.PAUSED)))
        return
    payload = ev.RunQueued(available_at=draft.now.wall_ms, clocks=draft.clocks(draft.resting()))
    draft.emit("run_queued", payload)


def lose(draft: Draft, wish: t.Lose, facts: Facts) -> None:
    head = draft.head
    _require_claim(head)
    attempt = head.attempt
    working = attempt is not None and attempt.status is AttemptStatus.RUNNING
    # An accepted answer is not used up by a loss: its attempt goes back to waiting for the next worker.
    interrupted = attempt.attempt_id if attempt is not None and working and not head.is_answered else None
    losses = head.queue.losses + 1 if wish.counted else head.queue.losses
    payload = ev.RunInterrupted(
        cause=wish.cause,
        counted=wish.counted,
        losses=losses,
        retry_at=draft.now.wall_ms + RETRY_MS[min(losses, len(RETRY_MS) - 1)],
        exit_code=wish.exit_code,
        signal=wish.signal,
        attempt_id=interrupted,
        clocks=draft.clocks(Clock.PAUSED if head.run.paused else Clock.IDLE, lost=True),
    )
    draft.emit("run_interrupted", payload, interrupted)
    effect = draft.head.effect
    if (
        interrupted is not None
        and effect is not None
        and effect.status is EffectStatus.APPLYING
        and effect.recovery is Recovery.MANUAL
    ):
        make_ambiguous(draft)
        block_run(draft, BlockCode.EFFECT_AMBIGUOUS, f"{effect.effect_type} of {effect.node_id}: did it happen?")
    elif wish.counted and (not wish.progressed or losses >= MAX_LOSSES):
        block_run(draft, BlockCode.WORKER_LOST, _how(wish))


def block(draft: Draft, wish: t.Block, facts: Facts) -> None:
    _require_claim(draft.head)
    if draft.head.queue.status is not QueueStatus.STARTING:
        raise Refused("not_starting", "only a launch that is not ready can be blocked")
    block_run(draft, wish.code, wish.detail, graph_changed=wish.graph_changed)


def _require_claim(head: RunHead) -> None:
    if not head.holds_claim:
        raise Refused("no_claim", "the run has no claim to end")


def _how(wish: t.Lose) -> str:
    if wish.signal is not None:
        return f"the worker ended by signal {wish.signal}"
    if wish.exit_code is not None:
        return f"the worker ended with exit code {wish.exit_code}"
    return f"the worker was lost: {wish.cause}"
