"""Starting a worker's process: by exec, in its own session, with one inherited descriptor and no database."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping

RUN_MARK = "LOCKGATE_RUN_ID"
NODE_MARK = "LOCKGATE_NODE"
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


def spawn(run_id: str, *, environment: Mapping[str, str]) -> Spawned:
    """Starts `python -m lockgate.host.worker`. Raises OSError where no process can be made."""
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            child = subprocess.Popen(
                [sys.executable, "-P", "-u", "-m", "lockgate.host.worker", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=worker_environment(environment, run_id),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise
    return Spawned(child, ours)


def worker_environment(environment: Mapping[str, str], run_id: str) -> dict[str, str]:
    """The host's environment without its own settings: a workflow must not inherit the store's path by accident.

    Node and attempt are set by the engine as each one starts.
    """
    kept = {name: value for name, value in environment.items() if not name.startswith(OWN_PREFIX)}
    return {**kept, RUN_MARK: run_id}
