"""The stream of snapshots: woken by the store, one bounded read each, yielded only where something differs."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from lockgate.model.errors import (
    StoreBusy,
    StoreDamaged,
    StoreDetached,
    StoreError,
    StoreMissing,
    StoreTooNew,
    StoreTooOld,
)
from lockgate.model.records import Now
from lockgate.model.text import clean
from lockgate.view.facts import UNWRITABLE, store_fact
from lockgate.view.reading import Reader
from lockgate.view.snapshots import Interest, Snapshot, StoreFact, StoreState

if TYPE_CHECKING:
    from lockgate.view.door import Door

RECOUNT_S = 5.0
RETRY_S = 1.0
SLEPT_MS = 30_000

_STATES: tuple[tuple[type[StoreError], StoreState, str], ...] = (
    (StoreBusy, StoreState.LOCKED, "the store is locked."),
    (StoreMissing, StoreState.GONE, "the file is gone."),
    (StoreTooNew, StoreState.NEWER, "a newer lockgate changed it: start this dashboard again with that one."),
    (StoreTooOld, StoreState.REPLACED, "the file was replaced by an older one: run lockgate migrate."),
    (StoreDamaged, StoreState.DAMAGED, "the file is damaged: run lockgate doctor."),
)


class Feed:
    """What a screen sees of a store. `look` says what it looks at, `snapshots` yields what is there."""

    def __init__(self, door: "Door") -> None:
        self._door = door
        self._interest = Interest()
        self._woken = asyncio.Event()
        self._reader = Reader()
        self._trouble: StoreError | None = None
        self._told: StoreError | None = None
        self._since = 0
        self._following: asyncio.Task[None] | None = None

    def now(self) -> Now:
        """One reading of the store's clocks, with what is known of the owners of claims."""
        return self._reader.informed(self._door.now())

    def look(self, interest: Interest) -> None:
        """Changes what is read, and has it read at once."""
        self._interest = interest
        self._woken.set()

    async def snapshots(self) -> AsyncIterator[Snapshot]:
        """Snapshots, each different from the one before. Trouble with the store is a snapshot too, never an error.

        The last data stays in it, with the state of the store and since when it is so.
        """
        last: Snapshot | None = None
        try:
            while True:
                self._woken.clear()
                shown = await self._read(last)
                if last is None or _differs(shown, last):
                    yield shown
                    last = shown
                if self._trouble is not None:
                    await asyncio.sleep(RETRY_S)
                    continue
                if self._following is not None and self._following.done():
                    self._following.result()  # the store's trouble is said; anything else is a defect and is raised
                if self._following is None or self._following.done():
                    # From what was read: nothing that happens before the follower is ready can be missed.
                    self._following = asyncio.create_task(self._follow(shown.event_seq))
                if not self._reader.lacks_vector:
                    await self._rest(last)
        finally:
            await self._stop_following()

    async def _stop_following(self) -> None:
        """Ends the follower before the store that it belongs to is closed under it."""
        following, self._following = self._following, None
        if following is not None:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following

    async def _rest(self, last: Snapshot) -> None:
        """Waits until there is a reason to read: a change, a new interest, or that time alone made a run wrong."""
        before = self.now()
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), RECOUNT_S)
            if self._woken.is_set():
                return
            now = self.now()
            slept = (now.wall_ms - before.wall_ms) - (now.mono_ms - before.mono_ms) > SLEPT_MS
            if slept or self._reader.counts(now) != last.counts or not await self._is_there():
                return
            before = now

    async def _is_there(self) -> bool:
        """Whether the file is still the one that was opened; a follower that came late knows only the new one."""
        try:
            await self._door.store.read(lambda connection: None)
        except StoreError:
            return False
        return True

    async def _read(self, last: Snapshot | None) -> Snapshot:
        """Reads, after opening the store again where its file was replaced. Only store errors become states.

        What the follower found is said before it is mended, so that nobody misses that the data is another.
        """
        began, known = self.now(), self._trouble
        if self._trouble is not None and self._told is not self._trouble:
            self._told = self._trouble
            return self._stale(self._trouble, last, began)
        try:
            replaced = isinstance(self._trouble, StoreDetached | StoreMissing | StoreDamaged | StoreTooOld)
            if replaced or not self._door.is_open:
                await self._stop_following()
                await self._door.reopen()
                self._reader = Reader()
            store, reader, interest, fact = self._door.store, self._reader, self._interest, self._fact()
            shown = await store.read(lambda connection: reader.read(connection, interest, fact, self.now()))
        except StoreError as error:
            if self._trouble is None:
                self._since = began.wall_ms
            self._trouble = self._told = error
            return self._stale(error, last, began)
        if self._trouble is known:  # else the follower found something meanwhile
            self._trouble = self._told = None
        return shown

    def _fact(self) -> StoreFact:
        store = self._door.store
        why = "--read-only" if self._door.asked_read_only else UNWRITABLE
        return store_fact(store.path.name, still=store.still, why_not=why if store.read_only else "")

    def _stale(self, error: StoreError, last: Snapshot | None, began: Now) -> Snapshot:
        """The last data again, labelled with why there is no newer."""
        state, sentence = trouble_of(error, self._door.path)
        base = last or Snapshot(at=began, store=StoreFact(self._door.path.name))
        as_of = self._since if last is None or last.store.state.is_live else last.store.as_of
        fact = replace(base.store, state=state, as_of=as_of, since=self._since, sentence=sentence)
        return replace(base, store=fact)

    async def _follow(self, after: int) -> None:
        """Sets `woken` for each wake of the store; ends with the store's trouble, which the next read finds."""
        try:
            if self._door.store.still:
                await asyncio.Event().wait()
            async with aclosing(self._door.store.follow(after)) as wakes:
                async for _ in wakes:
                    self._woken.set()
        except StoreError as error:
            if not isinstance(error, StoreBusy):
                self._trouble, self._since = error, self.now().wall_ms
            await asyncio.sleep(RETRY_S)
        finally:
            self._woken.set()


def trouble_of(error: StoreError, path: Path) -> tuple[StoreState, str]:
    """The state and the sentence of an error of the store."""
    for kind, state, sentence in _STATES:
        if isinstance(error, kind):
            return state, sentence
    if isinstance(error, StoreDetached) and error.for_good:
        return StoreState.REPLACED, "its write-ahead log was replaced under this dashboard: start it again."
    if isinstance(error, StoreDetached):
        if os.path.exists(path):
            return StoreState.REPLACED, "the file was replaced; opening the new one."
        return StoreState.GONE, "the file is gone."
    return StoreState.FAILED, clean(error.message)


def _differs(shown: Snapshot, last: Snapshot) -> bool:
    """Whether there is anything new on the screen; the moment of the read and the file's size are not."""
    store = replace(shown.store, as_of=last.store.as_of, size=last.store.size)
    return replace(shown, at=last.at, store=store) != last
