"""From a commit of another process to the wake-up of a follower, and what a follower costs while nothing happens."""

import json
import time
from bisect import bisect_left
from pathlib import Path

from tests.benchmarks.figures import Figure, quantile
from tests.benchmarks.fixture import make
from tests.benchmarks.machine import usage
from tests.benchmarks.setting import Setting
from tests.benchmarks.stage import companion, line_of

COMMITS, IDLE_S, SETTLE_S = 2_000, 20.0, 2.0
LEAST_MS, MOST_MS = 6, 14


def measure(setting: Setting) -> list[Figure]:
    with setting.place("wake") as place:
        path = place / "store" / "state.sqlite"
        make(path, runs=40, waiting=8, long_steps=0)
        commits, wakes, idle = _watch(path, setting.size(COMMITS, 50), max(1.0, IDLE_S * setting.share))
    delays, missed = _delays(commits, wakes)
    return [
        Figure(name="commit elsewhere to wake-up, p50", value=quantile(delays, 0.5), unit="ms", at_most=2),
        Figure(name="commit elsewhere to wake-up, p99", value=quantile(delays, 0.99), unit="ms", at_most=10),
        Figure(name="commits missed", value=missed, unit="commits", at_most=0, note=f"of {len(commits)}"),
        Figure(name="a follower of an idle store", value=idle, unit="% of a core", at_most=0.1),
    ]


def _watch(path: Path, count: int, idle_s: float) -> tuple[list[list[int]], list[list[int]], float]:
    with companion("following", str(path)) as follower, companion("writing", str(path)) as writer:
        assert line_of(follower) == "ready"
        assert line_of(writer) == "ready"
        assert writer.stdin is not None
        assert follower.stdin is not None
        time.sleep(SETTLE_S)
        before = usage(follower.pid)
        time.sleep(idle_s)
        idle = usage(follower.pid).share_since(before)
        writer.stdin.write(f"{count} {LEAST_MS} {MOST_MS}\n")
        writer.stdin.flush()
        commits = json.loads(line_of(writer))
        time.sleep(0.2)
        follower.stdin.write("end\n")
        follower.stdin.flush()
        return commits, json.loads(line_of(follower)), idle


def _delays(commits: list[list[int]], wakes: list[list[int]]) -> tuple[list[float], int]:
    """Milliseconds from each commit to the first wake-up that covers it; those that none covers are missed."""
    seqs = [seq for seq, _ in wakes]
    delays, missed = [], 0
    for seq, at in commits:
        place = bisect_left(seqs, seq)
        if place == len(wakes):
            missed += 1
        else:
            delays.append(max(0, wakes[place][1] - at) / 1e6)
    return delays, missed
