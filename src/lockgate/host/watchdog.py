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


def watch_host(connected: socket.socket) -> threading.Thread:
    """Starts the watch over this process's own group; it never ends while the host lives."""
    thread = threading.Thread(target=_watch, args=(connected.fileno(),), name="lockgate-host-watch", daemon=True)
    thread.start()
    return thread


def _watch(descriptor: int) -> None:
    poller = select.poll()
    # Data is not asked for: only the hang-up wakes this thread.
    poller.register(descriptor, getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR)
    while not poller.poll():
        pass
    end_own_group()


def end_own_group() -> None:
    """TERM to the group, a grace, KILL; this process handles TERM itself and dies by the KILL."""
    os.killpg(os.getpgrp(), signal.SIGTERM)
    time.sleep(GRACE_S)
    os.killpg(os.getpgrp(), signal.SIGKILL)
