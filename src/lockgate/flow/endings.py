"""The law's rule for the end of a run as its worker proposes it; flow.commands has the cancellation."""

from lockgate.flow import transitions as t
from lockgate.flow.draft import Draft
from lockgate.flow.effects import make_ambiguous
from lockgate.flow.head import Facts, RunHead
from lockgate.flow.proposals import ahead, refuse_when_paused, require_running, short
from lockgate.model import events as ev
from lockgate.model import ids
from lockgate.model.errors import Refused
from lockgate.model.statuses import AttemptStatus, Clock, EffectStatus, Outcome, RunStatus


def finish(draft: Draft, wish: t.Finish, facts: Facts) -> None:
    head = draft.head
    require_running(head)
    refuse_when_paused(head)
    if not wish.status.is_terminal:
        raise Refused("not_terminal", f"a run finishes with a terminal status, not {wish.status}")
    if head.attempt is not None and head.attempt.status is not AttemptStatus.INTERRUPTED:
        raise Refused("attempt_active", f"the attempt {head.attempt.attempt_id} is still active")
    _check_end(head, wish)
    if wish.error_code is not None:
        ids.match(ids.WORD, wish.error_code, "an error code")
    if head.effect is not None and head.effect.status is EffectStatus.APPLYING:
        # A lost attempt was at it, and no other will come to it: as after a cancellation, a person may say.
        make_ambiguous(draft)
    completed = wish.status is RunStatus.COMPLETED
    payload = ev.RunEnded(
        output_hash=wish.output_hash if completed else None,
        error_hash=None if completed else wish.error_hash,
        error_code=None if completed else wish.error_code or str(wish.status),
        error_summary=None if completed else short(wish.error_summary),
        attempt_id=head.attempt.attempt_id if head.attempt is not None else None,
        request_id=None,
        clocks=draft.clocks(Clock.IDLE),
    )
    draft.emit(f"run_{wish.status}", payload)


def _check_end(head: RunHead, wish: t.Finish) -> None:
    """A run completes only where the graph ends, and never as something that its last step was not."""
    last = head.last
    if wish.status is RunStatus.COMPLETED:
        if last is None or last.outcome is not Outcome.OK or ahead(head) is not None:
            raise Refused("not_at_end", "a run completes after an ok step that leads nowhere")
        if wish.output_hash != last.output_hash:
            raise Refused("wrong_output", "a run's output is its last step's output")
    elif wish.status is RunStatus.TIMED_OUT and (last is None or last.outcome is not Outcome.TIMED_OUT):
        raise Refused("wrong_status", "a run is timed_out only after a step that was")
    elif wish.status is RunStatus.CANCELLED and (last is None or last.outcome is not Outcome.CANCELLED):
        raise Refused("wrong_status", "a run is cancelled by cancel, or after a step that was")
