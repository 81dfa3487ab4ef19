"""The writer: functions queue in lanes, and each batch of them is one transaction and one fsync.

While a batch commits, new functions collect; the queue fills by itself, so nothing is ever gathered by waiting.
A function that raises is undone alone: where it had written something already, the batch is rolled back and run
again with a savepoint around each function. Results are told only after COMMIT.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, Protocol, TypeVar

from lockgate.model.errors import StoreError
from lockgate.store.clock import Clock
from lockgate.store.openfile import OpenFile, Transaction, apart, errors_of_the_store
from lockgate.store.thread import OwnedConnection

T = TypeVar("T")

MOST_FUNCTIONS = 32
MOST_SECONDS = 0.005


class Lane(IntEnum):
    """Who goes first when several wait: a person's click, then what keeps runs alive, then work, then output."""

    PERSON = 0
    CONTROL = 1
    WORKER = 2
    TELEMETRY = 3


class _HalfWritten(Exception):
    """A function raised after it had written, in a batch without savepoints."""


class Job:
    """A function on its way through a batch, and what came of it."""

    __slots__ = ("error", "fn", "future", "lane", "result")

    def __init__(self, fn: Callable[[Transaction], Any], future: "asyncio.Future[Any]", lane: Lane) -> None:
        self.fn = fn
        self.future = future
        self.lane = lane
        self.result: Any = None
        self.error: BaseException | None = None


class Audience(Protocol):
    """Those who follow the store in this process, and want to know which events are its own."""

    def committing(self, seqs: Sequence[int]) -> None:
        """These events are about to be committed; on the owned thread, before anybody can see them."""
        ...

    def failed(self, seqs: Sequence[int]) -> None:
        """They were not; on the owned thread."""
        ...

    def committed(self) -> None:
        """Something was; on the loop."""
        ...


class Writer:
    """Owns the writing connection, and tells its audience of every batch."""

    def __init__(self, connection: OwnedConnection, clock: Clock, audience: Audience) -> None:
        self._connection = connection
        self._clock = clock
        self._audience = audience
        self._lock = threading.Lock()
        self._lanes: tuple[deque[Job], ...] = tuple(deque() for _ in Lane)
        self._draining = False
        self._loop = asyncio.get_running_loop()

    async def transact(self, fn: Callable[[Transaction], T], lane: Lane) -> T:
        """Runs `fn` in a transaction; its result once that is durable. What `fn` raises undoes `fn` alone.

        `fn` may run twice, the first time without effect: it keeps nothing outside of the transaction.
        """
        future: asyncio.Future[T] = self._loop.create_future()
        with self._lock:
            self._lanes[lane].append(Job(fn, future, lane))
            idle, self._draining = not self._draining, True
        if idle:
            try:
                self._connection.post(self._drain)
            except BaseException:
                self._draining = False
                raise
        return await future

    async def close(self) -> None:
        """Lets queued functions finish."""
        await self._connection.close()

    # --- on the owned thread ------------------------------------------------------------------------------

    def _drain(self, file: OpenFile) -> None:
        while (batch := self._next_batch()) is not None:
            try:
                with errors_of_the_store(file.path):
                    self._run(file, batch)
            except BaseException as error:
                # Nothing of this batch is durable: nobody may be told that it is.
                for job in batch:
                    job.error = job.error or error
            self._tell(batch)

    def _next_batch(self) -> list[Job] | None:
        """The next jobs in the order of their lanes, without those whose awaiter has gone; None when idle."""
        with self._lock:
            batch: list[Job] = []
            for lane in self._lanes:
                while lane and len(batch) < MOST_FUNCTIONS:
                    job = lane.popleft()
                    if not job.future.cancelled():
                        batch.append(job)
            if not batch:
                self._draining = False
                return None
            return batch

    def _run(self, file: OpenFile, batch: list[Job]) -> None:
        """First without savepoints: for those SQLite copies every page that a function changes, in a file as soon as
        they are sixteen, which costs a third of a step."""
        try:
            self._run_once(file, batch, self._run_freely)
        except _HalfWritten:
            self._run_once(file, batch, self._run_guarded)

    def _run_once(self, file: OpenFile, batch: list[Job], run: Callable[[OpenFile, Transaction, Job], None]) -> None:
        transaction = file.begin(self._clock)
        changes = file.connection.total_changes
        try:
            self._run_jobs(file, transaction, batch, run)
            if file.connection.total_changes != changes:
                self._audience.committing(transaction.event_seqs)
            file.commit()
        except BaseException:
            # First forgotten, then rolled back: the numbers may be another process's next.
            self._audience.failed(transaction.event_seqs)
            file.roll_back()
            raise

    def _run_jobs(
        self,
        file: OpenFile,
        transaction: Transaction,
        batch: list[Job],
        run: Callable[[OpenFile, Transaction, Job], None],
    ) -> None:
        if len(batch) == 1:
            run = self._run_alone
        began = time.monotonic()
        for index, job in enumerate(batch):
            if index and time.monotonic() - began > MOST_SECONDS:
                self._put_back(batch, index)
                return
            job.error = None
            run(file, transaction, job)
            if not file.connection.in_transaction and len(batch) > 1:
                # Whatever ended it, and whether or not that was raised: the next job must not write outside of one.
                why = job.error or "a function ended it"
                raise StoreError(f"the store {file.path} ended the transaction: {why}") from job.error

    def _run_alone(self, file: OpenFile, transaction: Transaction, job: Job) -> None:
        """A batch of one needs no savepoint: what it raises ends the whole transaction."""
        with errors_of_the_store(file.path):
            job.result = job.fn(transaction)

    def _run_freely(self, file: OpenFile, transaction: Transaction, job: Job) -> None:
        changes = file.connection.total_changes
        try:
            with errors_of_the_store(file.path):
                job.result = job.fn(transaction)
        except BaseException as error:
            job.error = error
            if file.connection.in_transaction and file.connection.total_changes != changes:
                raise _HalfWritten from error

    def _run_guarded(self, file: OpenFile, transaction: Transaction, job: Job) -> None:
        try:
            with apart(transaction), errors_of_the_store(file.path):
                job.result = job.fn(transaction)
        except BaseException as error:
            job.error = error

    def _put_back(self, batch: list[Job], index: int) -> None:
        """What did not fit in its time goes back to the front of its lane."""
        rest = batch[index:]
        del batch[index:]
        with self._lock:
            for job in reversed(rest):
                self._lanes[job.lane].appendleft(job)

    def _tell(self, batch: list[Job]) -> None:
        try:
            self._loop.call_soon_threadsafe(self._deliver, batch)
        except RuntimeError:
            # The loop is closed: there is nobody left to tell.
            return

    # --- on the loop --------------------------------------------------------------------------------------

    def _deliver(self, batch: list[Job]) -> None:
        for job in batch:
            if job.future.done():
                continue
            if job.error is not None:
                job.future.set_exception(job.error)
            else:
                job.future.set_result(job.result)
        self._audience.committed()
