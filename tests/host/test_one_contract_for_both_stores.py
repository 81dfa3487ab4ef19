"""The store's own execution and a worker's client over the socket keep the same promises to the engine."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from lockgate import Workflow, checkpoint, compute, edge
from lockgate.engine.ports import ExecutionStore
from lockgate.flow import transitions as t
from lockgate.flow.contracts import for_checkpoint
from lockgate.host.channel import Channel
from lockgate.host.client import HostClient, HostGone
from lockgate.host.protocol import PART_BYTES, Launch
from lockgate.host.session import Session
from lockgate.model.encoding import sha256, stored
from lockgate.model.errors import ClaimLost, NotFound, PayloadError, Refused
from lockgate.model.records import Actor, ClaimToken, Value
from lockgate.model.statuses import ActorKind, Outcome, OwnerKind, RequestKind, RunStatus
from lockgate.store import claims, commands
from lockgate.store.execution import StoreExecution
from lockgate.store.shell import Store, open_store

USER = Actor(kind=ActorKind.USER, id="tester")
OWNER = claims.Owner(kind=OwnerKind.HOST, id="host-1", host_epoch=1)
OTHER = claims.Owner(kind=OwnerKind.HOST, id="host-2", host_epoch=2)
SOURCES = {"/project/flow.py": "a" * 64}
WORKFLOW = Workflow(
    "contract",
    start="work",
    nodes={"work": compute(lambda ctx: None), "ask": checkpoint("A number"), "end": compute(lambda ctx: None)},
    edges=[edge("work", "ask"), edge("ask", "end")],
)

Opener = Callable[[Store, ClaimToken], Awaitable[ExecutionStore]]


def value_of(content: object) -> Value:
    encoded = stored(content)
    return Value(hash=sha256(encoded), content=encoded)


@asynccontextmanager
async def straight(store: Store, claim: ClaimToken) -> AsyncIterator[ExecutionStore]:
    yield StoreExecution(store, claim)


@asynccontextmanager
async def over_the_socket(store: Store, claim: ClaimToken) -> AsyncIterator[ExecutionStore]:
    ours, theirs = socket.socketpair()
    launch = Launch(
        run_id=claim.run_id,
        generation=claim.generation,
        file="/project/flow.py",
        name="contract",
        project_dir="/project",
        definition_digest="",
        sources_hash="",
    )
    session = Session(await Channel.over(ours), StoreExecution(store, claim), launch, lambda: None)
    serving = asyncio.create_task(session.serve())
    channel = await Channel.over(theirs)
    client, told = await HostClient.greet(channel)
    assert told == launch
    try:
        yield client
    finally:
        channel.close()
        await serving
        session.close()


class Story:
    """One run of WORKFLOW, and the execution stores of those who claim it."""

    def __init__(self, store: Store, opener: Callable[..., object], stack: AsyncExitStack) -> None:
        self.store, self._opener, self._stack = store, opener, stack
        self.run_id = ""

    async def start(self) -> None:
        definition = commands.Definition(
            workflow="contract",
            workflow_ref="/project/flow.py:contract",
            project_dir="/project",
            document=stored(WORKFLOW.document()),
            sources=SOURCES,
        )
        new = commands.NewRun(definition=definition, input=b"{}", title=None, started_by="tester", started_by_uid=0)
        receipt = await self.store.transact(lambda tx: commands.start(tx, new, actor=USER, key="start"))
        self.run_id = receipt.run_id or ""

    async def claim(self, owner: claims.Owner = OWNER) -> ExecutionStore:
        claimed = await self.store.transact(lambda tx: claims.claim(tx, self.run_id, owner))
        return await self._stack.enter_async_context(self._opener(self.store, claimed.claim))  # type: ignore[arg-type]

    async def lose(self, generation: int) -> None:
        actor = Actor(kind=ActorKind.HOST, id="host-2")
        await self.store.transact(
            lambda tx: claims.lose(
                tx, self.run_id, generation, cause="test", counted=False, progressed=True, actor=actor
            )
        )


@pytest.fixture(params=[straight, over_the_socket])
async def story(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Story]:
    async with open_store(tmp_path / "s.sqlite", create=True) as store, AsyncExitStack() as stack:
        story = Story(store, request.param, stack)
        await story.start()
        yield story


START = t.StartAttempt(attempt_id="attempt-1", node_id="work")


def finishing(output: Value, attempt: str = "attempt-1") -> t.FinishAttempt:
    return t.FinishAttempt(attempt_id=attempt, outcome=Outcome.OK, output_hash=output.hash)


async def test_a_run_from_ready_to_its_end(story: Story) -> None:
    execution = await story.claim()
    continuation = await execution.ready(SOURCES)
    assert (continuation.run_id, continuation.steps, continuation.current) == (story.run_id, 0, None)
    assert await execution.read_value(continuation.input_hash) == b"{}"
    started = await execution.commit_transition([START])
    assert started.outcome == "accepted"
    assert started.results[0]["visit"] == 1
    contract = Value(hash="", content=for_checkpoint("A number", {"type": "object"}).encoded())
    contract = Value(hash=sha256(contract.content), content=contract.content)
    output = value_of({"n": 1})
    waiting = await execution.commit_transition(
        [
            finishing(output),
            t.StartAttempt(attempt_id="attempt-2", node_id="ask"),
            t.WaitForInput(attempt_id="attempt-2", kind=RequestKind.CHECKPOINT, contract_hash=contract.hash),
        ],
        [output, contract],
    )
    assert waiting.outcome == "accepted"
    request_id = waiting.results[2]["request_id"]
    assert (await execution.read_checkpoint(request_id)).output_hash is None
    await story.store.submit(request_id, {"n": 7}, actor=USER)

    execution = await story.claim()
    continuation = await execution.ready(SOURCES)
    assert continuation.current is not None
    assert continuation.current.attempt_id == "attempt-2"
    state = await execution.read_checkpoint(request_id)
    assert state.output_hash == continuation.current.output_hash
    answer = await execution.read_value(continuation.current.output_hash)
    assert answer == b'{"n":7}'
    last = value_of("done")
    done = await execution.commit_transition(
        [
            finishing(Value(hash=state.output_hash or "", content=answer), "attempt-2"),
            t.StartAttempt(attempt_id="attempt-3", node_id="end"),
        ]
    )
    assert done.outcome == "accepted"
    ended = await execution.commit_transition(
        [finishing(last, "attempt-3"), t.Finish(status=RunStatus.COMPLETED, output_hash=last.hash)], [last]
    )
    assert ended.outcome == "accepted"
    assert (await story.store.run(story.run_id)).run.status == "completed"


@pytest.mark.parametrize("size", [0, 1, PART_BYTES - 1, 3 * PART_BYTES + 7])
async def test_values_of_every_size_arrive_whole(story: Story, size: int) -> None:
    execution = await story.claim()
    await execution.ready(SOURCES)
    await execution.commit_transition([START])
    output = value_of("é" * (size // 2))
    reply = await execution.commit_transition([finishing(output)], [output])
    assert reply.outcome == "accepted"
    assert await execution.read_value(output.hash) == output.content


async def test_a_refusal_changes_nothing_and_says_why(story: Story) -> None:
    execution = await story.claim()
    await execution.ready(SOURCES)
    reply = await execution.commit_transition([t.StartAttempt(attempt_id="attempt-1", node_id="end")])
    assert (reply.outcome, reply.code, reply.results) == ("refused", "wrong_node", ())
    missing = value_of("never sent")
    await execution.commit_transition([START])
    assert (await execution.commit_transition([finishing(missing)])).code == "value_missing"


async def test_a_paused_run_is_answered_paused(story: Story) -> None:
    execution = await story.claim()
    await story.store.pause(story.run_id, actor=USER)
    with pytest.raises(Refused, match="paused") as refused:
        await execution.ready(SOURCES)
    assert refused.value.code == "paused"


async def test_a_run_paused_later_keeps_its_step_and_starts_no_other(story: Story) -> None:
    execution = await story.claim()
    await execution.ready(SOURCES)
    await execution.commit_transition([START])
    await story.store.pause(story.run_id, actor=USER)
    output = value_of(1)
    both = [finishing(output), t.StartAttempt(attempt_id="attempt-2", node_id="ask")]
    assert (await execution.commit_transition(both, [output])).outcome == "paused"
    assert (await execution.commit_transition(both[:1], [output])).outcome == "accepted"


async def test_a_late_worker_changes_nothing(story: Story) -> None:
    late = await story.claim()
    await late.ready(SOURCES)
    await late.commit_transition([START])
    await story.lose(1)
    other = await story.claim(OTHER)
    await other.ready(SOURCES)
    started = await other.commit_transition([t.StartAttempt(attempt_id="attempt-9", node_id="work")])
    assert started.outcome == "accepted"
    before = await story.store.run(story.run_id)
    output = value_of("late")
    with pytest.raises(ClaimLost):
        await late.ready(SOURCES)
    for proposal in (finishing(output), START, t.Finish(status=RunStatus.FAILED)):
        assert (await late.commit_transition([proposal], [output])).outcome == "claim_lost"
    assert await story.store.run(story.run_id) == before
    with pytest.raises(NotFound):
        await late.read_value(output.hash)


async def test_a_cancelled_run_is_answered_cancelled(story: Story) -> None:
    execution = await story.claim()
    await execution.ready(SOURCES)
    await story.store.cancel(story.run_id, actor=USER)
    reply = await execution.commit_transition([START])
    assert (reply.outcome, reply.head.cancelled) == ("cancelled", True)


async def test_what_is_not_there_is_not_found(story: Story) -> None:
    execution = await story.claim()
    await execution.ready(SOURCES)
    with pytest.raises(NotFound):
        await execution.read_value("0" * 64)
    with pytest.raises(NotFound):
        await execution.read_checkpoint("request-0")


async def test_a_cancelled_caller_does_not_take_the_next_one_s_answer(story: Story) -> None:
    execution = await story.claim()
    continuation = await execution.ready(SOURCES)
    asking = asyncio.create_task(execution.commit_transition([START]))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await execution.read_value(continuation.input_hash) == b"{}"


# --- only the socket ---


async def test_a_value_beyond_the_limit_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours:
        channel = await Channel.over(theirs)
        client = HostClient(channel, Launch(run_id="r", generation=1, file="", name="", project_dir="",
            definition_digest="", sources_hash=""))  # fmt: skip
        large = Value(hash="0" * 64, content=b"x" * ((8 << 20) + 1))
        with pytest.raises(PayloadError):
            await client.commit_transition([finishing(large)], [large])
        ours.setblocking(False)
        with pytest.raises(BlockingIOError):
            ours.recv(1)
        channel.close()


async def test_a_host_that_is_gone_is_an_error_not_a_silence() -> None:
    ours, theirs = socket.socketpair()
    channel = await Channel.over(theirs)
    client = HostClient(channel, Launch(run_id="r", generation=1, file="", name="", project_dir="",
        definition_digest="", sources_hash=""))  # fmt: skip
    asking = asyncio.create_task(client.commit_transition([START]))
    await asyncio.sleep(0)
    ours.close()
    with pytest.raises(HostGone):
        await asking
    channel.close()
