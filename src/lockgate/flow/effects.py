"""The law's rules for side effects: reserve before acting, settle after, and a person where nobody knows."""

from typing import Any

from msgspec.structs import replace

from lockgate.flow import transitions as t
from lockgate.flow.draft import Draft
from lockgate.flow.head import Facts, RunHead
from lockgate.flow.proposals import require_attempt
from lockgate.model import events as ev
from lockgate.model import ids
from lockgate.model.errors import NotFound, Refused
from lockgate.model.records import EffectAttemptRow, EffectRow
from lockgate.model.statuses import (
    BlockCode,
    Clock,
    EffectStatus,
    QueueStatus,
    Recovery,
)


def reserve(draft: Draft, wish: t.ReserveEffect, facts: Facts) -> dict[str, Any]:
    """Answers execute, adopted (with the stored result, or why there is none), verify or ambiguous."""
    head = draft.head
    attempt = require_attempt(head, wish.attempt_id)
    spec = head.graph.node(attempt.node_id).effect
    if spec is None or (spec.type, spec.recovery) != (wish.effect_type, wish.recovery):
        raise Refused(
            "wrong_effect", f"node {attempt.node_id!r} does not declare {wish.recovery}({wish.effect_type!r})"
        )
    effect = head.effect
    if effect is None:
        effect_id = ids.effect_id(head.run.run_id, wish.effect_type, attempt.node_id, attempt.visit)
        _begin(draft, _fresh(draft, wish, effect_id))
        return _answer("execute", effect_id)
    if effect.status is EffectStatus.APPLIED:
        return _answer("adopted", effect.effect_id, effect.result_hash, effect.error_hash)
    if effect.status is EffectStatus.AMBIGUOUS:
        return _answer("ambiguous", effect.effect_id)
    if effect.status is EffectStatus.APPLYING and effect.attempt_id == attempt.attempt_id:
        raise Refused("effect_unsettled", f"the effect {effect.effect_id} is already being applied")
    # Applying by a lost attempt, or rejected before: this attempt takes it over.
    verify = effect.status is EffectStatus.APPLYING and effect.recovery is Recovery.VERIFIED
    if effect.status is EffectStatus.APPLYING and effect.recovery is Recovery.MANUAL:
        return _answer("ambiguous", effect.effect_id)
    _begin(draft, replace(effect, attempt_id=attempt.attempt_id, payload_hash=wish.payload_hash))
    return _answer("verify" if verify else "execute", effect.effect_id)


def _fresh(draft: Draft, wish: t.ReserveEffect, effect_id: str) -> EffectRow:
    attempt = draft.head.attempt
    assert attempt is not None
    return EffectRow(
        effect_id=effect_id,
        run_id=draft.head.run.run_id,
        attempt_id=attempt.attempt_id,
        node_id=attempt.node_id,
        visit=attempt.visit,
        effect_type=wish.effect_type,
        recovery=wish.recovery,
        status=EffectStatus.APPLYING,
        payload_hash=wish.payload_hash,
        attempt_count=0,
        result_hash=None,
        error_hash=None,
        resolved_by=None,
        resolved_at=None,
        created_at=draft.at,
        settled_at=None,
    )


def _begin(draft: Draft, effect: EffectRow) -> None:
    effect = replace(
        effect,
        status=EffectStatus.APPLYING,
        attempt_count=effect.attempt_count + 1,
        result_hash=None,
        error_hash=None,
        resolved_by=None,
        resolved_at=None,
        settled_at=None,
    )
    effect_attempt = EffectAttemptRow(
        effect_id=effect.effect_id,
        run_id=effect.run_id,
        attempt_number=effect.attempt_count,
        attempt_id=effect.attempt_id,
        started_at=draft.at,
        finished_at=None,
        outcome=None,
    )
    payload = ev.EffectChanged(effect=effect, effect_attempt=effect_attempt)
    draft.emit("effect_reserved", payload, effect.attempt_id)


