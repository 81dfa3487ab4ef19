"""What a host costs while nothing happens and 1,000 runs wait for people."""

import time

from tests.benchmarks.figures import Figure
from tests.benchmarks.fixture import make
from tests.benchmarks.loops import SLOW
from tests.benchmarks.machine import children, memory_mb, usage
from tests.benchmarks.setting import Setting
from tests.benchmarks.stage import Project, host

RUNS, SETTLE_S, WATCH_S = 1_000, 3.0, 30.0


def measure(setting: Setting) -> list[Figure]:
    with setting.place("parked") as place:
        project = Project(place, "slow", SLOW)
        runs = setting.size(RUNS, 20)
        make(project.store, runs=runs, waiting=runs, long_steps=0)
        with host(project) as process:
            time.sleep(SETTLE_S)
            tree = [process.pid, *children(process.pid)]
            before = [usage(pid) for pid in tree]
            time.sleep(max(2.0, WATCH_S * setting.share))
            share = sum(usage(pid).share_since(then) for pid, then in zip(tree, before, strict=True))
            memory = sum(memory_mb(pid) for pid in tree)
    note = f"{runs} parked runs; with all child processes"
    return [
        Figure(name="an idle host", value=share, unit="% of a core", at_most=0.2, note=note),
        Figure(name="an idle host's memory", value=memory, unit="MB", note=note),
    ]
