"""The worker's own end when its host is gone: a thread that no user code can keep busy.

A host that was killed cannot stop its workers, and a worker without a host can commit nothing: what it still
does would only repeat later. So the socket's hang-up ends the worker's whole process group within two seconds.
"""

import os
import select
import signal
import socket
import threading
import time

GRACE_S = 1.0
"""Between TERM and KILL; the promise is two seconds from the hang-up."""

LOOK_MS = 1_000
"""How often the socket itself is looked for: code that closes every descriptor has closed it unheard, as a call that
waits for it keeps it open."""


def watch_host(connected: socket.socket) -> threading.Thread:
    """Starts the watch over this process's own group; it never ends while the host lives."""
    # Known before any code of the run's could close it.
    watched = (connected.fileno(), _identity(connected.fileno()))
    thread = threading.Thread(target=_watch, args=watched, name="lockgate-host-watch", daemon=True)
    thread.start()
    return thread


def _watch(descriptor: int, socket_id: tuple[int, int] | None) -> None:
    poller = select.poll()
    # Data is not asked for: only the hang-up wakes this thread.
    poller.register(descriptor, getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR)
    while _identity(descriptor) == socket_id and not poller.poll(LOOK_MS):
        pass
    end_own_group()


def _identity(descriptor: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def end_own_group() -> None:
    """TERM to the group, a grace, KILL; this process handles TERM itself and dies by the KILL."""
    os.killpg(os.getpgrp(), signal.SIGTERM)
    time.sleep(GRACE_S)
    os.killpg(os.getpgrp(), signal.SIGKILL)
