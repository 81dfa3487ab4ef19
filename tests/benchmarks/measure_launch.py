"""Launches: from a claim to the worker's first committed proposal, and many short runs on four slots."""

import time
from statistics import median

from tests.benchmarks.figures import Figure, middle, quantile
from tests.benchmarks.loops import CHAIN
from tests.benchmarks.rivals import queue_seconds
from tests.benchmarks.setting import Setting
from tests.benchmarks.stage import Project, host, until

LAUNCHES, RUNS, STEPS, SLOTS = 60, 200, 10, 4

_GAPS = """
SELECT b.at - a.at FROM events a JOIN events b ON b.run_id = a.run_id AND b.type = 'node_started'
WHERE a.type = 'run_claimed' AND b.seq = (SELECT min(seq) FROM events WHERE run_id = a.run_id AND type = 'node_started')
"""


def measure(setting: Setting) -> list[Figure]:
    launches = _launches(setting)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(max(1, min(3, setting.pairs))):
        ours.append(_many(setting))
        if setting.peers is not None:
            with setting.place("dbos") as place:
                theirs.append(queue_seconds(setting.peers, place, STEPS, setting.size(RUNS, 4), SLOTS))
    note = "from run_claimed to the first node_started, one launch after the other; whole milliseconds"
    figures = [
        Figure(name="launch to first proposal, p50", value=median(launches), unit="ms", at_most=15, note=note),
        Figure(name="launch to first proposal, p99", value=quantile(launches, 0.99), unit="ms"),
        middle(f"{setting.size(RUNS, 4)} runs x {STEPS} steps on {SLOTS} slots", ours, "s", at_most=4),
    ]
    if theirs:
        rounds = [b / a for a, b in zip(ours, theirs, strict=True)]
        figures.append(middle("the same by DBOS's queue", theirs, "s"))
        figures.append(middle("DBOS's seconds / ours", rounds, "x", at_least=1))
    return figures


def _launches(setting: Setting) -> list[float]:
    with setting.place("launch") as place:
        project = Project(place, "chain", CHAIN.format(steps=1))
        runs = setting.size(LAUNCHES, 4)
        project.start(runs)
        with host(project, "--max-workers", "1", "--drain") as process:
            process.wait(300)
        gaps = [row[0] for row in project.rows(_GAPS)]
        assert len(gaps) == runs, f"{len(gaps)} of {runs}"
        return [float(gap) for gap in gaps if isinstance(gap, int)]


def _many(setting: Setting) -> float:
    """Seconds from the first start to the end of the last run, the host being up and idle before."""
    with setting.place("many") as place:
        project = Project(place, "chain", CHAIN.format(steps=STEPS))
        project.start(1)
        runs = setting.size(RUNS, 4)
        with host(project, "--max-workers", str(SLOTS)):
            done = "SELECT count(*) FROM runs WHERE status = 'completed'"
            until(lambda: project.number(done) == 1, every=0.05)
            began = time.monotonic()
            for _ in range(runs):
                project.start_one()
            until(lambda: project.number(done) == runs + 1, within=300, every=0.01)
            return time.monotonic() - began
