"""What a host asks of its store: each call is one transaction or one read, and waits out a busy store."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import aclosing, suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from lockgate.engine.ports import ExecutionStore
from lockgate.flow.transitions import AnyProposal
from lockgate.host import launches, recovery
from lockgate.host.launches import Claimed
from lockgate.host.output import Printed
from lockgate.host.processes import ProcessIdentity, this_process
from lockgate.host.verdict import Ending
from lockgate.model.errors import Refused, StoreBusy
from lockgate.model.records import Receipt, Record, Reply, Value
from lockgate.model.statuses import OwnerKind
from lockgate.store import claims, commands, heads, hosts, outputs
from lockgate.store.execution import StoreExecution
from lockgate.store.openfile import Transaction
from lockgate.store.shell import HOST_PAUSE, Store
from lockgate.store.writer import Lane

if TYPE_CHECKING:
    import sqlite3

log = logging.getLogger("lockgate.host")

_BUSY_PAUSE_S = 0.5
_T = TypeVar("_T")


class Outlook(Record, frozen=True, kw_only=True):
    """What happens by itself, in ms from now, 0 or less where it is due; None where nothing of the kind is to come.

    `deadline_in_ms` is a decision's default, `available_in_ms` a queued run. `is_abandoned`: a process that
    executed by itself is gone; `is_shared`: there is such a process, and nothing wakes anybody for its death.
    """

    deadline_in_ms: int | None
    available_in_ms: int | None
    is_abandoned: bool
    is_shared: bool


class Ledger:
    """One host's dealings with one store, from its takeover on."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.host_id = f"host-{secrets.token_hex(8)}"
        self._epoch = 0
        self._hurried = False
        self._told: set[str] = set()
        self._unreadable: frozenset[str] = frozenset()
        self._latest = 0
        """The latest wall time that is known of: the clock may have been set back since."""
        self._actor = hosts.host_actor(self.host_id)

    async def take_over(self, capacity: int) -> tuple[recovery.Orphan, ...]:
        """Makes this process the host; the processes of the one before it, to be killed before anything is claimed."""
        me = this_process()
        host = hosts.Identity(host_id=self.host_id, pid=me.pid, process_start=me.start, capacity=capacity)
        self._epoch, orphans = await self._write(lambda tx: recovery.take_over(tx, host))
        latest = await self._read(hosts.latest_waiting)
        self._latest = latest or 0
        return orphans

    async def leave(self, printed: Sequence[Printed]) -> None:
        """The last transaction: the next host need not look for this one."""

        def leave(tx: Transaction) -> None:
            outputs.append(tx, _written(printed))
            self._beat(tx)
            launches.give_up(tx, self.host_id, self._actor)
            hosts.leave(tx, self.host_id, self._epoch)

        await self._write(leave)

    async def renew(self, held: Collection[Claimed]) -> tuple[str, ...]:
        """One heartbeat; which of the runs are not this host's any more. Refused `host_replaced` after a takeover."""
        mine = await self._write(lambda tx: hosts.renew(tx, self.host_id, self._epoch))
        return tuple(one.run_id for one in held if one.run_id not in mine)

    # --- launches ---

    async def claim_next(self, busy: Collection[str], process: ProcessIdentity | None) -> Claimed | None:
        """The next claimable run but those in `busy`, whose last worker is still ending; `process` will execute it."""
        owner = claims.Owner(kind=OwnerKind.HOST, id=self.host_id, host_epoch=self._epoch)
        unreadable: dict[str, str] = {}
        claimed = await self._write(lambda tx: launches.claim_next(tx, owner, process, busy, unreadable))
        self._unreadable = frozenset(unreadable)
        for run_id, why in unreadable.items():
            self.tell(run_id, why)
        return claimed

    def tell(self, run_id: str, why: str) -> None:
        """Says once of a run or a decision that it is left alone: nothing is written of what cannot be read."""
        if run_id not in self._told:
            self._told.add(run_id)
            log.error("%s cannot be read and is left alone: %s; run lockgate doctor", run_id, why)

    async def give_back(self, claimed: Claimed, ending: Ending) -> None:
        """Ends the claim if it has not ended by itself, and says how the process ended."""

        def give_back(tx: Transaction) -> str | None:
            self._beat(tx)
            return launches.give_back(tx, claimed, ending, self._actor)

        damage = await self._write(give_back)
        if damage is not None:
            self.tell(claimed.run_id, damage)

    async def propose(
        self, execution: ExecutionStore, proposals: Sequence[AnyProposal], values: Sequence[Value] = ()
    ) -> Reply:
        """What the host itself proposes in the place of a worker that is gone."""
        return await self._patiently(lambda: execution.commit_transition(proposals, values))

    def execution(self, claimed: Claimed) -> ExecutionStore:
        return StoreExecution(self._store, claimed.claim)

    async def taken_away(self, held: Collection[Claimed]) -> dict[str, str]:
        """The runs whose worker has to stop because of what others have written, with the cause."""
        return await self._read(lambda connection: launches.causes_to_stop(connection, held))

    # --- what is due ---

    async def outlook(self, busy: Collection[str]) -> Outlook:
        """Without the runs that cannot be claimed: those in `busy`, and those that could not be read."""
        left_out = self._unreadable.union(busy)
        now = self._store.clock.now()
        self._latest = max(self._latest, now.wall_ms)

        def look(connection: "sqlite3.Connection") -> Outlook:
            others = recovery.processes(connection)
            return Outlook(
                deadline_in_ms=hosts.deadline_in_ms(connection, now.wall_ms, self._latest),
                available_in_ms=hosts.next_available(connection, now.wall_ms, left_out),
                is_abandoned=any(recovery.is_abandoned(held, now) for held in others),
                is_shared=bool(others),
            )

        return await self._read(look)

    async def take_due_defaults(self) -> bool:
        """Takes the defaults of the decisions whose deadline has passed; whether any was taken."""
        now_ms = self._store.clock.now().wall_ms
        due = await self._read(lambda connection: hosts.due_deadlines(connection, now_ms, self._latest))
        taken = False
        for request_id in due:
            # One run that cannot be read must not hold up the defaults of the others.
            try:
                receipt = await self._write(partial(_expire, request_id))
                taken |= receipt.outcome == "accepted"
                if receipt.reason == "altered":
                    self.tell(request_id, receipt.details["message"])
            except heads.UNREADABLE as problem:
                self.tell(request_id, str(problem))
        return taken

    async def end_abandoned(self) -> tuple[recovery.Orphan, ...]:
        """Ends the claims of processes that are gone; what they started is to be killed."""
        return await self._write(lambda tx: recovery.end_abandoned(tx, self.host_id))

    async def changes(self) -> AsyncIterator[tuple[str, ...]]:
        """The runs that somebody else has changed, again and again; none where only a command was recorded."""
        while True:
            try:
                async with aclosing(self._store.follow(pause=HOST_PAUSE, others_only=True)) as wakes:
                    async for wake in wakes:
                        # Somebody may have mended them.
                        self._unreadable = frozenset()
                        yield wake.run_ids
            except StoreBusy:
                await asyncio.sleep(_BUSY_PAUSE_S)
                # Whatever happened meanwhile was not told.
                yield ()

    async def write_output(self, printed: Sequence[Printed]) -> None:
        await self._write(lambda tx: outputs.append(tx, _written(printed)), Lane.TELEMETRY)

    def _beat(self, tx: Transaction) -> None:
        """A loss is dated to the last heartbeat; a host that sees it happen knows better than ten seconds ago."""
        with suppress(Refused):
            hosts.renew(tx, self.host_id, self._epoch)

    # --- patience ---

    def hurry(self) -> None:
        """From now on a store that stays locked is an error: a host that must stop leaves the rest to the next one."""
        self._hurried = True

    async def _write(self, fn: Callable[[Transaction], _T], lane: Lane = Lane.CONTROL) -> _T:
        return await self._patiently(lambda: self._store.transact(fn, lane))

    async def _read(self, fn: "Callable[[sqlite3.Connection], _T]") -> _T:
        return await self._patiently(lambda: self._store.read(fn))

    async def _patiently(self, ask: Callable[[], Awaitable[_T]]) -> _T:
        while True:
            try:
                return await ask()
            except StoreBusy:
                if self._hurried:
                    raise
                await asyncio.sleep(_BUSY_PAUSE_S)


def _expire(request_id: str, tx: Transaction) -> Receipt:
    return commands.expire(tx, request_id)


def _written(printed: Sequence[Printed]) -> list[outputs.Written]:
    return [
        outputs.Written(run_id=one.run_id, attempt_id=one.attempt_id, stream=one.stream, content=one.content)
        for one in printed
    ]
