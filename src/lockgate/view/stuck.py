"""Which running attempts take far longer than their node usually does.

Stuck is an attempt that works for more than three times the 95th percentile of the node's last 200 finished
attempts, and for more than a minute. A node that finished fewer than ten times has no usual time.
"""

from statistics import median, quantiles
from typing import TYPE_CHECKING

from lockgate.flow.words import word
from lockgate.model.records import Now, Run
from lockgate.model.statuses import Clock, Word
from lockgate.store import reads
from lockgate.view.times import MINUTE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

LEAST_FINISHED = 10
FACTOR = 3
KEPT_MS = MINUTE


class Usual:
    """The usual working times of nodes, each read at most once a minute."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[int, int, int]] = {}

    def read(self, connection: "sqlite3.Connection", runs: "Sequence[Run]", now: Now) -> None:
        """Reads what is usual for the nodes that run now and is not known yet, or no longer."""
        for run in runs:
            if run.current is None or word(run, now) is not Word.RUNNING or _working_ms(run, now) < MINUTE:
                continue
            place = (run.workflow, run.current.node)
            read_at = self._known.get(place, (0, 0, 0))[2]
            if place in self._known and now.mono_ms - read_at < KEPT_MS:
                continue
            limit, middle = _usual(reads.usual_durations(connection, *place))
            self._known[place] = (limit, middle, now.mono_ms)

    def slower(self, run: Run, now: Now) -> float | None:
        """How many times slower than usual the run's attempt is, where that is stuck; else None."""
        if run.current is None or word(run, now) is not Word.RUNNING:
            return None
        limit, middle, _ = self._known.get((run.workflow, run.current.node), (0, 0, 0))
        working = _working_ms(run, now)
        if not limit or working <= limit:
            return None
        return working / max(middle, 1)


def _working_ms(run: Run, now: Now) -> int:
    return max(now.wall_ms - run.clock_since, 0) if run.clock is Clock.ACTIVE else 0


def _usual(durations: list[int]) -> tuple[int, int]:
    """The limit beyond which an attempt is stuck and the median, in ms; zeros where too few have finished."""
    if len(durations) < LEAST_FINISHED:
        return 0, 0
    high = int(quantiles(durations, n=20, method="inclusive")[-1])
    return max(FACTOR * high, MINUTE), int(median(durations))
