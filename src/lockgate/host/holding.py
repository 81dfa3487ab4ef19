"""A claim that this process holds for itself: executed, renewed, and given back whatever happens."""

import asyncio
import os
from collections.abc import Coroutine
from functools import cached_property
from pathlib import Path
from typing import Any

from lockgate.engine.checking import described
from lockgate.engine.runner import run as run_engine
from lockgate.flow.authoring.workflow import Workflow
from lockgate.flow.definition import Definition
from lockgate.host.output import FLUSH_S, OutputDesk
from lockgate.host.processes import ATTEMPT_MARK, this_process
from lockgate.host.verdict import UNVERIFIED
from lockgate.model.errors import ClaimLost, Refused
from lockgate.model.records import ClaimToken
from lockgate.store import claims, hosts, outputs
from lockgate.store.execution import StoreExecution
from lockgate.store.openfile import Transaction
from lockgate.store.shell import Store
from lockgate.store.writer import Lane

HEARTBEAT_S = 10.0
LOOK_S = 1.0
"""How soon a process notices that its claim was ended, by cancel for example; its next proposal tells it anyway."""


class Holder:
    """Executes one workflow's runs under this process's claims."""

    def __init__(self, workflow: Workflow, store: Store) -> None:
        self.workflow = workflow
        self.store = store
        me = this_process()
        self.owner = hosts.process_owner(me.pid, me.start)

    @cached_property
    def definition(self) -> Definition:
        return described(self.workflow).definition

    async def hold(self, claim: ClaimToken) -> None:
        """Executes until the run ends, waits, or is no longer ours; the claim has ended then, in every path."""
        execution = StoreExecution(self.store, claim)
        reason: str | None = None
        try:
            reason = await self._execute(execution)
        finally:
            # A caller that cancels still has its run given back: this is short, and always ends.
            await asyncio.shield(self._give_back(claim, reason, execution.progressed))

    async def _execute(self, execution: StoreExecution) -> str:
        environment = {key: text for key, text in os.environ.items() if not key.startswith("LOCKGATE_")}
        desk, loop = OutputDesk(), asyncio.get_running_loop()
        run_id = execution.claim.run_id

        def sink(stream: str, piece: bytes) -> None:
            loop.call_soon_threadsafe(desk.add, run_id, environment[ATTEMPT_MARK], stream, piece)

        work = run_engine(
            self.workflow,
            execution,
            sources=self.definition.sources,
            environment=environment,
            project_dir=Path(self.definition.project_dir),
            sink=sink,
            own_groups=True,
        )
        try:
            return await self._guarded(work, execution.claim, desk)
        finally:
            await self._write_output(desk)

    async def _guarded(self, work: Coroutine[Any, Any, str], claim: ClaimToken, desk: OutputDesk) -> str:
        """The work with its heartbeat, for as long as the claim stands."""
        engine = asyncio.ensure_future(work)
        keeping = [asyncio.ensure_future(chore) for chore in (self._keep(claim), self._flush(desk))]
        try:
            await asyncio.wait({engine, *keeping}, return_when=asyncio.FIRST_COMPLETED)
            for chore in keeping:
                if chore.done():
                    chore.result()
            return await engine if engine.done() else "claim_lost"
        finally:
            for task in (engine, *keeping):
                task.cancel()
            await asyncio.gather(engine, *keeping, return_exceptions=True)

    async def _keep(self, claim: ClaimToken) -> None:
        """Renews the lease; returns when the claim is no longer held."""
        looks = round(HEARTBEAT_S / LOOK_S)
        while True:
            for _ in range(looks):
                await asyncio.sleep(LOOK_S)
                held = await self.store.read(hosts.held_claims)
                if not any((one.run_id, one.generation) == (claim.run_id, claim.generation) for one in held):
                    return
            await self.store.transact(lambda tx: hosts.renew_process(tx, self.owner.id), Lane.CONTROL)

    async def _flush(self, desk: OutputDesk) -> None:
        while True:
            await desk.filled.wait()
            await asyncio.sleep(FLUSH_S)
            await self._write_output(desk)

    async def _write_output(self, desk: OutputDesk) -> None:
        # What the threads of commands handed over last is still on its way through the loop.
        await asyncio.sleep(0)
        if not desk.is_empty:
            written = [
                outputs.Written(run_id=one.run_id, attempt_id=one.attempt_id, stream=one.stream, content=one.content)
                for one in desk.take()
            ]
            await self.store.transact(lambda tx: outputs.append(tx, written), Lane.TELEMETRY)

    async def _give_back(self, claim: ClaimToken, reason: str | None, progressed: bool) -> None:
        def give_back(tx: Transaction) -> None:
            try:
                if reason is not None and reason != UNVERIFIED:
                    claims.release(tx, claim)
                    return
            except ClaimLost:
                return
            except Refused:
                pass
            # A loss is dated to the last heartbeat, and this process knows that it worked until now.
            hosts.renew_process(tx, self.owner.id)
            claims.lose(
                tx,
                claim.run_id,
                claim.generation,
                cause="stopped" if reason is None else "timeout",
                counted=reason == UNVERIFIED,
                progressed=progressed,
                actor=self.owner.actor,
            )

        await self.store.transact(give_back, Lane.CONTROL)
