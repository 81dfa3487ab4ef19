"""What engine/ports.py promises, held by the store itself and by a worker's connection to its host."""

from typing import Any

import pytest

from lockgate import Ask, Workflow, agent, checkpoint, choice, compute, decision_edge, edge, human_decision
from lockgate.engine.runner import run as run_engine
from lockgate.flow.transitions import AnyProposal, Finish, FinishAttempt, StartAttempt
from lockgate.model.encoding import sha256, stored
from lockgate.model.errors import ClaimLost, LockgateError, NotFound, Refused
from lockgate.model.records import Human, Value
from lockgate.model.statuses import Outcome, RequestStatus, RunStatus
from lockgate.store import claims, commands
from tests.engine.contract.conftest import USER, Claims


def two(**more: Any) -> Workflow:
    nodes = {"a": compute(lambda ctx: 1), "b": compute(lambda ctx: 2), **more}
    return Workflow("flow", start="a", nodes=nodes, edges=[edge("a", "b")])


def value(content: Any) -> Value:
    encoded = stored(content)
    return Value(hash=sha256(encoded), content=encoded)


def started(attempt: str, node: str = "a") -> StartAttempt:
    return StartAttempt(attempt_id=attempt, node_id=node)


def finished(attempt: str, output: Value) -> FinishAttempt:
    return FinishAttempt(attempt_id=attempt, outcome=Outcome.OK, output_hash=output.hash)


async def test_ready_says_where_to_begin(run: Claims) -> None:
    await run.start(two(), {"n": 1})
    store = await run.take()
    found = await store.ready({})
    assert (found.run_id, found.workflow, found.steps, found.last, found.current) == (run.run_id, "flow", 0, None, None)
    assert await store.read_value(found.input_hash) == stored({"n": 1})


async def test_results_follow_the_proposals_one_to_one(run: Claims) -> None:
    await run.start(two())
    store = await run.take()
    await store.ready({})
    first = await store.commit_transition([started("attempt-1")])
    assert first.outcome == "accepted"
    assert first.results == ({"ordinal": 1, "attempt_number": 1, "visit": 1, "settings_hash": None},)
    output = value("x")
    second = await store.commit_transition([finished("attempt-1", output), started("attempt-2", "b")], [output])
    assert second.results[1:] == ({"ordinal": 2, "attempt_number": 1, "visit": 1, "settings_hash": None},)
    assert len(second.results) == 2
    assert second.head.revision > first.head.revision
    assert await store.read_value(output.hash) == b'"x"'


async def test_an_output_meets_the_schema_of_its_agent_or_is_refused(run: Claims) -> None:
    counted = agent("Count", command=["true"], timeout=None, output={"type": "array", "items": {"type": "integer"}})
    await run.start(two(a=counted))
    store = await run.take()
    await store.ready({})
    await store.commit_transition([started("attempt-1")])
    bad, good = value([1, "two"]), value([1, 2])
    for more in ([], [started("attempt-2", "b")]):
        refused = await store.commit_transition([finished("attempt-1", bad), *more], [bad])
        assert (refused.outcome, refused.code) == ("refused", "unfit_value")
        assert refused.message == 'the output at \'a\' does not fit: $[1]: type "integer", got "two"'
    with pytest.raises(NotFound):
        await store.read_value(bad.hash)
    torn = Value(hash=sha256(b"[1,"), content=b"[1,")
    refused = await store.commit_transition([finished("attempt-1", torn)], [torn])
    assert (refused.code, "the output at 'a' is no JSON" in (refused.message or "")) == ("unfit_value", True)
    accepted = await store.commit_transition([finished("attempt-1", good), started("attempt-2", "b")], [good])
    assert accepted.outcome == "accepted"


async def test_the_next_claim_continues_from_the_last_step(run: Claims) -> None:
    await run.start(two())
    store = await run.take()
    await store.ready({})
    output = value("x")
    await store.commit_transition([started("attempt-1")])
    await store.commit_transition([finished("attempt-1", output)], [output])
    assert run.claim is not None
    claim = run.claim
    await run.command(lambda tx: claims.release(tx, claim))
    found = await (await run.take()).ready({})
    assert found.steps == 1
    assert found.last is not None
    assert (found.last.node_id, found.last.output_hash) == ("a", output.hash)
    assert found.results == (found.last,)


async def test_a_list_is_all_or_nothing(run: Claims) -> None:
    await run.start(two())
    store = await run.take()
    before = (await store.ready({})).head.revision
    output = value("x")
    await store.commit_transition([started("attempt-1")])
    reply = await store.commit_transition([finished("attempt-1", output), started("attempt-2", "a")], [output])
    assert (reply.outcome, reply.code) == ("refused", "wrong_node")
    assert reply.head.revision == before + 1
    with pytest.raises(NotFound):
        await store.read_value(output.hash)
    assert (await store.commit_transition([finished("attempt-1", output)], [output])).outcome == "accepted"


async def test_a_named_value_must_come_along(run: Claims) -> None:
    await run.start(two())
    store = await run.take()
    await store.ready({})
    await store.commit_transition([started("attempt-1")])
    reply = await store.commit_transition([finished("attempt-1", value("x"))])
    assert (reply.outcome, reply.code) == ("refused", "value_missing")


