"""The law's rules for what anyone may ask of a run: pause, resume, cancel, and restart's side of the parent."""

from typing import Any

from lockgate.flow import transitions as t
from lockgate.flow.draft import Draft
from lockgate.flow.effects import make_ambiguous
from lockgate.flow.head import Facts, RunHead
from lockgate.model import events as ev
from lockgate.model.errors import Refused
from lockgate.model.records import ResolutionRow
from lockgate.model.statuses import (
    BlockCode,
    Clock,
    EffectStatus,
    Provenance,
    QueueStatus,
    RunStatus,
)


def pause(draft: Draft, wish: t.Pause, facts: Facts) -> None:
    """Sets the flag; without a claim the run parks at once, else its worker finishes the node first."""
    head = draft.head
    _refuse_when_over(head)
    if head.holds_claim:
        if head.run.paused and not wish.stop_now:
            return
        payload = ev.RunPaused(queue=head.queue.status, stop_now=wish.stop_now, clocks=None)
    elif head.run.paused:
        return
    else:
        payload = ev.RunPaused(queue=QueueStatus.PARKED, stop_now=False, clocks=draft.clocks(Clock.PAUSED))
    draft.emit("run_paused", payload)


def resume(draft: Draft, wish: t.Resume, facts: Facts) -> None:
    """Clears the flag and every block but an ambiguous effect; allows one more launch."""
    head = draft.head
    _refuse_when_over(head)
    ambiguous = head.queue.error_code == BlockCode.EFFECT_AMBIGUOUS
    if not head.run.paused and ambiguous:
        raise Refused("effect_ambiguous", "nobody knows whether the effect happened: lockgate resolve says it")
    if head.run.paused:
        queue = _after_resume(head)
        clocks = None if head.holds_claim else draft.clocks(_clock_after(head))
        payload = ev.RunUnpaused(queue=queue, available_at=draft.now.wall_ms, clocks=clocks)
        draft.emit("run_unpaused", payload)
    code = draft.head.queue.error_code
    if code is not None and not ambiguous:
        queue = _after_resume(draft.head, unblocked=True)
        draft.emit("run_unblocked", ev.RunUnblocked(code=code, queue=queue, available_at=draft.now.wall_ms))
    if wish.new_sources_hash is not None and wish.old_sources_hash is not None:
        accepted = ev.SourceAccepted(old_hash=wish.old_sources_hash, new_hash=wish.new_sources_hash)
        draft.emit("source_accepted", accepted)


def cancel(draft: Draft, wish: t.Cancel, facts: Facts) -> None:
    """Closes everything that is open in one transaction, and ends the claim: a late worker is fenced."""
    head = draft.head
    _refuse_when_over(head)
    decision = head.decision
    if head.is_pending and decision is not None:
        resolution = ResolutionRow(
            decision_id=decision.decision_id,
            run_id=decision.run_id,
            provenance=Provenance.EXPLICIT_CANCEL,
            choice=None,
            response_hash=None,
            submission_id=None,
            actor_kind=draft.actor.kind,
            actor_id=draft.actor.id,
            channel=None,
            request_digest=decision.request_digest,
            resolved_at=draft.at,
        )
        draft.emit("decision_withdrawn", ev.DecisionWithdrawn(resolution=resolution), decision.attempt_id)
    if head.effect is not None and head.effect.status is EffectStatus.APPLYING:
        make_ambiguous(draft)
    payload = ev.RunEnded(
        output_hash=None,
        error_hash=None,
        error_code=str(RunStatus.CANCELLED),
        error_summary=f"cancelled by {draft.actor.id}"[: ev.SUMMARY_CHARS],
        attempt_id=head.attempt.attempt_id if head.attempt is not None else None,
        request_id=head.request.request_id if head.is_pending and head.request is not None else None,
        clocks=draft.clocks(Clock.IDLE),
    )
    draft.emit("run_cancelled", payload)


def check_restart(draft: Draft, wish: t.CheckRestart, facts: Facts) -> dict[str, Any]:
    """A restart names the terminal run at the revision that was seen. The child is a run of its own."""
    head = draft.head
    if not head.run.status.is_terminal:
        raise Refused("not_terminal", f"the run is {head.run.status}: only a finished run restarts")
    if head.run.revision != wish.expected_revision:
        raise Refused(
            "stale",
            f"the run was seen at revision {wish.expected_revision}, it is at {head.run.revision}",
            seen=wish.expected_revision,
            revision=head.run.revision,
        )
    if facts.unsettled_effects:
        raise Refused("effect_ambiguous", f"{facts.unsettled_effects} of its effects may have happened: resolve first")
    return {"restart_number": head.run.restart_number + 1, "root_run_id": head.run.root_run_id}


def _after_resume(head: RunHead, *, unblocked: bool = False) -> QueueStatus:
    """Where the run goes: nowhere while it is held, waits for an answer, or is blocked; else to the queue."""
    if head.holds_claim:
        return head.queue.status
    blocked = head.queue.error_code is not None and not unblocked
    return QueueStatus.PARKED if head.is_pending or blocked else QueueStatus.QUEUED


def _clock_after(head: RunHead) -> Clock:
    if head.is_pending and head.request is not None:
        return Clock.AGENT if head.request.kind == "agent" else Clock.PERSON
    return Clock.PERSON if head.queue.error_code == BlockCode.EFFECT_AMBIGUOUS else Clock.IDLE


def _refuse_when_over(head: RunHead) -> None:
    if head.run.status.is_terminal:
        raise Refused("run_closed", f"the run is {head.run.status} already", status=str(head.run.status))
