"""Starting a worker's process: by exec, in its own session, with one inherited descriptor and no database."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping

OWN_PREFIX = "LOCKGATE_"


class Spawned:
    """A worker's process with the host's ends of its socket and pipes; reaping it is the caller's."""

    def __init__(self, child: "subprocess.Popen[bytes]", connected: socket.socket) -> None:
        assert child.stdout is not None
        assert child.stderr is not None
        self.child = child
        self.pid = child.pid
        self.socket = connected
        # Detached from their file objects: the host reads them raw and closes them itself.
        self.stdout = os.dup(child.stdout.fileno())
        self.stderr = os.dup(child.stderr.fileno())
        child.stdout.close()
        child.stderr.close()

    def close(self) -> None:
        """For a process that was never used: nobody else has taken its descriptors over."""
        self.socket.close()
        os.close(self.stdout)
        os.close(self.stderr)


def spawn(environment: Mapping[str, str]) -> Spawned:
    """Starts `python -m lockgate.host.worker`, which waits for its launch. Raises OSError."""
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            child = subprocess.Popen(
                [sys.executable, "-P", "-u", "-m", "lockgate.host.worker", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=worker_environment(environment),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise
    return Spawned(child, ours)


def worker_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The host's environment without its own settings: a workflow must not inherit the store's path by accident.

    The run is set by the worker, node and attempt by the engine, as each one starts.
    """
    return {name: value for name, value in environment.items() if not name.startswith(OWN_PREFIX)}
