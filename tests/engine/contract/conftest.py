"""The two stores that an engine may be given, each over the same real file."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from lockgate.engine.checking import described
from lockgate.engine.ports import ExecutionStore
from lockgate.flow.authoring.workflow import Workflow
from lockgate.flow.definition import Definition
from lockgate.host.channel import Channel
from lockgate.host.client import HostClient
from lockgate.host.protocol import Launch
from lockgate.host.session import Session
from lockgate.model.encoding import checked
from lockgate.model.records import Actor, ClaimToken
from lockgate.model.statuses import ActorKind, OwnerKind
from lockgate.store import claims, commands
from lockgate.store.execution import StoreExecution
from lockgate.store.openfile import Transaction
from lockgate.store.shell import Store, open_store

USER = Actor(kind=ActorKind.USER, id="tester")


class Claims:
    """Starts a run and hands out its claims, each as an engine would get it."""

    def __init__(self, store: Store, kind: str, directory: Path) -> None:
        self.store = store
        self.run_id = ""
        self._kind = kind
        self._directory = directory
        self._tasks: list[asyncio.Task[None]] = []
        self._channels: list[Channel] = []
        self.claim: ClaimToken | None = None

    async def start(self, workflow: Workflow, input: Any = None) -> None:
        about = described(workflow, caller=self._directory)
        definition = Definition(
            workflow=about.name,
            workflow_ref=about.reference,
            project_dir=str(self._directory),
            document=about.document,
            sources={"flow.py": "0" * 64},
        )
        new = commands.NewRun(
            definition=definition, input=checked(input), title=None, started_by="tester", started_by_uid=os.getuid()
        )
        receipt = await self.store.transact(lambda tx: commands.start(tx, new, actor=USER, key="start"))
        self.run_id = receipt.run_id or ""

    async def take(self) -> ExecutionStore:
        owner = claims.Owner(kind=OwnerKind.PROCESS, id="contract")
        claimed = await self.store.transact(lambda tx: claims.claim(tx, self.run_id, owner))
        self.claim = claimed.claim
        execution = StoreExecution(self.store, claimed.claim)
        return execution if self._kind == "in process" else await self._over_the_socket(execution)

    async def _over_the_socket(self, execution: StoreExecution) -> HostClient:
        ours, theirs = socket.socketpair()
        launch = Launch(
            run_id=self.run_id,
            generation=execution.claim.generation,
            file="flow.py",
            name="flow",
            project_dir=str(self._directory),
            definition_digest="",
            sources={},
            environment=b"",
        )
        host_end, worker_end = await Channel.over(ours), await Channel.over(theirs)
        session = Session(host_end, execution, launch, lambda: None)
        self._tasks.append(asyncio.ensure_future(session.serve()))
        self._channels += [worker_end, host_end]
        client, _ = await HostClient.greet(worker_end)
        return client

    async def command(self, fn: Callable[[Transaction], Any]) -> None:
        await self.store.transact(fn)

    async def close(self) -> None:
        for channel in self._channels:
            channel.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@pytest.fixture(params=["in process", "over the socket"])
async def run(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Claims]:
    async with open_store(tmp_path / "store" / "state.sqlite", create=True) as store:
        made = Claims(store, request.param, tmp_path)
        yield made
        await made.close()
