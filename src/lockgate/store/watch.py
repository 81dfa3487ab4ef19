"""The one source of change: `PRAGMA data_version` on a connection that never writes, woken by inotify on Linux.

At synchronous=FULL the file event comes before the commit is visible, so a wake is followed by a burst of looks
until the version has moved. A look once a second is the net under all of it; without inotify it is ten a second.
"""

import asyncio
import contextlib
import os
import struct
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lockgate.store.openfile import OpenFile
from lockgate.store.thread import OwnedConnection

_BURST = (0.0, 0.0002, 0.0003, *[0.0005] * 8, *[0.001] * 15, *[0.002] * 15)
"""The pauses between the looks after a wake: an fsync may take long, and what it delays is seen at once."""

_NET_SECONDS = 1.0
_POLL_SECONDS = 0.1
_EVENT = struct.Struct("iIII")


class Watcher:
    """Tells when another connection has committed; rests for `pause` seconds after each time it did."""

    def __init__(self, connection: OwnedConnection, path: Path, pause: float) -> None:
        self._connection = connection
        self._path = path
        self._pause = pause
        self._woken = asyncio.Event()
        self._version: int | None = None
        self._rested = False
        self._inotify = _notifier(path.parent)
        self._period = _POLL_SECONDS if self._inotify is None else _NET_SECONDS

    async def changed(self) -> None:
        """Returns once the store has changed since the last time this returned. Raises the store's errors."""
        if self._rested:
            # Whatever happened during the rest woke nobody.
            self._rested = False
            if await self._connection.run(self._look_once):
                return
        while True:
            self._listen()
            try:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._period):
                        await self._woken.wait()
            finally:
                self._deafen()
            look = self._look_long if self._woken.is_set() else self._look_once
            self._woken.clear()
            if await self._connection.run(look):
                return

    async def begin(self) -> None:
        """Takes the present version as seen: what is read after this is compared with it."""
        await self._connection.run(self._look_once)

    async def rest(self) -> None:
        """The pause in which further changes gather; the listening is off, which is what a tight writer costs."""
        await asyncio.sleep(self._pause)
        self._rested = True

    def wake(self) -> None:
        """For writes of this process: look at once."""
        self._woken.set()

    def close(self) -> None:
        self._deafen()
        if self._inotify is not None:
            self._inotify.close()
            self._inotify = None

    def _listen(self) -> None:
        if self._inotify is not None:
            asyncio.get_running_loop().add_reader(self._inotify.fd, self._heard)

    def _deafen(self) -> None:
        if self._inotify is not None:
            asyncio.get_running_loop().remove_reader(self._inotify.fd)

    def _heard(self) -> None:
        assert self._inotify is not None
        with contextlib.suppress(BlockingIOError):
            if _names_any(os.read(self._inotify.fd, 1 << 16), self._path.name):
                self._woken.set()

    def _look_once(self, file: OpenFile) -> bool:
        return self._look(file, (0.0,))

    def _look_long(self, file: OpenFile) -> bool:
        return self._look(file, _BURST)

    def _look(self, file: OpenFile, burst: Sequence[float]) -> bool:
        """On the watcher's thread: whether the version has moved, looked at until it has or the burst is over."""
        for delay in burst:
            if delay:
                time.sleep(delay)
            version = file.patience.until_free(lambda: file.connection.execute("PRAGMA data_version").fetchone()[0])
            if version != self._version:
                self._version = version
                return True
        file.anchor.check()
        return False


def _notifier(directory: Path) -> Any:
    """An inotify handle on the directory of the store, or None where there is none to have."""
    if sys.platform != "linux":
        return None
    from asyncinotify import Inotify, Mask

    try:
        inotify = Inotify()
    except OSError:
        return None
    try:
        inotify.add_watch(directory, Mask.MODIFY | Mask.CREATE | Mask.DELETE | Mask.MOVE)
    except OSError:
        inotify.close()
        return None
    return inotify


def _names_any(data: bytes, name: str) -> bool:
    """Whether any of these events is about the store's files; a lost event counts as one."""
    wanted = os.fsencode(name)
    at = 0
    while at + _EVENT.size <= len(data):
        watch, _, _, length = _EVENT.unpack_from(data, at)
        at += _EVENT.size
        if watch < 0 or data[at : at + length].startswith(wanted):
            return True
        at += length
    return False
