"""A worker that waits for its launch: started before it is needed, because starting Python costs more than a step.

It has done its imports and holds nothing but its socket. It knows no run, so it can take any; it ends with its
host like every worker.
"""

import contextlib
import os
import signal

from lockgate.host.processes import signal_group
from lockgate.host.spawning import Spawned, spawn


class Standby:
    """At most one waiting worker."""

    def __init__(self) -> None:
        self._waiting: Spawned | None = None

    @property
    def pid(self) -> int | None:
        return self._waiting.pid if self._waiting is not None else None

    def prepare(self) -> None:
        """Starts the next worker, if none waits; where no process can be made, the launch will say so."""
        if self._waiting is None:
            with contextlib.suppress(OSError):
                self._waiting = spawn(os.environ)

    def take(self) -> Spawned:
        """The waiting worker if it still lives, else a new one. Raises OSError where no process can be made."""
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return spawn(os.environ)
        if waiting.child.poll() is None:
            return waiting
        waiting.close()
        return spawn(os.environ)

    def close(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            signal_group(waiting.pid, signal.SIGKILL)
            waiting.child.wait()
            waiting.close()
