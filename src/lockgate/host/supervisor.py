"""One launch of one run: the process is started, served, watched, stopped where it must be, and accounted for.

Whatever happens to the worker, the launch ends with its whole process group dead and with one command that
gives the run back: released, lost, or blocked. If the claim has ended by then (the run waits, is over, or was
cancelled), that command finds no claim and changes nothing.
"""

import asyncio
import signal
import time
import traceback
from asyncio import FIRST_COMPLETED
from collections.abc import Callable
from functools import partial

from lockgate.host.channel import Channel
from lockgate.host.exits import until_exit
from lockgate.host.launches import Claimed
from lockgate.host.ledger import Ledger
from lockgate.host.output import OutputDesk
from lockgate.host.overtime import commit_timeout
from lockgate.host.pipes import Capture
from lockgate.host.processes import kill_descendants, signal_group
from lockgate.host.protocol import FrameError
from lockgate.host.session import Session
from lockgate.host.spawning import Spawned
from lockgate.host.verdict import HOST_STOPPED, LOAD_LIMIT_S, SILENT, Ending, ending_of
from lockgate.model.errors import StoreDamaged, StoreError

OVERTIME_S = 5.0
"""How long past an attempt's limit the engine may take to commit the timeout itself."""

TERM_GRACE_S = 2.0
EXIT_GRACE_S = 1.0
"""How long a worker may take to be gone after its last word."""

_LAST_WORDS_S = 1.0
_KILL_S = 5.0


