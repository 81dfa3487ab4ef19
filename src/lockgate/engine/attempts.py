"""Brings one attempt from its start to its end, whatever the node's code does."""

import secrets
import time
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from lockgate.engine import limits, perform
from lockgate.engine.calls import Caller
from lockgate.engine.context import Context, State
from lockgate.engine.failures import Failure, failure, failure_of
from lockgate.engine.history import History
from lockgate.engine.journal import Halt, Journal
from lockgate.engine.kinds import asking
from lockgate.engine.kinds.effectful import settle
from lockgate.engine.perform import Opening
from lockgate.engine.routes import switch_value
from lockgate.engine.updates import Commit, Updates
from lockgate.engine.values import Values
from lockgate.engine.visit import Done, Surroundings, Visit, Waits, flush_streams
from lockgate.flow.authoring.nodes import AgentNode
from lockgate.flow.authoring.workflow import Workflow
from lockgate.flow.mounts import local_id, mount_of
from lockgate.flow.transitions import FinishAttempt, PublishUpdate, RetryRoute, SetTimeout, StartAttempt
from lockgate.model import ids
from lockgate.model.records import CurrentAttempt, StepRef, Value
from lockgate.model.statuses import EffectStatus, Outcome, Recovery

MAX_ROUTE_RETRIES = 16
"""How often a settings route decides again before its attempt fails."""


