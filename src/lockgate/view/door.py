"""The store that a screen looks into: opened once, and again when its file was replaced under it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from lockgate.model.records import Human, Now
from lockgate.store.clock import Clock, SystemClock
from lockgate.store.shell import Store, open_store
from lockgate.view.desk import Desk
from lockgate.view.feed import Feed


class Door:
    """Holds the open store for feed and desk, which ask for it anew each time."""

    def __init__(self, path: Path, *, read_only: bool, clock: Clock) -> None:
        self.path = path
        self.asked_read_only = read_only
        self.clock = clock
        self._stack = AsyncExitStack()
        self._store: Store | None = None
        self.is_open = False

    @property
    def store(self) -> Store:
        """The store that is open now, or was until its file was found to be replaced."""
        assert self._store is not None
        return self._store

    def now(self) -> Now:
        return self.clock.now()

    async def open(self) -> None:
        """Opens the store. Raises the store's errors."""
        found = open_store(self.path, read_only=self.asked_read_only, clock=self.clock)
        self._store = await self._stack.enter_async_context(found)
        self.is_open = True

    async def reopen(self) -> None:
        """Closes the store, and opens the file that is at the path now; raises what opening raises.

        Closed first: of one file, SQLite would give the next connection what the last one was cut off with.
        """
        await self.close()
        await self.open()

    async def close(self) -> None:
        self.is_open = False
        await self._stack.aclose()


@asynccontextmanager
async def open_dashboard(
    path: Path, *, read_only: bool = False, clock: Clock | None = None, human: Human | None = None
) -> AsyncIterator[tuple[Feed, Desk]]:
    """The feed and the desk of one screen on one store. Raises the store's errors before anything is shown.

    Without a `human` the desk acts for the person at this terminal, if there is one.
    """
    door = Door(path, read_only=read_only, clock=clock or SystemClock())
    await door.open()
    try:
        yield Feed(door), Desk(door, human)
    finally:
        await door.close()