class Supervisor:
    """Supervises one claimed run from launch to end; `run` returns when nothing of the launch is left."""

    def __init__(
        self,
        claimed: Claimed,
        spawned: Spawned | OSError,
        ledger: Ledger,
        output: OutputDesk,
        *,
        leaves: Callable[[], None],
        has_orphans: Callable[[], bool],
    ) -> None:
        """`leaves` is told that the worker has only to exit, if it has not done so.

        `has_orphans` says whether a dead worker may have left anything: looking for that costs more than the rest.
        """
        self.claimed = claimed
        self._spawned = spawned
        self._ledger = ledger
        self._execution = ledger.execution(claimed)
        self._output = output
        self._leaves = leaves
        self._has_orphans = has_orphans
        self._stopped: str | None = None
        self._late: str | None = None
        self._stop = asyncio.Event()
        self._session: Session | None = None
        self.pid = spawned.pid if isinstance(spawned, Spawned) else None

    @property
    def run_id(self) -> str:
        return self.claimed.run_id

    @property
    def has_claim(self) -> bool:
        """Whether the worker has not itself ended its claim: one that only waits to exit need not be stopped."""
        return self._session is None or self._session.has_claim

    def stop(self, cause: str) -> None:
        """Ends the group: fenced, TERM, two seconds, KILL. The first cause stands."""
        if self._stopped is None:
            self._stopped = cause
        self._stop.set()

    async def run(self) -> None:
        """Raises StoreError only where the store itself is of no use any more."""
        if isinstance(self._spawned, Spawned):
            ending = await self._launch(self._spawned)
        else:
            ending = Ending(load_error=f"no process could be started: {self._spawned.strerror}")
        await self._ledger.give_back(self.claimed, ending)

    async def _launch(self, spawned: Spawned) -> Ending:
        try:
            channel = await Channel.over(spawned.socket)
            capture = Capture(self.run_id, spawned.stdout, spawned.stderr, self._output, self._attempt_id)
            session = self._session = Session(channel, self._execution, self.claimed.launch, capture.drain)
            return await self._supervise(spawned, session, capture)
        except BaseException:
            # When the host itself fails: nothing of a worker outlives its supervisor.
            signal_group(spawned.pid, signal.SIGKILL)
            self._kill_descendants(spawned.pid)
            await spawned.reap()
            raise

    def _kill_descendants(self, pid: int) -> None:
        """What left the group."""
        kill_descendants(pid, self._session.attempts if self._session is not None else ())

    def _attempt_id(self) -> str | None:
        attempt = self._session.attempt if self._session is not None else None
        return attempt.attempt_id if attempt is not None else None

    async def _supervise(self, spawned: Spawned, session: Session, capture: Capture) -> Ending:
        serving = asyncio.create_task(session.serve())
        exited = asyncio.create_task(until_exit(spawned.pid))
        try:
            breach = await self._watch(session, serving, exited)
            self._leaves()
            await self._end(spawned.pid, session, serving, exited)
            timed_out = await self._settle_overtime(session)
        finally:
            for task in (serving, exited):
                task.cancel()
            await asyncio.gather(serving, exited, return_exceptions=True)
            session.close()
            capture.drain()
            capture.close()
        return ending_of(
            session,
            status=await spawned.reap(),
            stopped=self._stopped,
            timed_out=timed_out,
            breach=breach,
            stderr_tail=capture.tail.text,
        )

    async def _watch(self, session: Session, serving: "asyncio.Task[None]", exited: "asyncio.Task[None]") -> str | None:
        """Until the worker ends, says its last word, breaks the protocol, is late, or is to be stopped.

        The breach of the protocol, if that was it.
        """
        begun = time.monotonic()
        stop = asyncio.create_task(self._stop.wait())
        try:
            while not (stop.done() or exited.done()):
                if serving.done():
                    return _breach(serving)
                session.limited.clear()
                limit = _limit(session, begun)
                left = None if limit is None else limit - time.monotonic()
                if left is not None and left <= 0:
                    self._late = self._attempt_id()
                    self.stop("timeout" if session.is_ready else SILENT)
                    return None
                limited = asyncio.create_task(session.limited.wait())
                await asyncio.wait({serving, exited, stop, limited}, timeout=left, return_when=FIRST_COMPLETED)
                limited.cancel()
            return None
        finally:
            stop.cancel()

    async def _end(
        self, pid: int, session: Session, serving: "asyncio.Task[None]", exited: "asyncio.Task[None]"
    ) -> None:
        """The group is dead afterwards, and nothing more is committed for it."""
        if self._stopped is not None:
            await session.fence()
            signal_group(pid, signal.SIGTERM)
            await asyncio.wait({exited}, timeout=TERM_GRACE_S)
        elif not exited.done():
            await asyncio.wait({exited}, timeout=EXIT_GRACE_S)
        if exited.done() and not serving.done():
            # What it proposed before it died is still in the socket.
            await asyncio.wait({serving}, timeout=_LAST_WORDS_S)
        await session.fence()
        signal_group(pid, signal.SIGKILL)
        await asyncio.wait({exited}, timeout=_KILL_S)
        if not exited.done() or self._has_orphans():
            self._kill_descendants(pid)

    async def _settle_overtime(self, session: Session) -> bool:
        if self._stopped != "timeout":
            return False
        if session.attempt is None or session.attempt.attempt_id != self._late:
            # A commit that was under way has moved it on: it was not late, and is stopped for nothing.
            self._stopped = HOST_STOPPED
            return False
        commit = partial(self._ledger.propose, self._execution)
        try:
            return await commit_timeout(commit, session.attempt, self.claimed.launch.definition_digest)
        except StoreDamaged as problem:
            self._ledger.tell(self.run_id, problem.message)
            return False


def _limit(session: Session, begun: float) -> float | None:
    """The monotonic second at which the worker must have moved, None where it may take for ever."""
    if not session.is_ready:
        return begun + LOAD_LIMIT_S
    if session.attempt is None or session.attempt.until is None:
        return None
    return session.attempt.until + OVERTIME_S


def _breach(serving: "asyncio.Task[None]") -> str | None:
    """Why serving ended too early. One run that cannot be served must not end the host; a broken store must.

    Damage is of this run, as far as anybody can tell here: what else asks the store will find out.
    """
    error = serving.exception()
    if error is None or isinstance(error, ConnectionError):
        return None
    if isinstance(error, StoreDamaged):
        return error.message
    if isinstance(error, StoreError) or not isinstance(error, Exception):
        raise error
    return str(error) if isinstance(error, FrameError) else "".join(traceback.format_exception(error))
