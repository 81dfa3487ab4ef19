"""What the socket between a worker and its host adds to the contract of stores: order, limits, fences, loss."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lockgate import Workflow, compute
from lockgate.flow import transitions as t
from lockgate.flow.definition import Definition
from lockgate.host.channel import Channel
from lockgate.host.client import HostClient, HostGone
from lockgate.host.protocol import MAX_FRAME_BYTES, Exiting, FrameError, Launch
from lockgate.host.session import Session
from lockgate.model.encoding import sha256, stored
from lockgate.model.errors import PayloadError, Refused
from lockgate.model.records import Actor, Value
from lockgate.model.statuses import ActorKind, Outcome, OwnerKind
from lockgate.store import claims, commands
from lockgate.store.execution import StoreExecution
from lockgate.store.shell import Store, open_store

USER = Actor(kind=ActorKind.USER, id="tester")
OWNER = claims.Owner(kind=OwnerKind.HOST, id="host-1", host_epoch=1)
SOURCES = {"/project/flow.py": "a" * 64}
WORKFLOW = Workflow("one", start="work", nodes={"work": compute(lambda ctx: None)})
START = t.StartAttempt(attempt_id="attempt-1", node_id="work")
LAUNCH = Launch(
    run_id="run",
    generation=1,
    file="",
    name="",
    project_dir="",
    definition_digest="",
    sources={},
    environment=b"",
)


class Pair:
    """Both ends of one socket, over a claimed run of a real store."""

    def __init__(self, session: Session, serving: "asyncio.Task[None]", channel: Channel, client: HostClient) -> None:
        self.session, self.serving, self.channel, self.client = session, serving, channel, client


async def claimed(store: Store) -> StoreExecution:
    definition = Definition(
        workflow="one",
        workflow_ref="/project/flow.py:one",
        project_dir="/project",
        document=stored(WORKFLOW.document()),
        sources=SOURCES,
    )
    new = commands.NewRun(definition=definition, input=b"{}", title=None, started_by="tester", started_by_uid=0)
    receipt = await store.transact(lambda tx: commands.start(tx, new, actor=USER, key="start"))
    claim = await store.transact(lambda tx: claims.claim(tx, receipt.run_id or "", OWNER))
    return StoreExecution(store, claim.claim)


@asynccontextmanager
async def connected(execution: StoreExecution) -> AsyncIterator[Pair]:
    ours, theirs = socket.socketpair()
    session = Session(await Channel.over(ours), execution, LAUNCH, lambda: None)
    serving = asyncio.create_task(session.serve())
    channel = await Channel.over(theirs)
    client, launch = await HostClient.greet(channel)
    assert launch == LAUNCH
    try:
        yield Pair(session, serving, channel, client)
    finally:
        channel.close()
        await asyncio.gather(serving, return_exceptions=True)
        session.close()


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[Pair]:
    async with (
        open_store(tmp_path / "s.sqlite", create=True) as store,
        connected(await claimed(store)) as pair,
    ):
        yield pair


def finishing(output: Value) -> t.FinishAttempt:
    return t.FinishAttempt(attempt_id="attempt-1", outcome=Outcome.OK, output_hash=output.hash)


async def test_a_cancelled_caller_does_not_leave_its_answer_to_the_next_one(pair: Pair) -> None:
    continuation = await pair.client.ready(SOURCES)
    asking = asyncio.create_task(pair.client.commit_transition([START]))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await pair.client.read_value(continuation.input_hash) == b"{}"


async def test_requests_of_several_tasks_wait_for_each_other(pair: Pair) -> None:
    continuation = await pair.client.ready(SOURCES)
    reads = [pair.client.read_value(continuation.input_hash) for _ in range(20)]
    started, *contents = await asyncio.gather(pair.client.commit_transition([START]), *reads)
    assert started.outcome == "accepted"
    assert contents == [b"{}"] * 20


async def test_a_fenced_worker_commits_nothing_more(pair: Pair) -> None:
    await pair.client.ready(SOURCES)
    await pair.session.fence()
    reply = await pair.client.commit_transition([START])
    assert (reply.outcome, reply.code) == ("claim_lost", "stopped")
    assert not pair.session.progressed


async def test_the_session_knows_what_its_worker_does(pair: Pair) -> None:
    await pair.client.ready(SOURCES)
    assert (pair.session.attempt, pair.session.progressed) == (None, False)
    await pair.client.commit_transition([START])
    assert pair.session.attempt is not None
    assert (pair.session.attempt.attempt_id, pair.session.attempts) == ("attempt-1", ["attempt-1"])
    output = Value(hash=sha256(b"1"), content=b"1")
    await pair.client.commit_transition([finishing(output)], [output])
    assert (pair.session.attempt, pair.session.progressed, pair.session.has_claim) == (None, True, True)
    await pair.client.say_exiting("completed")
    await pair.serving
    assert pair.session.said == Exiting(reason="completed")


async def test_a_value_beyond_the_limit_is_refused_before_anything_is_sent(pair: Pair) -> None:
    await pair.client.ready(SOURCES)
    await pair.client.commit_transition([START])
    large = Value(hash="0" * 64, content=b"x" * ((8 << 20) + 1))
    with pytest.raises(PayloadError, match="at most"):
        await pair.client.commit_transition([finishing(large)], [large])
    small = Value(hash=sha256(b"1"), content=b"1")
    assert (await pair.client.commit_transition([finishing(small)], [small])).outcome == "accepted"


async def test_a_value_that_is_not_its_hash_breaks_the_protocol(pair: Pair) -> None:
    await pair.client.ready(SOURCES)
    await pair.client.commit_transition([START])
    forged = Value(hash="0" * 64, content=b"1")
    asking = asyncio.create_task(pair.client.commit_transition([finishing(forged)], [forged]))
    with pytest.raises(FrameError, match="hash"):
        await pair.serving
    pair.session.close()
    with pytest.raises(HostGone):
        await asking


@pytest.mark.parametrize("line", [b"hello\n", b'{"message":"launch"}\n', b"x" * (MAX_FRAME_BYTES + 2) + b"\n"])
async def test_what_is_no_message_ends_the_session(tmp_path: Path, line: bytes) -> None:
    async with open_store(tmp_path / "s.sqlite", create=True) as store:
        ours, theirs = socket.socketpair()
        session = Session(await Channel.over(ours), await claimed(store), LAUNCH, lambda: None)
        serving = asyncio.create_task(session.serve())
        reader, writer = await asyncio.open_connection(sock=theirs)
        await reader.readline()
        writer.write(line)
        with pytest.raises(FrameError):
            await serving
        session.close()
        writer.close()


async def test_a_host_that_is_gone_is_an_error_and_not_a_silence(pair: Pair) -> None:
    await pair.client.ready(SOURCES)
    pair.serving.cancel()
    pair.session.close()
    with pytest.raises(HostGone):
        await pair.client.commit_transition([START])


async def test_changed_sources_reach_the_worker_as_a_refusal(pair: Pair) -> None:
    with pytest.raises(Refused) as refused:
        await pair.client.ready({"/project/flow.py": "b" * 64})
    assert refused.value.code == "source_changed"
    assert "/project/flow.py" in refused.value.message