@pytest.mark.parametrize("size", [0, 100, 130_000, 600_000, 3_000_000])
async def test_values_of_every_size_arrive_whole(run: Claims, size: int) -> None:
    await run.start(two())
    store = await run.take()
    await store.ready({})
    await store.commit_transition([started("attempt-1")])
    output = value("é" * (size // 2))
    reply = await store.commit_transition([finished("attempt-1", output)], [output])
    assert reply.outcome == "accepted"
    assert await store.read_value(output.hash) == output.content


async def test_an_unknown_value_and_request_are_not_found(run: Claims) -> None:
    await run.start(two())
    store = await run.take()
    await store.ready({})
    with pytest.raises(NotFound):
        await store.read_value("0" * 64)
    with pytest.raises(NotFound):
        await store.read_checkpoint("request-" + "0" * 40)


async def test_a_paused_run_takes_the_step_and_nothing_after_it(run: Claims) -> None:
    await run.start(two())
    store = await run.take()
    await store.ready({})
    await store.commit_transition([started("attempt-1")])
    await run.command(lambda tx: commands.pause(tx, run.run_id, actor=USER, key="pause"))
    output = value("x")
    both: list[AnyProposal] = [finished("attempt-1", output), started("attempt-2", "b")]
    assert (await store.commit_transition(both, [output])).outcome == "paused"
    reply = await store.commit_transition([finished("attempt-1", output)], [output])
    assert (reply.outcome, reply.head.paused) == ("accepted", True)
    end = Finish(status=RunStatus.COMPLETED, output_hash=output.hash)
    assert (await store.commit_transition([end])).outcome == "paused"


async def test_a_run_paused_before_ready_refuses_it(run: Claims) -> None:
    await run.start(two())
    store = await run.take()
    await run.command(lambda tx: commands.pause(tx, run.run_id, actor=USER, key="pause"))
    with pytest.raises(Refused) as caught:
        await store.ready({})
    assert caught.value.code == "paused"


async def test_a_cancelled_run_says_so(run: Claims) -> None:
    await run.start(two())
    store = await run.take()
    await store.ready({})
    await run.command(lambda tx: commands.cancel(tx, run.run_id, actor=USER, key="cancel"))
    reply = await store.commit_transition([started("attempt-1")])
    assert (reply.outcome, reply.head.cancelled) == ("cancelled", True)


async def test_a_lost_claim_writes_nothing(run: Claims) -> None:
    await run.start(two())
    late, claim = await run.take(), run.claim
    assert claim is not None
    await late.ready({})
    await run.command(
        lambda tx: claims.lose(
            tx, run.run_id, claim.generation, cause="silent", counted=False, progressed=True, actor=USER
        )
    )
    assert (await late.commit_transition([started("attempt-1")])).outcome == "claim_lost"
    await run.take()
    assert (await late.commit_transition([started("attempt-1")])).outcome == "claim_lost"
    with pytest.raises(ClaimLost):
        await late.ready({})


async def test_changed_sources_are_refused_before_anything(run: Claims) -> None:
    await run.start(two())
    store = await run.take()
    with pytest.raises(LockgateError):
        await store.ready({"flow.py": "1" * 64})
    found = (await run.store.run(run.run_id)).run
    assert (found.status, found.error_code) == (RunStatus.QUEUED, "source_changed")


async def test_a_checkpoint_is_read_before_and_after_its_answer(run: Claims) -> None:
    await run.start(Workflow("flow", start="a", nodes={"a": checkpoint("Say")}))
    first = await run.take()
    assert await run_engine(Workflow("flow", start="a", nodes={"a": checkpoint("Say")}), first, sources={}) == "waiting"
    request_id = (await run.store.run(run.run_id)).run.request_id or ""
    pending = await first.read_checkpoint(request_id)
    assert (pending.status, pending.output_hash) == (RequestStatus.PENDING, None)
    await run.store.submit(request_id, {"said": "yes"}, actor=USER)
    store = await run.take()
    found = await store.ready({})
    settled = await store.read_checkpoint(request_id)
    assert settled.status is RequestStatus.SETTLED
    assert found.current is not None
    assert settled.output_hash == found.current.output_hash == value({"said": "yes"}).hash


async def test_a_whole_run_with_a_decision(run: Claims) -> None:
    flow = Workflow(
        "flow",
        start="a",
        nodes={
            "a": compute(lambda ctx: "x" * 2_000_000),
            "ask": human_decision(
                audience="ops",
                choices={"yes": choice("Yes"), "no": choice("No")},
                request=lambda ctx: Ask(title="Go?", summary="Go on?", subject=ctx.outputs["a"]),
            ),
            "end": compute(lambda ctx: [len(ctx.outputs["a"]), ctx.outputs["ask"]["choice"]]),
        },
        edges=[edge("a", "ask"), decision_edge("ask", {"yes": "end", "no": "end"})],
    )
    await run.start(flow)
    assert await run_engine(flow, await run.take(), sources={}) == "waiting"
    (asked,) = await run.store.decisions()
    await run.store.answer(asked.request_id, "yes", digest=asked.digest, actor=Human.for_test())
    store = await run.take()
    assert await run_engine(flow, store, sources={}) == "completed"
    output = (await run.store.run(run.run_id)).row.output_hash or ""
    assert await store.read_value(output) == stored([2_000_000, "yes"])
