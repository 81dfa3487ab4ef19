"""The worker that takes the next run: made before it is needed, so that a claim already names its process.

It has done its imports, waits for its launch and holds nothing but its socket. It knows no run, so it can take
any; it ends with its host like every worker.
"""

import os
import signal
from contextlib import ExitStack

from lockgate.host.processes import ProcessIdentity, identify, is_alive, signal_group
from lockgate.host.spawning import Spawned, Spawner

SPARE = 16
"""How many descriptors a worker leaves to its host, for the store, for /proc, and for the end of the others."""


class Standby:
    """At most one waiting worker."""

    def __init__(self, spawner: Spawner) -> None:
        self._spawner = spawner
        self._waiting: Spawned | OSError | None = None
        self._process: ProcessIdentity | None = None

    @property
    def pids(self) -> frozenset[int | None]:
        """Children of this process that are no run's worker."""
        waiting = self._waiting.pid if isinstance(self._waiting, Spawned) else None
        return frozenset({self._spawner.pid, waiting})

    @property
    def has_failed(self) -> bool:
        """Whether the system would not make the worker that waits to be one."""
        return isinstance(self._waiting, OSError)

    async def prepare(self) -> ProcessIdentity | None:
        """Sees to it that a living worker waits; its process, None where none can be made."""
        if isinstance(self._waiting, Spawned) and (self._process is None or not _lives(self._process)):
            await self.close()
        if not isinstance(self._waiting, Spawned):
            try:
                _require_spare()
                self._waiting = await self._spawner.spawn()
                self._process = identify(self._waiting.pid)
            except OSError as error:
                self._waiting, self._process = error, None
        return self._process

    def take(self) -> Spawned | OSError:
        """The worker that `prepare` has named, or why there is none."""
        waiting, self._waiting = self._waiting, None
        assert waiting is not None
        return waiting

    async def close(self) -> None:
        waiting, self._waiting = self._waiting, None
        if isinstance(waiting, Spawned):
            signal_group(waiting.pid, signal.SIGKILL)
            await waiting.reap()
            waiting.socket.close()
            os.close(waiting.stdout)
            os.close(waiting.stderr)


def _lives(process: ProcessIdentity) -> bool:
    return is_alive(process.pid, process.start)


def _require_spare() -> None:
    """Raises OSError where a worker would take the last descriptors."""
    with ExitStack() as opened:
        for _ in range(SPARE):
            opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))
