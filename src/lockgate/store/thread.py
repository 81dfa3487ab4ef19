"""The owned thread: aiosqlite's connection, with whole functions run on its thread instead of single statements.

A transaction is one function here, with no await inside it: a cancelled await between two statements would leave
the transaction open, and the next commit would persist half of it. The only module that knows aiosqlite.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

import aiosqlite

from lockgate.model.errors import StoreReadOnly
from lockgate.store.openfile import OpenFile
from lockgate.store.patience import Patience

T = TypeVar("T")


class OwnedConnection(aiosqlite.Connection):
    """Opens its file on its own thread, and closes it there; `await` it, and `close()` it in every path."""

    def __init__(self, opener: Callable[[Patience], OpenFile], patience: Patience) -> None:
        self._file: OpenFile | None = None
        self._patience = patience

        def connect() -> object:
            self._file = opener(patience)
            return self._file.connection

        super().__init__(connect, iter_chunk_size=64)  # type: ignore[arg-type]

    async def _connect(self) -> "OwnedConnection":
        """Opens. Where that fails, the thread has ended before anybody learns of it: a loop that is closed right
        after would otherwise kill the thread in the middle of its last word."""
        try:
            await super()._connect()
        except BaseException:
            self._patience.give_up()
            while self._thread.is_alive():
                await asyncio.sleep(0.001)
            if self._file is not None:
                self._file.close()
            raise
        return self

    @property
    def file(self) -> OpenFile:
        """The open file; to be touched only by functions that run on the thread."""
        assert self._file is not None
        return self._file

    async def run(self, fn: Callable[[OpenFile], T]) -> T:
        """Runs `fn` whole on the thread. Cancelling the awaiter does not cancel what runs."""
        self._refuse_closed()
        result: T = await self._execute(fn, self.file)  # type: ignore[no-untyped-call]
        return result

    def post(self, fn: Callable[[OpenFile], None]) -> None:
        """Queues `fn` for the thread without a result; it must not raise."""
        self._refuse_closed()
        file = self.file
        self._tx.put_nowait((None, lambda: fn(file)))

    def _refuse_closed(self) -> None:
        if not self._running or self._connection is None:
            raise StoreReadOnly(self._patience.path, "it was closed")

    async def close(self) -> None:
        """Ends a wait for a lock that is under way, lets what was queued finish, and closes."""
        self._patience.give_up()
        if self._connection is None or not self._running:
            return
        try:
            await self._execute(self.file.close)  # type: ignore[no-untyped-call]
        finally:
            self._connection = None
            ended = self.stop()
            if ended is not None:
                await ended