def settle(draft: Draft, wish: t.SettleEffect, facts: Facts) -> None:
    head = draft.head
    attempt = require_attempt(head, wish.attempt_id)
    effect = head.effect
    if effect is None or effect.effect_id != wish.effect_id or effect.attempt_id != attempt.attempt_id:
        raise Refused("wrong_effect", f"{wish.effect_id} is not the effect of {attempt.attempt_id}")
    if effect.status is not EffectStatus.APPLYING:
        raise Refused("effect_settled", f"the effect {effect.effect_id} is {effect.status} already")
    if wish.status is EffectStatus.AMBIGUOUS:
        make_ambiguous(draft)
        block_run(draft, BlockCode.EFFECT_AMBIGUOUS, f"{effect.effect_type} of {effect.node_id}: did it happen?")
        return
    if wish.status is EffectStatus.APPLYING:
        raise Refused("wrong_status", "an effect settles as applied, rejected or ambiguous")
    _settle(draft, wish.status, wish.result_hash, wish.error_hash)


def block_run(draft: Draft, code: BlockCode, detail: str | None, *, graph_changed: bool = False) -> None:
    """Park the run with a durable reason. With an ambiguous effect a person is waited for, else nobody."""
    if draft.head.run.paused:
        clock = Clock.PAUSED
    elif code is BlockCode.EFFECT_AMBIGUOUS:
        clock = Clock.PERSON
    else:
        clock = Clock.IDLE
    short = detail[: ev.SUMMARY_CHARS] if detail is not None else None
    payload = ev.RunBlocked(code=str(code), detail=short, graph_changed=graph_changed, clocks=draft.clocks(clock))
    draft.emit("run_blocked", payload)


def make_ambiguous(draft: Draft) -> None:
    """Nobody knows whether the head's effect happened."""
    _settle(draft, EffectStatus.AMBIGUOUS, None, None)


def _settle(draft: Draft, status: EffectStatus, result: str | None, error: str | None) -> None:
    effect, tried = draft.head.effect, draft.head.effect_attempt
    assert effect is not None
    settled = replace(
        effect,
        status=status,
        result_hash=result if status is EffectStatus.APPLIED else None,
        error_hash=error,
        settled_at=draft.at,
    )
    finished = replace(tried, finished_at=draft.at, outcome=str(status)) if tried is not None else None
    draft.emit(f"effect_{status}", ev.EffectChanged(effect=settled, effect_attempt=finished), effect.attempt_id)


def resolve(draft: Draft, wish: t.ResolveEffect, facts: Facts) -> dict[str, Any]:
    """The first resolution wins; on a terminal run only the effect changes."""
    head, effect = draft.head, facts.effect
    if effect is None:
        raise NotFound("effect", wish.effect_id)
    if effect.resolved_at is not None:
        raise Refused(
            "already_resolved",
            f"{effect.resolved_by} said at {effect.resolved_at} that it "
            + ("happened" if effect.status is EffectStatus.APPLIED else "did not happen"),
            winner={"actor": effect.resolved_by, "at": effect.resolved_at, "status": str(effect.status)},
        )
    if effect.status is not EffectStatus.AMBIGUOUS:
        raise Refused("not_ambiguous", f"the effect {effect.effect_id} is {effect.status}: nobody has to say")
    status = EffectStatus.APPLIED if wish.happened else EffectStatus.REJECTED
    resolved = replace(
        effect,
        status=status,
        result_hash=wish.result_hash if wish.happened else None,
        resolved_by=wish.human.id,
        resolved_at=draft.at,
        settled_at=draft.at,
    )
    if not _waits_for(head, effect):
        payload = ev.EffectResolved(effect=resolved, queue=None, available_at=draft.now.wall_ms, clocks=None)
    else:
        paused = head.run.paused
        payload = ev.EffectResolved(
            effect=resolved,
            queue=QueueStatus.PARKED if paused else QueueStatus.QUEUED,
            available_at=draft.now.wall_ms,
            clocks=draft.clocks(Clock.PAUSED if paused else Clock.IDLE),
        )
    draft.emit("effect_resolved", payload, effect.attempt_id)
    return {"effect_id": effect.effect_id, "status": str(status)}


def _waits_for(head: RunHead, effect: EffectRow) -> bool:
    """Whether the run is blocked by exactly this effect."""
    return (
        not head.run.status.is_terminal
        and head.queue.error_code == BlockCode.EFFECT_AMBIGUOUS
        and head.effect is not None
        and head.effect.effect_id == effect.effect_id
    )


def _answer(
    answer: str, effect_id: str, result_hash: str | None = None, error_hash: str | None = None
) -> dict[str, Any]:
    return {"answer": answer, "effect_id": effect_id, "result_hash": result_hash, "error_hash": error_hash}
