"""Progress on its way into the store: coalesced by (type, key), newest wins, at most four commits a second."""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from lockgate.engine.values import value_of
from lockgate.model import ids
from lockgate.model.errors import PayloadError
from lockgate.model.records import Value

INTERVAL = 0.25
PROGRESS = "progress"
MAX_BYTES = 64 << 10
MAX_PAIRS = 1024

Commit = Callable[[str, str, Value], Awaitable[None]]


class Updates:
    """The updates of one attempt. `publish` may be called from any thread; the rest belongs to the loop.

    `on_failure` is called when an update cannot be committed.
    """

    def __init__(self, commit: Commit) -> None:
        self._commit = commit
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._pairs: set[tuple[str, str]] = set()
        self._pending: dict[tuple[str, str], Value] = {}
        self._pump: asyncio.Task[None] | None = None
        self._problem: BaseException | None = None
        self._is_committing = False
        self._is_closed = False
        self.on_failure: Callable[[], None] | None = None

    def publish(self, type: str, key: str, data: Mapping[str, Any]) -> None:
        """Takes an update. Raises PayloadError for a name or data that no store would take."""
        value = _checked(type, key, data)
        with self._lock:
            self._pairs.add((type, key))
            if len(self._pairs) > MAX_PAIRS:
                self._pairs.discard((type, key))
                raise PayloadError("key", f"at most {MAX_PAIRS} keys in an attempt", f"another, {key!r}")
            self._pending[type, key] = value
        # A function that was left behind may publish into a loop that is closed: nobody listens.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        if self._is_closed or (self._pump is not None and not _ended_well(self._pump)):
            return
        self._pump = self._loop.create_task(self._run())
        self._pump.add_done_callback(self._ended)

    def _ended(self, pump: "asyncio.Task[None]") -> None:
        # `flush` says what went wrong; until then the node is told that it works in vain.
        self._problem = None if pump.cancelled() else pump.exception()
        if self._problem is not None and self.on_failure is not None:
            self.on_failure()

    async def _run(self) -> None:
        """Commits one after the other until nothing is pending."""
        while not self._is_closed and await self._commit_one():
            if not self._is_closed:
                await asyncio.sleep(INTERVAL)

    async def _commit_one(self) -> bool:
        with self._lock:
            pair = next(iter(self._pending), None)
            if pair is None:
                return False
            value = self._pending.pop(pair)
        self._is_committing = True
        try:
            await self._commit(*pair, value)
        finally:
            self._is_committing = False
        return True

    async def flush(self) -> None:
        """Commits what is still pending, without the pauses; after it nothing is committed any more.

        Raises what an earlier commit raised.
        """
        if not self._pairs:
            return
        await self.stop()
        if self._problem is not None:
            raise self._problem
        while await self._commit_one():
            pass

    async def stop(self) -> None:
        self._is_closed = True
        pump, self._pump = self._pump, None
        if pump is None:
            return
        if not self._is_committing:
            pump.cancel()
        # A commit under way is finished, not torn, even where this wait is cancelled.
        await asyncio.wait({pump})


def _ended_well(pump: "asyncio.Task[None]") -> bool:
    return pump.done() and not pump.cancelled() and pump.exception() is None


def _checked(type: str, key: str, data: Mapping[str, Any]) -> Value:
    for given, grammar, what in ((type, ids.UPDATE_TYPE, "type"), (key, ids.UPDATE_KEY, "key")):
        if not isinstance(given, str) or grammar.fullmatch(given) is None:
            raise PayloadError(what, f"a text that matches {grammar.pattern}", repr(given))
    if not isinstance(data, Mapping):
        raise PayloadError("$", "an object", f"a {data.__class__.__name__}")
    plain = dict(data)
    if type == PROGRESS:
        # Only who publishes progress pays for the arithmetic that comes with it.
        from lockgate.flow.progress import read_progress

        plain = {"status": "running", **plain}
        read_progress(plain)
    return value_of(plain, limit=MAX_BYTES)
