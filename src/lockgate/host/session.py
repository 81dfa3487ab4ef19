"""The host's end of one worker's socket: each request is one commit of the store, made with the claim's token.

The session also keeps what the supervisor must know when the worker is gone: which attempt was running until
when, which effect was being applied, whether anything was committed, and what the worker said last.
"""

import asyncio
import time
from collections.abc import Callable

from msgspec.structs import replace

from lockgate.engine.ports import ExecutionStore
from lockgate.flow.transitions import (
    AnyProposal,
    Finish,
    FinishAttempt,
    ReserveEffect,
    SetTimeout,
    SettleEffect,
    StartAttempt,
    WaitForInput,
)
from lockgate.host.channel import Channel
from lockgate.host.protocol import (
    Answered,
    Assembly,
    Checkpoint,
    Content,
    Continue,
    Exiting,
    Failed,
    Launch,
    LoadFailed,
    Message,
    Part,
    Propose,
    ReadCheckpoint,
    ReadValue,
    Ready,
    SourcesDiffer,
    for_host,
    parts,
    verified,
)
from lockgate.model.errors import ClaimLost, LockgateError, Refused, StoreBusy, StoreError
from lockgate.model.records import Continuation, CurrentAttempt, HeadState, Record, Reply, Value
from lockgate.model.statuses import EffectStatus, Recovery

ENDINGS = (FinishAttempt, WaitForInput)
_BUSY_PAUSE_S = 0.2


class ActiveAttempt(Record, frozen=True, kw_only=True):
    """The attempt that the worker executes. `until` is the monotonic second at which its limit is over."""

    attempt_id: str
    node_id: str
    until: float | None
    effect_id: str | None = None
    recovery: Recovery | None = None


