"""The host's side of the fork server: one process that has done a worker's imports, and forks when it is asked.

The host itself never forks, because it has the database open. It starts the server by exec, before it opens the
store, and again when the server has died; the workers of a dead one go on.
"""

import asyncio
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import partial

from lockgate.host.spawning import ByExec, Spawned, Spawner, start_python
from lockgate.host.zygote import FORK, REAP

log = logging.getLogger("lockgate.host")

START_S = 10.0
"""How long a server may take for its first answer: it does its imports before."""

ANSWER_S = 2.0
"""How long it may take for every other one."""

MOST_STARTS = 3
"""After so many servers in a row that never answered, every worker is started by exec."""

_ANSWER_BYTES = 32


class ForkServer:
    """Makes workers by way of a fork server, and by exec where no such server can be had (Linux)."""

    def __init__(self) -> None:
        self._current: _Server | None = None
        self._failed_starts = 0

    @property
    def pid(self) -> int | None:
        return None if self._current is None else self._current.pid

    def prepare(self) -> None:
        """Starts the server; where no process can be made, the launch will say so."""
        with suppress(OSError):
            self._server()

    async def spawn(self) -> Spawned:
        while self._failed_starts < MOST_STARTS:
            server = self._server()
            try:
                return await server.fork()
            except (ConnectionError, TimeoutError):
                log.warning("the fork server (process %d) is gone or silent", server.pid)
                self._failed_starts = 0 if server.has_answered else self._failed_starts + 1
        return await ByExec().spawn()

    def _server(self) -> "_Server":
        if self._current is None or self._current.is_closed:
            self._current = _Server()
        return self._current

    def close(self) -> None:
        if self._current is not None:
            self._current.close()


def spawner(*, fork_server: bool) -> Spawner:
    return ForkServer() if fork_server and sys.platform == "linux" else ByExec()


class _Server:
    """One process of `lockgate.host.zygote`; it ends with its control socket. One question at a time."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                self._child = start_python("lockgate.host.zygote", theirs, output=subprocess.DEVNULL, errors=None)
            except BaseException:
                self._control.close()
                raise
        self._control.setblocking(False)
        self._turn = asyncio.Lock()
        self.has_answered = False
        self.pid = self._child.pid
        self.is_closed = False

    async def fork(self) -> Spawned:
        """Raises ConnectionError or TimeoutError where the server is of no use any more, OSError where it is."""
        with ExitStack() as ours, ExitStack() as theirs:
            connected, worker_end = socket.socketpair()
            ours.callback(connected.close)
            theirs.callback(worker_end.close)
            stdout, worker_stdout = _pipe(ours, theirs)
            stderr, worker_stderr = _pipe(ours, theirs)
            pid = await self._ask(FORK, (worker_end.fileno(), worker_stdout, worker_stderr))
            if pid < 0:
                raise OSError(-pid, os.strerror(-pid))
            ours.pop_all()
        return Spawned(pid, connected, stdout, stderr, partial(self._reap, pid))

    async def _reap(self, pid: int) -> int | None:
        with suppress(ConnectionError, TimeoutError):
            return await self._ask(REAP % pid)
        return _status_of_adopted(pid)

    async def _ask(self, order: bytes, descriptors: Sequence[int] = ()) -> int:
        async with self._turn:
            if self.is_closed:
                raise ConnectionResetError("the fork server is gone")
            try:
                async with asyncio.timeout(ANSWER_S if self.has_answered else START_S):
                    socket.send_fds(self._control, [order], descriptors)
                    answer = await asyncio.get_running_loop().sock_recv(self._control, _ANSWER_BYTES)
                if not answer:
                    raise ConnectionResetError("the fork server is gone")
            except BaseException:
                # An answer that nobody waited for would be taken for the next one's.
                self.close()
                raise
            self.has_answered = True
            return int(answer)

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self._control.close()
            self._child.kill()
            self._child.wait()


def _pipe(reading: ExitStack, writing: ExitStack) -> tuple[int, int]:
    reader, writer = os.pipe()
    reading.callback(os.close, reader)
    writing.callback(os.close, writer)
    return reader, writer


def _status_of_adopted(pid: int) -> int | None:
    """The children of a dead server are this process's, if it adopts at all."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return None
