"""kill -9 of the worker, of the host, of both: nothing finished runs again, and every run goes on at once."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from lockgate.host.processes import identify
from lockgate.model.records import Human
from lockgate.store import commands
from tests.host.bench import Bench, kill, until

STEPS = """
def first(ctx):
    log("first")
    return {"n": 1}

def slow(ctx):
    log(f"slow {os.getpid()}")
    wait_for("go")
    return {"n": ctx.outputs["first"]["n"] + 1}

def last(ctx):
    log("last")
    return ctx.outputs["slow"]

flow = Workflow("steps", start="first", nodes={"first": compute(first), "slow": compute(slow), "last": compute(last)},
    edges=[edge("first", "slow"), edge("slow", "last")])
"""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def slow_pids(bench: Bench) -> list[int]:
    return [int(line.split()[1]) for line in bench.log() if line.startswith("slow ")]


def until_slow(bench: Bench, times: int = 1, within_s: float = 15.0) -> int:
    return until(lambda: slow_pids(bench) if len(slow_pids(bench)) >= times else None, "slow", within_s)[-1]


def check_each_once(bench: Bench, run_id: str) -> None:
    run = bench.until_status(run_id, "completed")
    assert run.steps == 3
    assert bench.log().count("first") == 1
    assert bench.log().count("last") == 1


def test_a_worker_killed_in_the_middle_of_a_step(bench: Bench) -> None:
    run_id = bench.start(bench.write(STEPS))
    with bench.host():
        kill(until_slow(bench))
        until_slow(bench, times=2)
        bench.touch("go")
        check_each_once(bench, run_id)
        assert bench.events(run_id).count("run_interrupted") == 1
        assert bench.run(run_id).losses == 0


def test_a_host_killed_leaves_no_worker_and_the_next_one_goes_on(bench: Bench) -> None:
    runs = [bench.start(bench.write(STEPS, f"flow{index}.py")) for index in range(3)]
    with bench.host() as host:
        until_slow(bench, times=3)
        before = slow_pids(bench)
        kill(host.pid)
        host.wait()
    with bench.host():
        begun = time.monotonic()
        until_slow(bench, times=6)
        assert time.monotonic() - begun < 2.0 + 1.0, "the host's own start is in it"
        assert [pid for pid in before if identify(pid) is not None] == []
        bench.touch("go")
        for run_id in runs:
            bench.until_status(run_id, "completed")
    assert bench.log().count("first") == 3
    assert bench.log().count("last") == 3
    for run_id in runs:
        causes = bench.rows(
            "SELECT payload ->> 'cause', payload ->> 'counted' FROM events "
            "WHERE type = 'run_interrupted' AND run_id = ?",
            run_id,
        )
        assert causes == [("host_lost", 0)]


def test_host_and_worker_killed_together(bench: Bench) -> None:
    run_id = bench.start(bench.write(STEPS))
    with bench.host() as host:
        worker = until_slow(bench)
        kill(host.pid)
        kill(worker)
        host.wait()
    with bench.host():
        until_slow(bench, times=2)
        bench.touch("go")
        check_each_once(bench, run_id)


FORKS = """
import multiprocessing
def sits():
    time.sleep(60)
def forks(ctx):
    if ctx.state.attempt_number == 1:
        child = multiprocessing.get_context("fork").Process(target=sits)
        child.start()
        log(f"slow {os.getpid()} {child.pid}")
    wait_for("go")
    return {}
flow = Workflow("forks", start="forks", nodes={"forks": compute(forks)})
"""


@pytest.mark.skipif(sys.platform != "linux", reason="sessions are looked at in /proc")
def test_what_a_killed_worker_had_forked_is_gone_before_the_run_goes_on(bench: Bench) -> None:
    run_id = bench.start(bench.write(FORKS))
    with bench.host() as host:
        worker = until_slow(bench)
        forked = int(bench.log()[0].split()[2])
        kill(host.pid)
        kill(worker)
        host.wait()
    assert identify(forked) is not None, "a fork carries no mark, and its group's leader is dead"
    bench.touch("go")
    with bench.host():
        bench.until_status(run_id, "completed")
        assert identify(forked) is None


def test_three_losses_block_the_run_with_what_the_worker_said(bench: Bench) -> None:
    run_id = bench.start(
        bench.write(
            """
            def dies(ctx):
                print("the last words", file=sys.stderr)
                os._exit(9)
            flow = Workflow("dies", start="dies", nodes={"dies": compute(dies)})
            """
        )
    )
    with bench.host():
        run = bench.until_blocked(run_id)
    assert run.error_code == "worker_lost"
    assert run.error_summary == "the worker ended with exit code 9"
    tails = bench.stderr(run_id)
    assert len(tails) == 3
    assert all("the last words" in tail for tail in tails)


DECISION = """
def ask(ctx):
    log("asked")
    return Ask(title="Really?", summary="All of it.")
def after(ctx):
    log(f"after {ctx.outputs['approve']['choice']} {os.getpid()}")
    wait_for("go")
    return {}
flow = Workflow("decide", start="approve", nodes={
    "approve": human_decision(audience="operator", choices={"yes": choice("Yes"), "no": choice("No")}, request=ask),
    "after": compute(after), "stopped": compute(lambda ctx: {})},
    edges=[decision_edge("approve", {"yes": "after", "no": "stopped"})])
"""


def test_a_decision_survives_every_kill_and_is_never_asked_again(bench: Bench) -> None:
    run_id = bench.start(bench.write(DECISION))
    with bench.host() as host:
        bench.until_status(run_id, "waiting")
        kill(host.pid)
        host.wait()
    request_id, digest = bench.rows("SELECT request_id, digest FROM requests WHERE run_id = ?", run_id)[0]
    receipt = bench.command(commands.answer, request_id, "yes", text=None, digest=digest, human=Human.for_test())
    assert receipt.outcome == "accepted"
    with bench.host() as host:
        until(lambda: any(line.startswith("after yes") for line in bench.log()), "after")
        os.kill(bench.worker_pid(run_id), signal.SIGKILL)
        until(lambda: sum(line.startswith("after yes") for line in bench.log()) == 2, "after again")
        kill(host.pid)
        host.wait()
    bench.touch("go")
    with bench.host():
        bench.until_status(run_id, "completed")
    assert bench.log().count("asked") == 1
    assert bench.rows("SELECT count(*) FROM human_decision_resolutions") == [(1,)]
    assert bench.events(run_id).count("decision_requested") == 1