class Session:
    """Serves one worker until its stream ends; commits nothing more once it is fenced."""

    def __init__(self, channel: Channel, execution: ExecutionStore, launch: Launch, drain: Callable[[], None]) -> None:
        """`drain` takes what the worker printed so far, before the attempt that printed it is over."""
        self._channel = channel
        self._execution = execution
        self._launch = launch
        self._drain = drain
        self._assembly = Assembly()
        self._fenced = False
        self._committing = asyncio.Lock()
        self.is_ready = False
        self.attempt: ActiveAttempt | None = None
        self.attempts: list[str] = []
        self.progressed = False
        self.has_claim = True
        """Until the worker's own proposal ends the claim; others may have ended it before."""
        self.answered: str | None = None
        self.said: Exiting | SourcesDiffer | LoadFailed | None = None
        self.limited = asyncio.Event()
        """Set when the worker begins something that has a limit."""

    async def serve(self) -> None:
        """Until the worker closes its end. FrameError when it breaks the protocol."""
        await self._channel.send(self._launch)
        while self.said is None:
            line = await self._channel.receive()
            if line is None:
                return
            await self._handle(line)

    def close(self) -> None:
        self._channel.close()

    async def fence(self) -> None:
        """Nothing is committed for this worker afterwards; a commit that is under way is finished."""
        self._fenced = True
        async with self._committing:
            pass

    async def _handle(self, line: bytes) -> None:
        message = for_host(line)
        if isinstance(message, Part):
            self._assembly.add(message)
        elif isinstance(message, Exiting | SourcesDiffer | LoadFailed):
            self.said = message
        else:
            async with self._committing:
                answers = await self._answer_patiently(message)
            await self._channel.send(*answers)

    async def _answer_patiently(self, message: Ready | Propose | ReadValue | ReadCheckpoint) -> tuple[Message, ...]:
        """A locked store never costs a worker its work: nothing was written, so it is asked again."""
        while True:
            try:
                return await self._answer(message)
            except StoreBusy:
                await asyncio.sleep(_BUSY_PAUSE_S)

    async def _answer(self, message: Ready | Propose | ReadValue | ReadCheckpoint) -> tuple[Message, ...]:
        if self._fenced:
            return (Answered(reply=self._refusal("claim_lost", "stopped", "the host is stopping this worker")),)
        try:
            match message:
                case Ready():
                    return (await self._ready(message),)
                case Propose():
                    return (Answered(reply=await self._propose(message)),)
                case ReadValue():
                    return await self._content(message.hash)
                case ReadCheckpoint():
                    return (Checkpoint(state=await self._execution.read_checkpoint(message.request_id)),)
        except StoreError:
            raise
        except LockgateError as error:
            return (Failed(code=error.code, text=error.message),)

    async def _ready(self, message: Ready) -> Message:
        try:
            continuation = await self._execution.ready(message.sources)
        except ClaimLost as lost:
            self.answered = "claim_lost"
            return Answered(reply=self._refusal("claim_lost", lost.reason, lost.message))
        except Refused as refusal:
            if refusal.code == "paused":
                self.answered = refusal.code
            return Answered(reply=self._refusal("refused", refusal.code, refusal.message))
        self.is_ready = True
        self._continue(continuation)
        return Continue(continuation=continuation)

    async def _propose(self, message: Propose) -> Reply:
        if any(isinstance(proposal, ENDINGS) for proposal in message.proposals):
            self._drain()
        values = (*self._assembly.named(message.sent), *map(_checked, message.values))
        reply = await self._execution.commit_transition(message.proposals, values)
        if reply.outcome == "accepted":
            self.progressed = True
            for proposal, result in zip(message.proposals, reply.results, strict=True):
                self._follow(proposal, result)
        elif reply.outcome != "refused":
            self.answered = reply.outcome
        self._assembly.clear()
        return reply

    async def _content(self, name: str) -> tuple[Message, ...]:
        content = await self._execution.read_value(name)
        value = Value(hash=name, content=content)
        return (Content(hash=name, size=len(content)), *parts(value))

    def _continue(self, continuation: Continuation) -> None:
        current: CurrentAttempt | None = continuation.current
        if current is not None:
            left = None if current.timeout_ms is None else max(0, current.timeout_ms - current.active_ms)
            self._begin(current.attempt_id, current.node_id, left)

    def _follow(self, proposal: AnyProposal, result: dict[str, object]) -> None:
        """What an accepted proposal makes of the attempt that the worker executes."""
        match proposal:
            case StartAttempt():
                self._begin(proposal.attempt_id, proposal.node_id, proposal.timeout_ms)
            case FinishAttempt():
                self.attempt = None
            case WaitForInput() | Finish() | SettleEffect(status=EffectStatus.AMBIGUOUS):
                self.attempt = None
                self.has_claim = False
            case SetTimeout() if self.attempt is not None:
                self._work_on(replace(self.attempt, until=_limit(proposal.timeout_ms)))
            case ReserveEffect() if self.attempt is not None and result.get("answer") in ("execute", "verify"):
                effect_id = str(result["effect_id"])
                self.attempt = replace(self.attempt, effect_id=effect_id, recovery=proposal.recovery)
            case SettleEffect() if self.attempt is not None:
                self.attempt = replace(self.attempt, effect_id=None, recovery=None)
            case _:
                pass

    def _begin(self, attempt_id: str, node_id: str, timeout_ms: int | None) -> None:
        self._work_on(ActiveAttempt(attempt_id=attempt_id, node_id=node_id, until=_limit(timeout_ms)))
        self.attempts.append(attempt_id)

    def _work_on(self, attempt: ActiveAttempt) -> None:
        self.attempt = attempt
        if attempt.until is not None:
            self.limited.set()

    def _refusal(self, outcome: str, code: str, message: str) -> Reply:
        head = HeadState(revision=0, paused=code == "paused", cancelled=False)
        return Reply(outcome=outcome, head=head, code=code, message=message)


def _limit(timeout_ms: int | None) -> float | None:
    return None if timeout_ms is None else time.monotonic() + timeout_ms / 1000


def _checked(value: Value) -> Value:
    return verified(value.hash, value.content)
