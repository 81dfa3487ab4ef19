"""An attempt whose worker did not answer within its limit: the host, which killed it, commits the timeout.

An effect that was being applied decides first: only a repeatable one may simply be called rejected.
"""

from collections.abc import Awaitable, Callable

import msgspec

from lockgate.engine.failures import failure
from lockgate.engine.routes import switch_value
from lockgate.flow.graph import remembered
from lockgate.flow.transitions import FinishAttempt, SettleEffect
from lockgate.host.session import ActiveAttempt
from lockgate.model.errors import ClaimLost
from lockgate.model.records import Reply, Value
from lockgate.model.statuses import EffectStatus, Outcome, Recovery

_SETTLED_AS = {Recovery.IDEMPOTENT: EffectStatus.REJECTED, Recovery.MANUAL: EffectStatus.AMBIGUOUS}

Commit = Callable[..., Awaitable[Reply]]
"""Commits proposals and the values that they name."""


async def commit_timeout(commit: Commit, attempt: ActiveAttempt, definition_digest: str) -> bool:
    """Whether the run can go on from here without a loss: the attempt is timed out, or its effect is ambiguous."""
    try:
        if attempt.effect_id is not None and attempt.recovery is not None:
            settled = await _settle(commit, attempt, attempt.effect_id, attempt.recovery)
            if not settled or attempt.recovery is Recovery.MANUAL:
                return settled
        return await _finish(commit, attempt, definition_digest)
    except ClaimLost:
        return False


async def _settle(commit: Commit, attempt: ActiveAttempt, effect_id: str, recovery: Recovery) -> bool:
    status = _SETTLED_AS.get(recovery)
    if status is None:
        # A verified effect is looked at by the next worker, which needs it as it is.
        return False
    settling = SettleEffect(attempt_id=attempt.attempt_id, effect_id=effect_id, status=status)
    return (await commit((settling,))).outcome == "accepted"


async def _finish(commit: Commit, attempt: ActiveAttempt, definition_digest: str) -> bool:
    why = failure("TimedOut", "the worker did not stop at the limit and was killed")
    finishing = FinishAttempt(
        attempt_id=attempt.attempt_id,
        outcome=Outcome.TIMED_OUT,
        error_hash=why.value.hash,
        error_summary=why.summary,
        switch_value=_switch(definition_digest, attempt.node_id, why.value),
    )
    return (await commit((finishing,), (why.value,))).outcome == "accepted"


def _switch(definition_digest: str, node_id: str, error: Value) -> str | None:
    graph = remembered(definition_digest)
    # Claiming has decoded the graph; without it the run could only end here instead of routing on.
    return switch_value(graph, node_id, Outcome.TIMED_OUT, None, msgspec.json.decode(error.content)) if graph else None