class Attempts:
    """Makes the attempts of one run, one after the other."""

    def __init__(
        self,
        workflow: Workflow,
        history: History,
        journal: Journal,
        values: Values,
        caller: Caller,
        around: Surroundings,
    ) -> None:
        self._workflow = workflow
        self._history = history
        self._journal = journal
        self._values = values
        self._caller = caller
        self._around = around

    async def attempt(self, node_id: str) -> bool:
        """Starts the node and does its work. True when its code was left behind at its limit.

        The finished step is held by the journal. Raises Halt when the attempt waits or the run is not ours.
        """
        node, attempt_id = self._workflow.nodes[node_id], ids.attempt_id(_ordered_hex())
        spec = self._workflow.graph.node(node_id)
        now = Opening() if spec.timeout_computed else perform.opening(node, attempt_id)
        start = StartAttempt(attempt_id=attempt_id, node_id=node_id, timeout_ms=spec.timeout_ms)
        started, *opened = await self._journal.commit(start, *now.proposals, values=now.values)
        if now.waits:
            raise Halt("waiting")
        visit = self._visit(node_id, attempt_id, started["ordinal"], started["attempt_number"], started["visit"])
        await self._bind(visit, started["settings_hash"])
        work = self._computed(visit) if spec.timeout_computed else self._work(visit, spec.timeout_ms, opened)
        return await self._end(visit, work)

    async def resume(self, current: CurrentAttempt) -> bool:
        """Finishes the attempt that an accepted answer woke; as `attempt`."""
        await self._values.fetch([current.output_hash])
        output = Value(hash=current.output_hash, content=self._values.content(current.output_hash))
        visit = self._visit(current.node_id, current.attempt_id, current.ordinal, current.attempt_number, current.visit)
        await self._bind(visit, current.settings_hash)
        left = None if current.timeout_ms is None else current.timeout_ms - current.active_ms
        return await self._end(visit, limits.within(left, visit, asking.answered(visit.node, visit, output)))

    async def _bind(self, visit: Visit, settings_hash: str | None) -> None:
        """Lets the node's functions see the settings that its attempt is bound to."""
        if settings_hash is not None:
            await self._values.fetch([settings_hash])
            visit.context.settings = self._values.decoded(settings_hash)

    async def _work(self, visit: Visit, limit: int | None, opened: Sequence[Mapping[str, Any]]) -> Done | Waits:
        visit.limit_ms = limit
        return await limits.within(limit, visit, perform.perform(visit, opened[0] if opened else {}))

    async def _computed(self, visit: Visit) -> Done | Waits:
        """The work of a node whose limit is computed once its attempt runs."""
        limit = await limits.resolve(visit.node.timeout, visit)
        later = perform.opening(visit.node, visit.attempt_id)
        timeout = SetTimeout(attempt_id=visit.attempt_id, timeout_ms=limit)
        _, *opened = await self._journal.commit(timeout, *later.proposals, values=later.values)
        return Waits() if later.waits else await self._work(visit, limit, opened)

    async def _end(self, visit: Visit, work: Coroutine[Any, Any, Done | Waits]) -> bool:
        try:
            done = await work
        except limits.LimitReached as over:
            await self._give_up(visit)
            await self._hold(visit, Outcome.TIMED_OUT, problem=failure("TimedOut", str(over)))
            return over.left_behind
        except Exception as problem:
            await self._hold(visit, Outcome.FAILED, problem=failure_of(problem))
            return False
        finally:
            await visit.updates.stop()
        if isinstance(done, Waits):
            raise Halt("waiting")
        graph = self._workflow.graph
        if graph.is_settings_route(visit.node_id):
            return await self._route(visit, done)
        if graph.is_held(visit.node_id):
            return await self._offer(visit, done)
        await self._hold(visit, Outcome.OK, done=done)
        return False

    async def _offer(self, visit: Visit, done: Done) -> bool:
        """Commits what an agent or a passage gives by itself: the store says whether it meets its schema."""
        await visit.updates.flush()
        finished, values, step = self._finished(visit, Outcome.OK, done, None)
        unfit = await self._journal.offer(finished, values, code="unfit_value")
        if unfit is None:
            self._history.add(step)
        else:
            kind = "AgentOutput" if isinstance(visit.node, AgentNode) else "RouteError"
            await self._hold(visit, Outcome.FAILED, problem=failure(kind, unfit))
        return False

    async def _route(self, visit: Visit, done: Done) -> bool:
        """Commits a settings route by itself; where the settings changed under it, the same attempt decides again."""
        await visit.updates.flush()
        finished, values, step = self._finished(visit, Outcome.OK, done, None)
        if await self._journal.offer(finished, values, code="settings_changed") is None:
            self._history.add(step)
            return False
        if visit.retries >= MAX_ROUTE_RETRIES:
            over = failure("RouteError", f"the settings changed {visit.retries + 1} times while the route was decided")
            await self._hold(visit, Outcome.FAILED, problem=over)
            return False
        (rebound,) = await self._journal.commit(RetryRoute(attempt_id=visit.attempt_id))
        state = visit.context.state
        again = self._visit(visit.node_id, visit.attempt_id, visit.ordinal, state.attempt_number, visit.number)
        again.retries = visit.retries + 1
        await self._bind(again, rebound["settings_hash"])
        return await self._end(again, self._work(again, visit.limit_ms, ()))

    async def _give_up(self, visit: Visit) -> None:
        """Says what a limit makes of an effect that was being applied: only a repeatable one is known."""
        if visit.applying is None:
            return
        await visit.updates.flush()
        if visit.applying.recovery == Recovery.IDEMPOTENT:
            await settle(visit, EffectStatus.REJECTED)
        elif visit.applying.recovery == Recovery.VERIFIED and not visit.verifying:
            # The attempt stays as it is: the next worker asks `verify`.
            raise Halt("unverified")
        else:
            await settle(visit, EffectStatus.AMBIGUOUS)
            raise Halt("blocked")

    async def _hold(
        self, visit: Visit, outcome: Outcome, *, done: Done | None = None, problem: Failure | None = None
    ) -> None:
        """Hands the finished step to the journal, after everything that belongs before it."""
        await visit.updates.flush()
        finished, values, step = self._finished(visit, outcome, done, problem)
        self._journal.hold(finished, values)
        self._history.add(step)

    def _finished(
        self, visit: Visit, outcome: Outcome, done: Done | None, problem: Failure | None
    ) -> tuple[FinishAttempt, list[Value], StepRef]:
        flush_streams()
        output = done.value.hash if done is not None else None
        error = problem.value.hash if problem is not None else None
        values = [part.value for part in (done, problem) if part is not None]
        settings = done.settings if done is not None else None
        if settings is not None:
            values.append(settings)
        for value in values:
            self._values.add(value)
        switch = self._switch(visit.node_id, outcome, output, error)
        summary = problem.summary if problem is not None else None
        finished = FinishAttempt(
            attempt_id=visit.attempt_id,
            outcome=outcome,
            output_hash=output,
            error_hash=error,
            error_summary=summary,
            prompt_hash=done.prompt_hash if done is not None else None,
            switch_value=switch,
            settings_hash=settings.hash if settings is not None else None,
        )
        step = StepRef(
            node_id=visit.node_id,
            outcome=outcome,
            output_hash=output,
            error_hash=error,
            error_summary=summary,
            switch_value=switch,
            visit=visit.number,
            ordinal=visit.ordinal,
            step_index=self._history.steps,
        )
        return finished, values, step

    def _switch(self, node_id: str, outcome: Outcome, output: str | None, error: str | None) -> str | None:
        graph = self._workflow.graph
        if graph.switch_on(node_id) is None:
            return None
        decoded = [self._values.decoded(name) if name is not None else None for name in (output, error)]
        return switch_value(graph, node_id, outcome, *decoded)

    def _visit(self, node_id: str, attempt_id: str, ordinal: int, number: int, visit: int) -> Visit:
        mount = mount_of(node_id)
        state = State(
            run_id=self._history.run_id,
            workflow=self._history.workflow(mount),
            node=local_id(node_id),
            attempt_id=attempt_id,
            attempt_number=number,
            visit=self._history.visit_in(node_id, visit),
            steps=self._history.steps_in(mount),
        )
        self._around.environment.update(
            LOCKGATE_RUN_ID=state.run_id, LOCKGATE_NODE=node_id, LOCKGATE_ATTEMPT=attempt_id
        )
        updates = Updates(self._publisher(attempt_id))
        context = Context(
            state=state,
            input=lambda: self._history.input(mount),
            outputs=lambda: self._history.outputs(mount),
            results=lambda: self._history.results(mount),
            publish=updates.publish,
        )
        made = Visit(
            node_id=node_id,
            node=self._workflow.nodes[node_id],
            attempt_id=attempt_id,
            ordinal=ordinal,
            number=visit,
            journal=self._journal,
            values=self._values,
            caller=self._caller,
            context=context,
            updates=updates,
            around=self._around,
        )
        updates.on_failure = made.stop
        return made

    def _publisher(self, attempt_id: str) -> Commit:
        async def publish(type: str, key: str, data: Value) -> None:
            proposal = PublishUpdate(
                attempt_id=attempt_id,
                update_id=ids.update_id(_ordered_hex()),
                update_type=type,
                update_key=key,
                data_hash=data.hash,
            )
            await self._journal.commit(proposal, values=(data,))

        return publish


def _ordered_hex() -> str:
    """32 hex digits that begin with the time: new rows then lie side by side, and a commit writes fewer pages."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"
