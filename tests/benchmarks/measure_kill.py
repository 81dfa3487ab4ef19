"""kill -9 of a host and of all its workers: how long until every run goes again under a new host."""

import os
import signal
import subprocess
import time

from tests.benchmarks.figures import Figure
from tests.benchmarks.loops import SLOW
from tests.benchmarks.machine import children
from tests.benchmarks.setting import Setting
from tests.benchmarks.stage import Project, start_host, stop, until

RUNS, KILLS = 4, 5
_NEWEST = "SELECT ifnull(max(event_seq), 0) FROM events"
_GOING = """SELECT count(DISTINCT run_id) FROM events WHERE type = 'node_started' AND event_seq > ?"""


def measure(setting: Setting) -> list[Figure]:
    with setting.place("kill") as place:
        project = Project(place, "slow", SLOW)
        project.start(RUNS)
        process = start_host(project)
        seconds = []
        try:
            until(lambda: project.number(_GOING, 0) == RUNS)
            for _ in range(setting.size(KILLS)):
                time.sleep(0.3)
                _kill(process)
                seen = project.number(_NEWEST)
                began = time.monotonic()
                process = start_host(project)
                until(lambda: project.number(_GOING, seen) == RUNS)  # noqa: B023
                seconds.append(time.monotonic() - began)
        finally:
            stop(process)
    note = f"the longest of {len(seconds)} kills; from the exec of the new host until each of {RUNS} runs is in a node"
    return [
        Figure(
            name="every run going again",
            value=max(seconds),
            unit="s",
            at_most=2,
            rounds=tuple(seconds),
            note=note,
        )
    ]


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """The whole tree at once: the host, its workers, and what launches them."""
    tree = [process.pid]
    for pid in tree:
        tree += children(pid)
    for pid in tree:
        os.kill(pid, signal.SIGKILL)
    process.wait()
