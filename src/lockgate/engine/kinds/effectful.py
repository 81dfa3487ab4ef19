"""Nodes with a declared side effect: reserved before acting, settled after."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from lockgate.engine.context import EffectState
from lockgate.engine.failures import NodeFailed, failure_of
from lockgate.engine.journal import Halt
from lockgate.engine.kinds import shells
from lockgate.engine.values import value_of
from lockgate.engine.visit import Done, Visit
from lockgate.flow.authoring.effects import Effect, Happened, NotHappened
from lockgate.flow.authoring.nodes import ActionNode, ShellNode
from lockgate.flow.transitions import ReserveEffect, SettleEffect
from lockgate.model.records import Value
from lockgate.model.statuses import EffectStatus


def opening(node: ActionNode | ShellNode, attempt_id: str) -> ReserveEffect:
    return ReserveEffect(attempt_id=attempt_id, effect_type=node.effect.type, recovery=node.effect.recovery)


async def action(node: ActionNode, visit: Visit, reserved: Mapping[str, Any]) -> Done:
    return await _apply(
        node.effect,
        visit,
        reserved,
        act=lambda: visit.call(node.function, visit.context),
        shape=_as_it_is,
    )


async def shell(node: ShellNode, visit: Visit, reserved: Mapping[str, Any]) -> Done:
    async def shape(result: Any) -> Any:
        return result if node.parse is None else await visit.call(node.parse, result)

    return await _apply(node.effect, visit, reserved, act=lambda: shells.run(node.command, visit), shape=shape)


async def _as_it_is(result: Any) -> Any:
    return result


async def _apply(
    effect: Effect,
    visit: Visit,
    reserved: Mapping[str, Any],
    *,
    act: Callable[[], Awaitable[Any]],
    shape: Callable[[Any], Awaitable[Any]],
) -> Done:
    """Acts, unless the effect is known to have happened. `shape` makes the output of what `act` returned."""
    answer = reserved["answer"]
    if answer == "adopted":
        return await _adopted(visit, reserved["result_hash"], reserved["error_hash"])
    if answer == "ambiguous":
        raise Halt("blocked")
    state = visit.context.state
    visit.context.effect = visit.applying = EffectState(
        effect_id=reserved["effect_id"],
        key=f"{state.run_id}:{effect.type}:{visit.node_id}:{visit.number}",
        type=effect.type,
        recovery=str(effect.recovery),
    )
    if answer == "verify":
        happened = await _verify(effect, visit)
        if happened is not None:
            return happened
    try:
        raw = await act()
    except Exception as problem:
        # What was stopped in the middle is not known to have failed: the limit says what becomes of it.
        if not visit.context.cancelled:
            await settle(visit, EffectStatus.REJECTED, error=failure_of(problem).value)
        raise
    try:
        value = value_of(await shape(raw))
    except Exception as problem:
        # It took place, whatever its output looks like; who adopts it is to fail as this attempt does.
        await settle(visit, EffectStatus.APPLIED, error=failure_of(problem).value)
        raise
    await settle(visit, EffectStatus.APPLIED, result=value)
    return Done(value)


async def _adopted(visit: Visit, result_hash: str | None, error_hash: str | None) -> Done:
    """Ends as the attempt would have that applied the effect: with its output, or with the same failure."""
    if error_hash is not None:
        await visit.values.fetch([error_hash])
        told = visit.values.decoded(error_hash)
        raise NodeFailed(told["type"], told["message"], told["result"], told["traceback"])
    if result_hash is None:
        return Done(value_of(None))
    await visit.values.fetch([result_hash])
    return Done(Value(hash=result_hash, content=visit.values.content(result_hash)))


async def _verify(effect: Effect, visit: Visit) -> Done | None:
    """The output of an effect that took place, None for one that did not; else a person has to say."""
    visit.verifying = True
    try:
        said = await visit.call(effect.verify or _unknown, visit.context)
        value = value_of(said.output) if isinstance(said, Happened) else None
    except Exception:
        said = value = None
    visit.verifying = False
    if value is not None:
        await settle(visit, EffectStatus.APPLIED, result=value)
        return Done(value)
    if not isinstance(said, NotHappened):
        await visit.updates.flush()
        await settle(visit, EffectStatus.AMBIGUOUS)
        raise Halt("blocked")
    return None


def _unknown(context: object) -> None:
    return None


async def settle(
    visit: Visit, status: EffectStatus, *, result: Value | None = None, error: Value | None = None
) -> None:
    """Says what became of the effect that the attempt is applying."""
    effect, visit.applying = visit.applying, None
    if effect is None:
        return
    await visit.journal.commit(
        SettleEffect(
            attempt_id=visit.attempt_id,
            effect_id=effect.effect_id,
            status=status,
            result_hash=result.hash if result is not None else None,
            error_hash=error.hash if error is not None else None,
        ),
        values=[value for value in (result, error) if value is not None],
    )
