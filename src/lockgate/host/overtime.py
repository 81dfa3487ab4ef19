"""An attempt whose worker did not answer within its limit: the host, which killed it, commits the timeout.

An effect that was being applied decides first: only a repeatable one may simply be called rejected.
"""

from lockgate.engine.failures import failure
from lockgate.engine.ports import ExecutionStore
from lockgate.flow.transitions import FinishAttempt, SettleEffect
from lockgate.host.session import ActiveAttempt
from lockgate.model.errors import ClaimLost
from lockgate.model.statuses import EffectStatus, Outcome, Recovery

_SETTLED_AS = {Recovery.IDEMPOTENT: EffectStatus.REJECTED, Recovery.MANUAL: EffectStatus.AMBIGUOUS}


async def commit_timeout(execution: ExecutionStore, attempt: ActiveAttempt) -> bool:
    """Whether the run can go on from here without a loss: the attempt is timed out, or its effect is ambiguous."""
    try:
        if attempt.effect_id is not None and attempt.recovery is not None:
            settled = await _settle(execution, attempt, attempt.effect_id, attempt.recovery)
            if not settled or attempt.recovery is Recovery.MANUAL:
                return settled
        return await _finish(execution, attempt)
    except ClaimLost:
        return False


async def _settle(execution: ExecutionStore, attempt: ActiveAttempt, effect_id: str, recovery: Recovery) -> bool:
    status = _SETTLED_AS.get(recovery)
    if status is None:
        # A verified effect is looked at by the next worker, which needs it as it is.
        return False
    settling = SettleEffect(attempt_id=attempt.attempt_id, effect_id=effect_id, status=status)
    return (await execution.commit_transition((settling,))).outcome == "accepted"


async def _finish(execution: ExecutionStore, attempt: ActiveAttempt) -> bool:
    why = failure("TimedOut", "the worker did not stop at the limit and was killed")
    finishing = FinishAttempt(
        attempt_id=attempt.attempt_id,
        outcome=Outcome.TIMED_OUT,
        error_hash=why.value.hash,
        error_summary=why.summary,
    )
    return (await execution.commit_transition((finishing,), (why.value,))).outcome == "accepted"
