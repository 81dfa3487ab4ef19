"""The store's functions for one-shot commands: the same functions on a connection of this thread, without asyncio."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from lockgate.store.clock import Clock, SystemClock
from lockgate.store.location import default_path
from lockgate.store.openfile import Transaction, open_file

T = TypeVar("T")
_SYSTEM = SystemClock()


def read_once(
    path: Path | None, fn: Callable[[sqlite3.Connection], T], *, remark: Callable[[str], None] | None = None
) -> T:
    """Opens the store for reading, runs `fn` in one read transaction, closes. Raises the store's errors.

    `remark` is told where the store could not be written, or is only a still picture.
    """
    file = open_file(path or default_path(), _SYSTEM, read_only=True)
    try:
        if remark is not None and file.limits is not None:
            remark(file.limits)
        return file.read(fn)
    finally:
        file.close()


def write_once(path: Path | None, fn: Callable[[Transaction], T], *, create: bool = False, clock: Clock = _SYSTEM) -> T:
    """Opens the store, runs `fn` in one write transaction, closes. Raises StoreReadOnly where it cannot write."""
    file = open_file(path or default_path(), clock, create=create)
    try:
        return file.write(fn, clock)
    finally:
        file.close()
