"""Proposes a run's transitions. A finished step is committed together with what comes next."""

from collections.abc import Sequence
from typing import Any

from lockgate.engine.ports import ExecutionStore
from lockgate.engine.values import Values
from lockgate.flow.transitions import AnyProposal, FinishAttempt
from lockgate.model.errors import Refused
from lockgate.model.records import Reply, Value


class Halt(BaseException):
    """The run goes on elsewhere or not at all; `reason` is what `run` returns.

    Not an Exception: what catches the failures of a node's code must let it through.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Broken(BaseException):
    """The store failed or refused what should have been right; `problem` is what `run` raises."""

    def __init__(self, problem: Exception) -> None:
        super().__init__(str(problem))
        self.problem = problem


class Journal:
    """One proposal at a time, in the order in which they are made."""

    def __init__(self, store: ExecutionStore, values: Values) -> None:
        self._store = store
        self._values = values
        self._held: FinishAttempt | None = None
        self._held_values: tuple[Value, ...] = ()

    def hold(self, finished: FinishAttempt, values: Sequence[Value] = ()) -> None:
        """Keeps a finished step until the next commit; nothing else is proposed before it."""
        self._held, self._held_values = finished, tuple(values)

    async def commit(self, *proposals: AnyProposal, values: Sequence[Value] = ()) -> tuple[dict[str, Any], ...]:
        """Commits the held step and the proposals at once; the results of the proposals.

        Where they are not accepted together, the held step is committed alone, so that work is never lost.
        Raises Halt when the run is paused, cancelled or no longer ours, Broken when the law says no.
        """
        held, self._held = self._held, None
        held_values, self._held_values = self._held_values, ()
        if held is None:
            return self._accepted(await self._propose(proposals, values))
        reply = await self._propose((held, *proposals), (*held_values, *values))
        if reply.outcome in ("paused", "refused") and proposals:
            self._accepted(await self._propose((held,), held_values))
        return self._accepted(reply)[1:]

    async def offer(self, finished: FinishAttempt, values: Sequence[Value], *, code: str) -> str | None:
        """Commits a step by itself; what the store says where it refuses the step with this code."""
        await self.flush()
        reply = await self._propose((finished,), values)
        if reply.outcome == "refused" and reply.code == code:
            return reply.message or code
        self._accepted(reply)
        return None

    async def flush(self) -> None:
        """Commits the held step, if there is one."""
        if self._held is not None:
            await self.commit()

    async def _propose(self, proposals: Sequence[AnyProposal], values: Sequence[Value]) -> Reply:
        sent = self._values.unsent(values)
        try:
            reply = await self._store.commit_transition(proposals, sent)
        except Exception as problem:
            raise Broken(problem) from problem
        if reply.outcome == "accepted":
            self._values.keep(sent)
        return reply

    @staticmethod
    def _accepted(reply: Reply) -> tuple[dict[str, Any], ...]:
        if reply.outcome == "accepted":
            return reply.results
        if reply.outcome == "refused":
            raise Broken(Refused(reply.code or "refused", reply.message or "the proposal was refused"))
        raise Halt(reply.outcome)
