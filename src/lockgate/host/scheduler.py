"""Which runs are executed here now: slots are filled in the store's order, and emptied when the store says so.

The database is the command bus. Every pass reads what is due and what has changed; a wake only makes the next
pass come sooner, so a lost wake costs time, never a run. Stopping a worker and renewing a claim never wait
for a slot, nor for the process of the next worker.
"""

import asyncio
from collections.abc import Collection

from lockgate.host.launches import Claimed
from lockgate.host.ledger import Ledger, Outlook
from lockgate.host.output import OutputDesk
from lockgate.host.processes import reap_orphans
from lockgate.host.recovery import clear_away
from lockgate.host.spawning import Spawner
from lockgate.host.standby import Standby
from lockgate.host.supervisor import Supervisor

LONGEST_SLEEP_S = 10.0
"""However far the next known moment is: the wall clock may be set forward."""

SOON_S = 1.0
"""When to look again at what nothing wakes anybody for, and at what was due and did not move."""


class Scheduler:
    """Holds the supervisors of one host, one for each run that it executes."""

    def __init__(
        self,
        ledger: Ledger,
        output: OutputDesk,
        spawner: Spawner,
        *,
        capacity: int,
        drain: bool,
        adopts_orphans: bool,
    ) -> None:
        self._ledger = ledger
        self._output = output
        self._standby = Standby(spawner)
        self._capacity = capacity
        self._drain = drain
        self._adopts_orphans = adopts_orphans
        self._active: dict[str, Supervisor] = {}
        self._tasks: dict[asyncio.Task[None], Supervisor] = {}
        self._woken = asyncio.Event()
        self._touched: set[str] = set()
        self._told = asyncio.Event()
        self._failure: BaseException | None = None

    def wake(self, run_ids: Collection[str] = ()) -> None:
        """Others changed something: these runs, or a fact beside the runs, which may concern any of them."""
        self._touched.update(run_ids or self._active)
        self._told.set()
        self._woken.set()

    @property
    def active(self) -> tuple[Supervisor, ...]:
        return tuple(self._active.values())

    def has_orphans(self) -> bool:
        """Whether dead workers may have left processes behind: where those are adopted, they are children of this one.

        Those that have ended are reaped.
        """
        if not self._adopts_orphans:
            return True
        return reap_orphans(self._standby.pids.union(supervisor.pid for supervisor in self.active))

    def stop_run(self, run_id: str, cause: str) -> None:
        supervisor = self._active.get(run_id)
        if supervisor is not None:
            supervisor.stop(cause)

    async def run(self) -> None:
        """Passes for ever, or until nothing is claimable where the host only drains the store.

        Raises what ended a supervisor before its time: only a store that cannot be used any more does.
        """
        while self._failure is None:
            self._woken.clear()
            outlook = await self._ledger.outlook(self._active.keys())
            if await self._act(outlook):
                continue
            # A supervisor that ended meanwhile may have given back a run that this outlook has not seen.
            if self._drain and not self._tasks and not self._woken.is_set() and outlook.available_in_ms is None:
                return
            if self._has_room or outlook.available_in_ms is not None:
                await self._standby.prepare()
            await self._sleep(self._seconds_until(outlook))
        raise self._failure

    async def _act(self, outlook: Outlook) -> bool:
        """Does what is due; whether anything came of it, so that there may be more to do."""
        acted = False
        if outlook.is_abandoned:
            orphans = await self._ledger.end_abandoned()
            await clear_away(orphans)
            acted = bool(orphans)
        if outlook.deadline_in_ms is not None and outlook.deadline_in_ms <= 0:
            acted |= await self._ledger.take_due_defaults()
        if outlook.available_in_ms is not None and outlook.available_in_ms <= 0:
            acted |= await self._fill()
        return acted

    def _seconds_until(self, outlook: Outlook) -> float:
        """How long nothing will move by itself. A full host has no use for a run that becomes claimable."""
        moments = [LONGEST_SLEEP_S]
        if outlook.is_shared:
            moments.append(SOON_S)
        due = [outlook.deadline_in_ms, outlook.available_in_ms if self._has_room else None]
        moments += [in_ms / 1000 if in_ms > 0 else SOON_S for in_ms in due if in_ms is not None]
        return min(moments)

    async def obey(self) -> None:
        """Stops, for ever, the workers of runs that others have cancelled, taken over, or paused at once."""
        while True:
            await self._told.wait()
            self._told.clear()
            touched, self._touched = self._touched, set()
            held = [one for one in self.active if one.run_id in touched and one.has_claim]
            if held:
                await self._stop_taken_away(held)

    async def _stop_taken_away(self, held: list[Supervisor]) -> None:
        causes = await self._ledger.taken_away([one.claimed for one in held])
        for one in held:
            # What the worker itself has ended meanwhile is not taken away from it.
            if one.run_id in causes and one.has_claim:
                one.stop(causes[one.run_id])

    async def _fill(self) -> bool:
        """Whether a run was claimed."""
        any_claimed = False
        while self._has_room:
            process = await self._standby.prepare()
            if self._standby.has_failed and self._active:
                # The system is full rather than broken: the runs wait for one that ends.
                break
            claimed = await self._ledger.claim_next(self._active.keys(), process)
            if claimed is None:
                break
            any_claimed = True
            self._launch(claimed)
        return any_claimed

    @property
    def _has_room(self) -> bool:
        """A worker that has given its run back only has to exit; the next one need not wait for that."""
        executing = sum(1 for one in self.active if one.has_claim)
        return executing < self._capacity and len(self._active) < 2 * self._capacity

    def _launch(self, claimed: Claimed) -> None:
        supervisor = Supervisor(
            claimed,
            self._standby.take(),
            self._ledger,
            self._output,
            leaves=self._woken.set,
            has_orphans=self.has_orphans,
        )
        task = asyncio.create_task(supervisor.run(), name=f"run {supervisor.run_id}")
        self._active[supervisor.run_id] = supervisor
        self._tasks[task] = supervisor
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        del self._active[self._tasks.pop(task).run_id]
        if not task.cancelled():
            self._failure = self._failure or task.exception()
        self._woken.set()

    async def _sleep(self, seconds: float) -> None:
        """Until woken, or until the next known moment."""
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            # A wake may have been lost in a host's own commits: now and then everything is looked at.
            self.wake()

    async def stop(self) -> None:
        """Ends every worker and gives its run back; no loss of these counts."""
        for supervisor in self.active:
            supervisor.stop("host_stopped")
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._standby.close()
