"""Reserve before acting, settle after; after a loss only what was declared repeatable is repeated."""

from pathlib import Path
from typing import Any

import pytest

from lockgate import (
    Context,
    Workflow,
    action,
    compute,
    edge,
    happened,
    idempotent,
    manual,
    not_happened,
    shell,
    switch_edge,
    verified,
)
from lockgate.model.statuses import AttemptStatus, BlockCode, EffectStatus, Outcome
from tests.engine.bench import Bench


class World:
    """The outside: it counts what was done to it."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def act(self, ctx: Context) -> dict[str, Any]:
        assert ctx.effect is not None
        self.keys.append(ctx.effect.key)
        return {"done": len(self.keys)}


@pytest.fixture
def world() -> World:
    return World()


def flow(node: Any) -> Workflow:
    return Workflow(
        "flow",
        start="a",
        nodes={"a": node, "b": compute(lambda ctx: ctx.outputs["a"])},
        edges=[edge("a", "b")],
    )


class Crash(BaseException):
    """Stands for kill -9: nothing after it runs."""


async def crash(bench: Bench, workflow: Workflow, before: str) -> None:
    """Works until the engine is about to propose `before`, and dies there."""
    bench.start(workflow)
    holder = bench.claim()

    def die(proposals: Any) -> None:
        if type(proposals[0]).__name__ == before:
            raise Crash

    holder.before_commit = die
    with pytest.raises(Crash):
        await bench.work(holder)
    bench.lose(counted=True)


@pytest.mark.parametrize("declare", [idempotent, manual, lambda kind: verified(kind, verify=lambda ctx: None)])
async def test_an_effect_is_reserved_done_and_settled(bench: Bench, world: World, declare: Any) -> None:
    assert await bench.go(flow(action(world.act, effect=declare("tag")))) == "completed"
    assert bench.result == {"done": 1}
    assert world.keys == [f"{bench.run_id}:tag:a:1"]
    assert bench.types[:4] == ["node_started", "effect_reserved", "effect_applied", "node_finished"]
    assert bench.detail.effects[0].status is EffectStatus.APPLIED


@pytest.mark.parametrize("declare", [idempotent, manual, lambda kind: verified(kind, verify=lambda ctx: None)])
async def test_an_applied_effect_is_adopted_after_a_loss(bench: Bench, world: World, declare: Any) -> None:
    await crash(bench, flow(action(world.act, effect=declare("tag"))), before="FinishAttempt")
    assert await bench.work() == "completed"
    assert bench.result == {"done": 1}
    assert len(world.keys) == 1
    assert [(attempt.visit, attempt.attempt_number) for attempt in bench.attempts[:2]] == [(1, 1), (1, 2)]


async def test_an_idempotent_effect_is_done_again_with_the_same_key(bench: Bench, world: World) -> None:
    await crash(bench, flow(action(world.act, effect=idempotent("tag"))), before="SettleEffect")
    assert await bench.work() == "completed"
    assert bench.result == {"done": 2}
    assert world.keys[0] == world.keys[1]
    assert bench.detail.effects[0].attempt_count == 2


async def test_a_manual_effect_waits_for_a_person(bench: Bench, world: World) -> None:
    await crash(bench, flow(action(world.act, effect=manual("tag"))), before="SettleEffect")
    assert bench.run.error_code == BlockCode.EFFECT_AMBIGUOUS
    bench.resolve(True, {"by": "hand"})
    assert await bench.work() == "completed"
    assert bench.result == {"by": "hand"}
    assert len(world.keys) == 1


async def test_a_manual_effect_that_did_not_happen_is_done(bench: Bench, world: World) -> None:
    await crash(bench, flow(action(world.act, effect=manual("tag"))), before="SettleEffect")
    bench.resolve(False)
    assert await bench.work() == "completed"
    assert bench.result == {"done": 2}


class TestVerify:
    async def lost(self, bench: Bench, world: World, verify: Any) -> None:
        await crash(bench, flow(action(world.act, effect=verified("tag", verify=verify))), before="SettleEffect")

    async def test_what_happened_is_taken_over(self, bench: Bench, world: World) -> None:
        await self.lost(bench, world, lambda ctx: happened({"found": ctx.effect.key}))
        assert await bench.work() == "completed"
        assert bench.result == {"found": f"{bench.run_id}:tag:a:1"}
        assert len(world.keys) == 1

    async def test_what_did_not_happen_is_done(self, bench: Bench, world: World) -> None:
        await self.lost(bench, world, lambda ctx: not_happened)
        assert await bench.work() == "completed"
        assert bench.result == {"done": 2}

    @pytest.mark.parametrize("said", [None, True, "happened", happened, object(), happened({1})])
    async def test_anything_else_is_a_question_to_a_person(self, bench: Bench, world: World, said: Any) -> None:
        await self.lost(bench, world, lambda ctx: said)
        assert await bench.work() == "blocked"
        assert bench.run.error_code == BlockCode.EFFECT_AMBIGUOUS
        assert len(world.keys) == 1

    async def test_a_verify_that_fails_is_a_question_to_a_person(self, bench: Bench, world: World) -> None:
        def verify(ctx: Context) -> None:
            raise OSError("the network is down")

        await self.lost(bench, world, verify)
        assert await bench.work() == "blocked"


async def test_an_exception_rejects_the_effect(bench: Bench) -> None:
    def fail(ctx: Context) -> None:
        raise ValueError("no")

    assert await bench.go(flow(action(fail, effect=manual("tag")))) == "failed"
    effect = bench.detail.effects[0]
    assert effect.status is EffectStatus.REJECTED
    assert bench.value(effect.error_hash)["message"] == "no"


async def test_an_output_that_is_no_json_does_not_undo_the_effect(bench: Bench) -> None:
    assert await bench.go(flow(action(lambda ctx: {1}, effect=manual("tag")))) == "failed"
    assert bench.detail.effects[0].status is EffectStatus.APPLIED


def unparsable(result: Any) -> None:
    raise ValueError("no JSON in it")


REFUSED = {
    "no JSON": action(lambda ctx: {1}, effect=manual("tag")),
    "too large": action(lambda ctx: "x" * 9_000_000, effect=manual("tag")),
    "not parsed": shell(["true"], effect=manual("tag"), parse=unparsable),
}


@pytest.mark.parametrize("node", REFUSED.values(), ids=REFUSED)
async def test_an_adopted_effect_fails_as_its_own_attempt_would_have(bench: Bench, tmp_path: Path, node: Any) -> None:
    whole = Bench(tmp_path / "whole")
    assert await whole.go(flow(node)) == "failed"
    await crash(bench, flow(node), before="FinishAttempt")
    assert bench.detail.effects[0].status is EffectStatus.APPLIED
    assert await bench.work() == "failed"
    first, adopted = whole.attempts[-1], bench.attempts[-1]
    assert (adopted.outcome, adopted.error_hash, adopted.error_summary) == (
        Outcome.FAILED,
        first.error_hash,
        first.error_summary,
    )
    whole.close()


async def test_a_repeat_over_an_edge_is_another_effect(bench: Bench, world: World) -> None:
    looping = Workflow(
        "flow",
        start="a",
        nodes={"a": action(world.act, effect=manual("tag")), "b": compute(lambda ctx: "end")},
        edges=[switch_edge("a", "$.done", {"1": "a", "2": "b"})],
    )
    assert await bench.go(looping) == "completed"
    assert world.keys == [f"{bench.run_id}:tag:a:1", f"{bench.run_id}:tag:a:2"]


class TestLimits:
    """A limit while the effect is being applied."""

    def slow(self, declare: Any) -> Workflow:
        return Workflow(
            "flow",
            start="a",
            nodes={"a": shell(["sleep", "30"], effect=declare, timeout=0.05), "b": compute(lambda ctx: "late")},
            edges=[switch_edge("a", "$result.outcome", {"ok": "b", "timed_out": "b"})],
        )

    async def test_an_idempotent_one_is_over(self, bench: Bench) -> None:
        assert await bench.go(self.slow(idempotent("x"))) == "completed"
        assert bench.attempts[0].outcome is Outcome.TIMED_OUT
        assert bench.detail.effects[0].status is EffectStatus.REJECTED

    async def test_a_manual_one_is_a_question_to_a_person(self, bench: Bench) -> None:
        assert await bench.go(self.slow(manual("x"))) == "blocked"
        assert bench.run.error_code == BlockCode.EFFECT_AMBIGUOUS

    async def test_a_verified_one_is_for_the_next_worker(self, bench: Bench) -> None:
        flow = self.slow(verified("x", verify=lambda ctx: happened("after all")))
        assert await bench.go(flow) == "unverified"
        assert bench.attempts[0].status is AttemptStatus.RUNNING
        bench.lose()
        assert await bench.work() == "completed"
        assert [attempt.outcome for attempt in bench.attempts] == [None, Outcome.OK, Outcome.OK]
