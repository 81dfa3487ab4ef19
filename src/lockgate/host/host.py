"""The host: takes the store over, fills its slots, keeps its lease, and leaves nothing behind when it stops."""

import asyncio
import logging
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path

from lockgate.host.forking import spawner
from lockgate.host.jumps import JumpWatch
from lockgate.host.leash import until_closed, until_gone
from lockgate.host.ledger import Ledger
from lockgate.host.output import FLUSH_S, OutputDesk
from lockgate.host.processes import adopt_orphans
from lockgate.host.recovery import clear_away
from lockgate.host.scheduler import Scheduler
from lockgate.store.clock import Clock, SystemClock
from lockgate.store.shell import open_store

log = logging.getLogger("lockgate.host")

DEFAULT_CAPACITY = 4
HEARTBEAT_S = 10.0
"""A third of the lease: two heartbeats may be late before anybody may take over."""

REAP_S = 5.0
CLOCK_LOOK_S = 1.0
"""How soon a default is taken whose deadline was jumped over."""

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Host:
    """Executes the runs of one store, at most `max_workers` at a time, until it is stopped.

    With `drain` it ends by itself when nothing is claimable any more. `leash_fd` is the reading end of a pipe
    and `parent_pid` a process: when either ends, so does the host. `adopts_orphans` is for a process that is
    nothing but a host: what workers left behind becomes its child, and is reaped. Workers are forked by a server
    that has done their imports; without `fork_server`, and on macOS, each is a Python of its own. `on_begin` is called
    once the store is this host's.
    """

    def __init__(
        self,
        store_path: Path | str | None = None,
        *,
        max_workers: int = DEFAULT_CAPACITY,
        drain: bool = False,
        leash_fd: int | None = None,
        parent_pid: int | None = None,
        adopts_orphans: bool = False,
        fork_server: bool = True,
        clock: Clock | None = None,
        on_begin: Callable[[], None] | None = None,
    ) -> None:
        self._path = store_path
        self._capacity = max_workers
        self._drain = drain
        self._leash_fd = leash_fd
        self._parent_pid = parent_pid
        self._adopts_orphans = adopts_orphans
        self._spawner = spawner(fork_server=fork_server)
        self._clock = clock or SystemClock()
        self._on_begin = on_begin
        self._output = OutputDesk()

    async def run(self, stop: asyncio.Event | None = None) -> None:
        """Returns when it was stopped or has drained the store, with every worker gone and every run given back.

        Raises Refused `host_running` when a living host holds the store, ClaimLost when another host took over
        from this one, StoreError when the store cannot be used.
        """
        try:
            # Before the store is open, and while it is being opened.
            self._spawner.prepare()
            await self._execute(stop or asyncio.Event())
        finally:
            self._spawner.close()

    async def _execute(self, stop: asyncio.Event) -> None:
        async with open_store(self._path, create=True, clock=self._clock) as store:
            ledger = Ledger(store)
            await clear_away(await ledger.take_over(self._capacity))
            if self._on_begin is not None:
                self._on_begin()
            scheduler = Scheduler(
                ledger,
                self._output,
                self._spawner,
                capacity=self._capacity,
                drain=self._drain,
                adopts_orphans=self._adopts_orphans,
            )
            try:
                await self._serve(ledger, scheduler, stop)
            finally:
                ledger.hurry()
                await scheduler.stop()
                await ledger.leave(self._output.take())

    async def _serve(self, ledger: Ledger, scheduler: Scheduler, stop: asyncio.Event) -> None:
        """Until the first of these ends: the scheduler, by draining; the others, by the wish to stop; or a failure."""
        endings = [scheduler.run(), stop.wait(), *self._leashes()]
        chores = [
            self._watch(ledger, scheduler),
            scheduler.obey(),
            self._keep_lease(ledger, scheduler),
            self._write_output(ledger),
            self._watch_clock(scheduler),
            *([self._reap(scheduler)] if self._adopts_orphans else []),
        ]
        tasks = [asyncio.create_task(work) for work in (*endings, *chores)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _leashes(self) -> list[Coroutine[None, None, None]]:
        pipes = [] if self._leash_fd is None else [until_closed(self._leash_fd)]
        parents = [] if self._parent_pid is None else [until_gone(self._parent_pid)]
        return [*pipes, *parents]

    async def _watch(self, ledger: Ledger, scheduler: Scheduler) -> None:
        async for run_ids in ledger.changes():
            scheduler.wake(run_ids)

    async def _keep_lease(self, ledger: Ledger, scheduler: Scheduler) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            for run_id in await ledger.renew([supervisor.claimed for supervisor in scheduler.active]):
                scheduler.stop_run(run_id, "claim_ended")

    async def _watch_clock(self, scheduler: Scheduler) -> None:
        watch = JumpWatch(self._clock.now())
        while True:
            await asyncio.sleep(CLOCK_LOOK_S)
            jump = watch.look(self._clock.now())
            if jump:
                log.warning("the wall clock jumped by %+.1f s: it was set, or the machine slept", jump / 1000)
                scheduler.wake()

    async def _reap(self, scheduler: Scheduler) -> None:
        while True:
            await asyncio.sleep(REAP_S)
            scheduler.has_orphans()

    async def _write_output(self, ledger: Ledger) -> None:
        while True:
            # What nobody prints wakes nobody; what is printed gathers for a moment.
            await self._output.filled.wait()
            await asyncio.sleep(FLUSH_S)
            await ledger.write_output(self._output.take())


def run_host(
    store_path: Path | str | None = None,
    *,
    max_workers: int = DEFAULT_CAPACITY,
    drain: bool = False,
    leash_fd: int | None = None,
    parent_pid: int | None = None,
    fork_server: bool = True,
    on_begin: Callable[[], None] | None = None,
) -> int:
    """Runs a host as this process: its signals stop it, orphans become its children. The exit code."""
    host = Host(
        store_path,
        max_workers=max_workers,
        drain=drain,
        leash_fd=leash_fd,
        parent_pid=parent_pid,
        adopts_orphans=adopt_orphans(),
        fork_server=fork_server,
        on_begin=on_begin,
    )
    return asyncio.run(_run_as_process(host))


async def _run_as_process(host: Host) -> int:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, stop.set)
    await host.run(stop)
    return 0
