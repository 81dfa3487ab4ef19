"""The one retry rule for a locked store: short random pauses until a deadline, then StoreBusy.

SQLite's own busy handler backs off to long sleeps and starves a person's click behind a busy host, so
busy_timeout is 0 and every statement that can meet a lock is run through here.
"""

import random
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from lockgate.model.errors import StoreBusy

T = TypeVar("T")

DEADLINE_MS = 5_000
_SHORTEST, _LONGEST = 0.0002, 0.001
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


def is_busy(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(code, int) and (code & 0xFF) in _BUSY


class Patience:
    """Waits for a lock on behalf of one connection; `give_up` ends every wait at once."""

    def __init__(self, path: str, deadline_ms: int = DEADLINE_MS) -> None:
        self.path = path
        self.deadline_ms = deadline_ms
        self._quitting = threading.Event()

    def give_up(self) -> None:
        """For quitting: a wait that is under way raises StoreBusy instead of going on."""
        self._quitting.set()

    def until_free(self, attempt: Callable[[], T]) -> T:
        """The result of `attempt`, repeated while the store is locked. Raises StoreBusy after the deadline."""
        began = 0.0
        while True:
            try:
                return attempt()
            except sqlite3.OperationalError as error:
                if not is_busy(error):
                    raise
                began = began or time.monotonic()
                waited_ms = int((time.monotonic() - began) * 1000)
                if waited_ms >= self.deadline_ms:
                    raise StoreBusy(self.path, waited_ms) from error
                if self._quitting.wait(random.uniform(_SHORTEST, _LONGEST)):
                    raise StoreBusy(self.path, waited_ms) from error
