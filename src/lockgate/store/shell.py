"""`Store`: the asynchronous shell over one store file. It sends whole functions to owned threads, nothing else.

One connection writes, one reads, and each follower has its own. All of them are closed with the store.
"""

import asyncio
import sqlite3
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lockgate.model import ids
from lockgate.model.encoding import MAX_OUTPUT_BYTES, checked, parsed
from lockgate.model.errors import StoreReadOnly
from lockgate.model.records import Actor, EventView, Human, Receipt, RequestView, Run, RunDetail, Wake
from lockgate.store import commands, reads
from lockgate.store.anchor import Anchor
from lockgate.store.clock import Clock, SystemClock
from lockgate.store.following import Follower, Followers
from lockgate.store.location import default_path, true_path
from lockgate.store.openfile import OpenFile, Transaction, open_file
from lockgate.store.patience import Patience
from lockgate.store.reads import Page, RunQuery
from lockgate.store.thread import OwnedConnection
from lockgate.store.watch import Watcher
from lockgate.store.writer import Lane, Writer

if TYPE_CHECKING:
    from lockgate.flow.definition import Definition

T = TypeVar("T")

SCREEN_PAUSE = 0.25
"""How long a follower for a screen rests after each wake, in seconds."""

HOST_PAUSE = 0.005
"""How long a follower for a host rests."""


@asynccontextmanager
async def open_store(
    path: str | Path | None = None, *, create: bool = False, read_only: bool = False, clock: Clock | None = None
) -> AsyncIterator["Store"]:
    """Opens a store, by default $LOCKGATE_DB or the user's own, and closes it in every path.

    Raises StoreMissing unless `create`, StoreForeign, StoreTooNew, StoreTooOld, StoreUnsafeLocation: each before
    anything is written. Where the file cannot be written it is open for reading, and `read_only` says so.
    """
    place = Path(path) if path is not None else default_path()
    store = Store(true_path(place), clock or SystemClock())
    try:
        await store._open(create=create, read_only=read_only)
        yield store
    finally:
        await store._close()


