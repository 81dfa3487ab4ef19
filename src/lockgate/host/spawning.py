"""Making a worker's process, by exec: in its own session, with one inherited descriptor and no database."""

import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

OWN_PREFIX = "LOCKGATE_"


@dataclass(frozen=True, slots=True)
class Spawned:
    """A worker's process with the host's ends of its socket and pipes; it waits for its launch."""

    pid: int
    socket: socket.socket
    stdout: int
    stderr: int
    reap: Callable[[], Awaitable[int | None]]
    """For a process that has ended: its exit code, or a signal's number below zero; None where nobody knows any more.

    Until then its pid, which is also the number of its group, cannot become somebody else's.
    """


class Spawner(Protocol):
    """One way of making workers' processes."""

    @property
    def pid(self) -> int | None:
        """The process that makes them, where that is a child of this one."""

    def prepare(self) -> None:
        """Does what can be done before the first worker is wanted."""

    async def spawn(self) -> Spawned:
        """Raises OSError where no process can be made."""

    def close(self) -> None:
        """Ends what `prepare` began; the workers have been reaped."""


class ByExec:
    """Starts Python anew for every worker."""

    pid = None

    def prepare(self) -> None:
        pass

    async def spawn(self) -> Spawned:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                child = start_python("lockgate.host.worker", theirs, output=subprocess.PIPE, errors=subprocess.PIPE)
            except BaseException:
                ours.close()
                raise
        return _spawned(child, ours)

    def close(self) -> None:
        pass


def _spawned(child: "subprocess.Popen[bytes]", connected: socket.socket) -> Spawned:
    async def reap() -> int:
        return child.wait()

    assert child.stdout is not None
    assert child.stderr is not None
    # Detached from their file objects: the host reads them raw and closes them itself.
    with child.stdout, child.stderr:
        stdout, stderr = os.dup(child.stdout.fileno()), os.dup(child.stderr.fileno())
    return Spawned(child.pid, connected, stdout, stderr, reap)


def start_python(
    module: str, inherited: socket.socket, *, output: int, errors: int | None
) -> "subprocess.Popen[bytes]":
    """Starts `python -m MODULE FD`, which inherits the one descriptor, in a session of its own. Raises OSError."""
    return subprocess.Popen(
        [sys.executable, "-P", "-u", "-m", module, str(inherited.fileno())],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        env=worker_environment(os.environ),
        pass_fds=(inherited.fileno(),),
        start_new_session=True,
    )


def worker_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The host's environment without its own settings: a workflow must not inherit the store's path by accident.

    The run is set by the worker, node and attempt by the engine, as each one starts.
    """
    return {name: value for name, value in environment.items() if not name.startswith(OWN_PREFIX)}


def packed(environment: Mapping[str, str]) -> bytes:
    """NAME=value, each followed by a NUL, in the bytes of the system."""
    return b"".join(os.fsencode(f"{name}={value}\0") for name, value in environment.items())


def unpacked(environment: bytes) -> dict[bytes, bytes]:
    pairs = (one.partition(b"=") for one in environment.split(b"\0") if one)
    return {name: value for name, _, value in pairs}
