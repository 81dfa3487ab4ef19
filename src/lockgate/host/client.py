"""The worker's ExecutionStore: every call is one request over the socket, answered by the host's commit."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from lockgate.flow.transitions import AnyProposal
from lockgate.host.channel import Channel
from lockgate.host.protocol import (
    Answered,
    Checkpoint,
    Content,
    Continue,
    Exiting,
    Failed,
    FrameError,
    Launch,
    LoadFailed,
    Message,
    Part,
    Propose,
    ReadCheckpoint,
    ReadValue,
    Ready,
    SourcesDiffer,
    ToWorker,
    bounded,
    divide,
    for_worker,
    parts,
    verified,
)
from lockgate.model.errors import ClaimLost, NotFound, Refused
from lockgate.model.records import CheckpointState, Continuation, Reply, Value

_M = TypeVar("_M", bound=Message)
_T = TypeVar("_T")


class HostGone(ConnectionError):
    """The socket ended: whether the last proposal was committed is not known, and nothing more can be."""


class HostClient:
    """One request in flight: a second caller waits for the first one's answer."""

    def __init__(self, channel: Channel, launch: Launch) -> None:
        self._channel = channel
        self._launch = launch
        self._turn = asyncio.Lock()

    @classmethod
    async def greet(cls, channel: Channel) -> "tuple[HostClient, Launch]":
        """Reads the launch, which the host says first."""
        first = await _next(channel)
        if not isinstance(first, Launch):
            raise FrameError(f"the host began with {type(first).__name__}")
        return cls(channel, first), first

    async def ready(self, sources: Mapping[str, str]) -> Continuation:
        """Raises ClaimLost; Refused `paused` when the run was paused before this worker was ready."""
        answer = await self._ask(Ready(sources=dict(sources)))
        if isinstance(answer, Answered):
            self._stop(answer.reply)
        return _expected(answer, Continue).continuation

    async def commit_transition(self, proposals: Sequence[AnyProposal], values: Sequence[Value] = ()) -> Reply:
        """Raises PayloadError before anything is sent when a value is too large."""
        inline, apart = divide([bounded(value) for value in values])
        message = Propose(proposals=tuple(proposals), values=inline, sent=tuple(value.hash for value in apart))
        answer = await self._ask(*(part for value in apart for part in parts(value)), message)
        return _expected(answer, Answered).reply

    async def read_value(self, hash: str) -> bytes:
        return await self._whole(self._read(hash))

    async def _read(self, hash: str) -> bytes:
        async with self._turn:
            await self._send(ReadValue(hash=hash))
            content = _expected(await _next(self._channel), Content)
            collected = bytearray()
            while len(collected) < content.size:
                part = _expected(await _next(self._channel), Part)
                if part.offset != len(collected):
                    raise FrameError(f"part at {part.offset} of {hash[:12]}, expected {len(collected)}")
                collected += part.content
        return verified(hash, bytes(collected)).content

    async def read_checkpoint(self, request_id: str) -> CheckpointState:
        return _expected(await self._ask(ReadCheckpoint(request_id=request_id)), Checkpoint).state

    async def say_exiting(self, reason: str) -> None:
        await self._send(Exiting(reason=reason))

    async def say_sources_differ(self, files: Sequence[str], *, graph_changed: bool) -> None:
        await self._send(SourcesDiffer(files=tuple(files), graph_changed=graph_changed))

    async def say_load_failed(self, text: str) -> None:
        await self._send(LoadFailed(text=text))

    async def _ask(self, *messages: Message) -> ToWorker:
        return await self._whole(self._exchange(messages))

    async def _exchange(self, messages: Sequence[Message]) -> ToWorker:
        async with self._turn:
            await self._send(*messages)
            return await _next(self._channel)

    async def _whole(self, exchange: Coroutine[Any, Any, _T]) -> _T:
        """A caller that is cancelled must not leave its answer on the socket for the next request to take."""
        return await asyncio.shield(exchange)

    async def _send(self, *messages: Message) -> None:
        try:
            await self._channel.send(*messages)
        except ConnectionError as error:
            raise HostGone("the host is gone") from error

    def _stop(self, reply: Reply) -> NoReturn:
        if reply.outcome == "claim_lost":
            raise ClaimLost(self._launch.run_id, reply.code or "no_claim")
        raise Refused(reply.code or reply.outcome, reply.message or reply.outcome)


async def _next(channel: Channel) -> ToWorker:
    line = await channel.receive()
    if line is None:
        raise HostGone("the host is gone")
    return for_worker(line)


def _expected(answer: ToWorker, kind: type[_M]) -> _M:
    if isinstance(answer, Failed):
        if answer.code == NotFound.code:
            raise NotFound("value or request", answer.text)
        raise Refused(answer.code, answer.text)
    if not isinstance(answer, kind):
        raise FrameError(f"the host answered {type(answer).__name__}, expected {kind.__name__}")
    return answer