class Store:
    """An open store. Safe to use from many tasks of the loop that opened it, and from no other."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self.clock = clock
        self.read_only = False
        self.still = False
        self.store_id = ""
        self._connections: set[OwnedConnection] = set()
        self._followers = Followers()
        self._writer: Writer | None = None
        self._reader: OwnedConnection | None = None
        self._anchor: Anchor | None = None
        self._opening = asyncio.Lock()
        self._closed = False
        self._why_not = ""

    @property
    def last_written_seq(self) -> int:
        """The newest event that this store object has committed, 0 before the first."""
        return self._followers.last_written_seq

    async def transact(self, fn: Callable[[Transaction], T], lane: Lane = Lane.CONTROL) -> T:
        """Runs `fn` in one write transaction, perhaps shared with others; its result once it is durable.

        What `fn` raises undoes `fn` and nothing else. Cancelling the awaiter never leaves half of it. Raises
        StoreReadOnly, StoreBusy after 5 s of a locked store, StoreDetached instead of a false acknowledgement.
        """
        if self._writer is None:
            raise StoreReadOnly(str(self.path), "it was closed" if self._closed else self._why_not)
        return await self._writer.transact(fn, lane)

    async def read(self, fn: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `fn` in one read transaction: all that it reads is of one moment."""
        reader = await self._reading()
        return await reader.run(lambda file: file.read(fn))

    async def follow(
        self, after: int | None = None, *, pause: float = SCREEN_PAUSE, others_only: bool = False
    ) -> AsyncGenerator[Wake, None]:
        """Wakes for what changed after the event `after` (None: from now on), coalesced and never queued.

        `pause` seconds lie between two wakes. With `others_only`, commits of this Store do not wake. Raises
        StoreReadOnly on a still picture, and the store's errors where the file is gone or was replaced.
        """
        if self.still:
            raise StoreReadOnly(str(self.path), "a still picture never changes")
        connection = await self._connect(read_only=True)
        watcher = Watcher(connection, self.path, pause)
        follower = Follower(connection, watcher, after, others_only=others_only)
        self._followers.add(follower)
        try:
            async with aclosing(follower.wakes()) as wakes:
                async for wake in wakes:
                    yield wake
        finally:
            self._followers.remove(follower)
            watcher.close()
            self._connections.discard(connection)
            await connection.close()

    # --- what programs call -------------------------------------------------------------------------------

    async def answer(
        self,
        decision_id: str,
        choice: str,
        *,
        text: str | None = None,
        digest: str,
        actor: Human,
        key: str | None = None,
    ) -> Receipt:
        """A person's answer to the decision whose digest was seen; the receipt says whether it won."""
        name = new_key() if key is None else key
        return await self.transact(
            lambda tx: commands.answer(tx, decision_id, choice, text=text, digest=digest, human=actor, key=name),
            Lane.PERSON,
        )

    async def submit(self, request_id: str, output: Any, *, actor: Actor | Human, key: str | None = None) -> Receipt:
        """An ordinary answer. Raises NotFound, PayloadError, or Refused `invalid_input` by the contract."""
        checked = await self.read(lambda connection: commands.check_submission(connection, request_id, output))
        name = new_key() if key is None else key
        return await self.transact(lambda tx: commands.submit(tx, checked, actor=actor, key=name), Lane.PERSON)

    async def pause(self, run_id: str, *, actor: Actor | Human, key: str | None = None, now: bool = False) -> Receipt:
        name = new_key() if key is None else key
        return await self.transact(lambda tx: commands.pause(tx, run_id, actor=actor, key=name, now=now), Lane.PERSON)

    async def resume(
        self, run_id: str, *, actor: Actor | Human, key: str | None = None, accept: "Definition | None" = None
    ) -> Receipt:
        name = new_key() if key is None else key
        return await self.transact(
            lambda tx: commands.resume(tx, run_id, actor=actor, key=name, accept=accept), Lane.PERSON
        )

    async def cancel(self, run_id: str, *, actor: Actor | Human, key: str | None = None) -> Receipt:
        name = new_key() if key is None else key
        return await self.transact(lambda tx: commands.cancel(tx, run_id, actor=actor, key=name), Lane.PERSON)

    async def resolve_effect(
        self, effect_id: str, *, happened: bool, output: bytes | None = None, actor: Human, key: str | None = None
    ) -> Receipt:
        """A person's word about an ambiguous effect; `output` is the JSON text of its result. Raises PayloadError."""
        made = None if output is None else checked(parsed(output, limit=MAX_OUTPUT_BYTES), limit=MAX_OUTPUT_BYTES)
        name = new_key() if key is None else key
        return await self.transact(
            lambda tx: commands.resolve_effect(tx, effect_id, happened=happened, output=made, human=actor, key=name),
            Lane.PERSON,
        )

    async def change_settings(
        self,
        run_id: str,
        patch: Any,
        *,
        actor: Actor | Human,
        scope: str = ids.ROOT_MOUNT,
        expected_change: int | None = None,
        source: str = "program",
        key: str | None = None,
    ) -> Receipt:
        """A JSON Patch on the run's live settings, or on an include's: MOUNT, or MOUNT#INVOCATION.

        Raises PayloadError for a patch that is none.
        """
        name = new_key() if key is None else key
        for _ in range(commands.MOST_TRIES):
            patched = await self.read(lambda c: commands.patch_settings(c, run_id, patch, actor=actor, scope=scope))
            change = partial(
                commands.change_settings,
                patched=patched,
                actor=actor,
                key=name,
                expected_change=expected_change,
                source=source,
            )
            receipt = await self.transact(change, Lane.PERSON)
            if not commands.is_overtaken(receipt, expected_change):
                break
        return receipt

    async def runs(self, query: RunQuery | None = None) -> Page[Run]:
        wanted = query or RunQuery()
        return await self.read(lambda connection: reads.runs(connection, wanted))

    async def run(self, run_id: str) -> RunDetail:
        """Raises NotFound."""
        return await self.read(lambda connection: reads.run(connection, run_id))

    async def events(self, run_id: str, after: int = 0, limit: int = 500) -> tuple[EventView, ...]:
        return await self.read(lambda connection: reads.events(connection, run_id, after=after, limit=limit))

    async def decisions(self) -> tuple[RequestView, ...]:
        """The pending human decisions, least time left first."""
        return await self.read(reads.decisions)

    # --- connections --------------------------------------------------------------------------------------

    async def _open(self, *, create: bool, read_only: bool) -> None:
        connection = await self._connect(create=create, read_only=read_only)
        self.read_only, self.still = connection.file.read_only, connection.file.still
        self._why_not = connection.file.why_not
        if self.read_only:
            self._reader = connection
        else:
            self._writer = Writer(connection, self.clock, self._followers)
        facts = await connection.run(lambda file: file.read(reads.store_facts))
        self.store_id = facts.store_id

    async def _reading(self) -> OwnedConnection:
        async with self._opening:
            if self._reader is None:
                self._reader = await self._connect(read_only=True)
            return self._reader

    async def _connect(self, *, create: bool = False, read_only: bool = False) -> OwnedConnection:
        if self._closed:
            raise StoreReadOnly(str(self.path), "it was closed")

        def opener(patience: Patience) -> OpenFile:
            self._check_anchor()
            file = open_file(self.path, self.clock, create=create, read_only=read_only, patience=patience)
            try:
                self._check_anchor()
            except BaseException:
                file.close()
                raise
            return file

        connection = OwnedConnection(opener, Patience(str(self.path)))
        await connection
        if self._anchor is None and not connection.file.still:
            self._anchor = connection.file.anchor
        self._connections.add(connection)
        return connection

    def _check_anchor(self) -> None:
        """A later connection must open the file that the first one has: another one would answer for it."""
        if self._anchor is not None:
            self._anchor.check()

    async def _close(self) -> None:
        self._closed = True
        self._writer = None
        while self._connections:
            await self._connections.pop().close()


def new_key() -> str:
    """A command's key where the caller names none."""
    return str(uuid.uuid4())
