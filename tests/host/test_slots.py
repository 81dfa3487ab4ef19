"""A slot is taken while a run is executed: never by more runs than there are, and not by a worker that only leaves."""

import os
import resource
import sys

import pytest

from lockgate.host.standby import SPARE
from tests.host.bench import Bench, fork_server_of

LEAVES_SLOWLY = """
def leave(code):
    log("leaves")
    wait_for("never")
def work(ctx):
    os._exit = leave
    return {}
flow = Workflow("slow", start="n", nodes={"n": compute(work)})
"""
OVERLAPS = """
def work(ctx):
    log("in")
    time.sleep(0.02)
    log("out")
    return {}
flow = Workflow("overlaps", start="n", nodes={"n": compute(work)})
"""


def test_a_worker_that_only_has_to_exit_holds_no_slot(bench: Bench) -> None:
    first = bench.start(bench.write(LEAVES_SLOWLY))
    second = bench.start(bench.write(OVERLAPS, "other.py"))
    with bench.host(max_workers=1, drain=True) as host:
        assert host.wait(timeout=15) == 0
    assert bench.log() == ["leaves", "in", "out"]
    workers = bench.rows("SELECT run_id, started_at, finished_at FROM run_workers ORDER BY started_at")
    assert [row[0] for row in workers] == [first, second]
    assert workers[1][1] < workers[0][2], "the second was claimed while the first one's worker was there"


def test_no_more_runs_are_executed_than_there_are_slots(bench: Bench) -> None:
    file = bench.write(OVERLAPS)
    for _ in range(8):
        bench.start(file)
    with bench.host(max_workers=2, drain=True) as host:
        assert host.wait(timeout=30) == 0
    at_once = [bench.log()[: place + 1].count("in") - bench.log()[:place].count("out") for place in range(16)]
    assert len(bench.log()) == 16
    assert max(at_once) <= 2


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux sets the limits of another process")
def test_a_host_whose_descriptors_are_used_up_lets_its_runs_wait(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    file = bench.write(OVERLAPS.replace("0.02", "0.3"))
    made = bench.definition(file)
    monkeypatch.setattr(bench, "definition", lambda _: made)
    first = bench.start(file)
    with bench.host(max_workers=16, quiet=True) as host:
        bench.until_status(first, "completed")
        fork_server_of(host.pid)
        used = len(os.listdir(f"/proc/{host.pid}/fd"))
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.prlimit(host.pid, resource.RLIMIT_NOFILE, (used + SPARE + 14, hard))
        for run_id in [bench.start(file) for _ in range(12)]:
            run = bench.until_status(run_id, "completed")
            assert run.losses == 0
