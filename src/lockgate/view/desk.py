"""The intents of a person at a screen: each becomes a command of the store, and comes back as its receipt."""

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from lockgate.engine.person import human_here
from lockgate.model.errors import LockgateError, Refused
from lockgate.model.records import Actor, Human, Receipt
from lockgate.model.statuses import ActorKind
from lockgate.model.text import clean
from lockgate.store import commands, reads
from lockgate.store.shell import new_key
from lockgate.store.writer import Lane
from lockgate.view.snapshots import ShownRequest

if TYPE_CHECKING:
    from lockgate.view.door import Door

STARTED_S = 1.5


class Desk:
    """Acts for one person. StoreBusy and the other errors of a broken store are raised, refusals are receipts."""

    def __init__(self, door: "Door", human: Human | None = None) -> None:
        self._door = door
        self._human = human
        self._why = ""
        if human is None:
            try:
                self._human = human_here()
            except Refused as refused:
                self._why = str(refused.details.get("why") or refused.message)

    @property
    def why_no_answer(self) -> str:
        """Why no decision can be recorded from here; empty where it can."""
        if self._door.store.read_only:
            return "the store cannot be written: nothing can be decided here"
        return f"nothing can be decided here: {self._why}" if self._human is None else ""

    @property
    def actor(self) -> Actor:
        """Who asks for what is not a decision: the user of this process."""
        return Actor(kind=ActorKind.USER, id=self._human.id if self._human else login())

    async def answer(
        self, request: ShownRequest, choice: str, *, text: str | None = None, key: str | None = None
    ) -> Receipt:
        """Commits a person's answer to exactly the request that was shown. Raises Refused where nobody is here."""
        if self._human is None:
            raise Refused("no_terminal", self.why_no_answer)
        return await self._door.store.answer(
            request.request_id, choice, text=text, digest=request.digest, actor=self._human, key=key
        )

    async def submit(self, request_id: str, output: object, *, key: str | None = None) -> Receipt:
        """An ordinary answer. Raises PayloadError, or Refused `invalid_input` naming the field."""
        return await self._door.store.submit(request_id, output, actor=self.actor, key=key)

    async def pause(self, run_id: str, *, now: bool = False) -> Receipt:
        return await self._door.store.pause(run_id, actor=self.actor, now=now)

    async def resume(self, run_id: str) -> Receipt:
        return await self._door.store.resume(run_id, actor=self.actor)

    async def cancel(self, run_id: str) -> Receipt:
        return await self._door.store.cancel(run_id, actor=self.actor)

    async def restart(self, run_id: str, *, expected_revision: int) -> Receipt:
        """Restarts from the files as they are now. Raises DefinitionError where they cannot be loaded, and
        Refused `invalid_input` where they do not take the input any more."""
        from lockgate.engine.checking import check
        from lockgate.flow.definition import Given

        row = (await self._door.store.run(run_id)).row
        content = await self._door.store.read(lambda connection: reads.value(connection, row.input_hash))
        given = Given(content=content, is_titled=True)
        found = await asyncio.to_thread(check, row.workflow_ref, caller=Path(row.project_dir), given=given)
        definition = found.definition
        key, actor = new_key(), self.actor
        return await self._door.store.transact(
            lambda tx: commands.restart(
                tx,
                run_id,
                definition,
                expected_revision=expected_revision,
                started_by=actor.id,
                started_by_uid=os.getuid(),
                actor=actor,
                key=key,
            ),
            Lane.PERSON,
        )

    async def resolve_effect(self, effect_id: str, *, happened: bool, output: bytes | None = None) -> Receipt:
        """A person's word about an ambiguous effect. Raises Refused where nobody is here."""
        if self._human is None:
            raise Refused("no_terminal", self.why_no_answer)
        return await self._door.store.resolve_effect(effect_id, happened=happened, output=output, actor=self._human)

    async def start_host(self) -> str:
        """Starts a host that outlives this process, and says in one sentence what became of it."""
        if self._door.store.read_only:
            return "read-only: no host can be started here"
        path = self._door.path
        log = path.with_name(f"{path.name}.host.log")
        try:
            ended = await asyncio.wait_for(_spawned(path, log), STARTED_S)
        except TimeoutError:
            return await self._host_words()
        except OSError as error:
            return f"no host started: {error.strerror or error}"
        return f"no host started: {_last_line(log) or f'it ended with {ended}'}"

    async def _host_words(self) -> str:
        try:
            host = await self._door.store.read(reads.host_state)
        except LockgateError:
            return "a host was started"
        return f"host pid {host.pid} is here now" if host.pid else "a host was started"


async def _spawned(path: Path, log: Path) -> int:
    """Starts the host and waits for its end, which is not expected: its exit code.

    A thread collects the child whenever it ends, so that a dead host never looks alive; cancelling the wait
    leaves the host running.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()
    process = _launched(path, log)

    def tell(code: int) -> None:
        if not ended.done():
            ended.set_result(code)

    def collect() -> None:
        code = process.wait()
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, code)

    threading.Thread(target=collect, name="host collector", daemon=True).start()
    return await ended


def _launched(path: Path, log: Path) -> "subprocess.Popen[bytes]":
    """The host in a session of its own, so that leaving this terminal does not end it."""
    # The log is the host's alone; a handle of ours on the store's own file would drop SQLite's locks.
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "lockgate", "host", "--db", str(path)],
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            start_new_session=True,
        )
    finally:
        os.close(descriptor)


def _last_line(log: Path) -> str:
    try:
        lines = log.read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return clean(lines[-1]) if lines else ""


def login() -> str:
    """The login name of this process's user."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
