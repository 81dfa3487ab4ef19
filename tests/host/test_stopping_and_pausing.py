"""Pause lets the node finish, pause --now and cancel stop it, a host that stops gives back; no such loss counts."""

import signal
import time

from lockgate.host.processes import identify
from lockgate.model.records import Human
from lockgate.store import commands
from tests.host.bench import Bench, until

STEPS = """
def first(ctx):
    log(f"first {os.getpid()}")
    wait_for("go")
    return {}
def second(ctx):
    log("second")
    return {}
flow = Workflow("steps", start="first", nodes={"first": compute(first), "second": compute(second)},
    edges=[edge("first", "second")])
"""

STUBBORN = """
import signal
import time
def first(ctx):
    import subprocess
    child = subprocess.Popen([sys.executable, "-c",
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"],
        stdout=subprocess.PIPE, start_new_session=True)
    child.stdout.readline()
    log(f"first {os.getpid()} {child.pid}")
    while True:
        sum(range(100))
flow = Workflow("stubborn", start="first", nodes={"first": compute(first)})
"""


def logged_pids(bench: Bench) -> list[int]:
    line = until(lambda: next((line for line in bench.log() if line.startswith("first")), None), "first")
    return [int(word) for word in line.split()[1:]]


def losses(bench: Bench, run_id: str) -> list[tuple[object, ...]]:
    query = (
        "SELECT json_extract(payload, '$.cause'), json_extract(payload, '$.counted') FROM events "
        "WHERE run_id = ? AND type = 'run_interrupted'"
    )
    return bench.rows(query, run_id)


def test_pause_lets_the_node_finish_and_resume_goes_on(bench: Bench) -> None:
    run_id = bench.start(bench.write(STEPS))
    with bench.host_here():
        logged_pids(bench)
        bench.command(commands.pause, run_id)
        bench.touch("go")
        until(lambda: bench.run(run_id).queue == "parked", "parked")
        run = bench.run(run_id)
        assert (run.status, run.paused, run.steps, run.losses) == ("running", True, 1, 0)
        assert "second" not in bench.log()
        bench.command(commands.resume, run_id)
        bench.until_status(run_id, "completed")
    assert losses(bench, run_id) == []
    assert len(bench.log()) == 2


def test_pause_now_stops_the_node_without_a_loss(bench: Bench) -> None:
    run_id = bench.start(bench.write(STEPS))
    with bench.host_here():
        (pid,) = logged_pids(bench)
        bench.command(commands.pause, run_id, now=True)
        until(lambda: bench.run(run_id).queue == "parked", "parked")
        assert identify(pid) is None
        assert losses(bench, run_id) == [("pause_now", 0)]
        bench.touch("go")
        bench.command(commands.resume, run_id)
        bench.until_status(run_id, "completed")
    assert bench.events(run_id).count("node_started") == 3


def test_pause_now_after_a_plain_pause_still_stops_the_node(bench: Bench) -> None:
    run_id = bench.start(bench.write(STEPS))
    with bench.host_here():
        logged_pids(bench)
        bench.command(commands.pause, run_id)
        bench.command(commands.pause, run_id, now=True)
        until(lambda: bench.run(run_id).queue == "parked", "parked")


def test_cancel_kills_everything_that_the_node_started(bench: Bench) -> None:
    run_id = bench.start(bench.write(STUBBORN))
    with bench.host_here():
        pids = logged_pids(bench)
        bench.command(commands.cancel, run_id)
        assert bench.run(run_id).status == "cancelled"
        until(lambda: not any(identify(pid) for pid in pids), "the worker and its daemon gone")
        until(lambda: bench.rows("SELECT status FROM run_workers") == [("stopped",)], "the worker's row")
    assert bench.events(run_id)[-1] == "run_cancelled"


def test_a_host_that_is_told_to_stop_gives_its_runs_back(bench: Bench) -> None:
    run_id = bench.start(bench.write(STEPS))
    with bench.host() as host:
        (pid,) = logged_pids(bench)
        seen = time.monotonic()
        until(lambda: time.monotonic() - seen > 0.3, "a third of a second of work")
        host.send_signal(signal.SIGTERM)
        assert host.wait(timeout=10) == 0
        assert identify(pid) is None
    run = bench.run(run_id)
    assert run.active_ms >= 300, "work that was seen counts, though no heartbeat was due"
    assert (run.status, run.queue, run.losses, run.claim) == ("running", "queued", 0, None)
    assert losses(bench, run_id) == [("host_stopped", 0)]
    assert bench.rows("SELECT host_id, pid FROM host_state") == [(None, None)]
    bench.touch("go")
    with bench.host(drain=True) as host:
        assert host.wait(timeout=15) == 0
    assert bench.run(run_id).status == "completed"


def test_a_host_ends_when_the_one_who_started_it_is_gone(bench: Bench) -> None:
    bench.start(bench.write(STEPS))
    with bench.host() as host:
        (pid,) = logged_pids(bench)
        assert host.stdin is not None
        host.stdin.close()
        assert host.wait(timeout=10) == 0
        assert identify(pid) is None


def test_a_second_host_is_refused_and_says_who_holds_the_store(bench: Bench) -> None:
    bench.start(bench.write(STEPS))
    with bench.host() as first:
        logged_pids(bench)
        with bench.host(quiet=True) as second:
            assert second.wait(timeout=10) == 1
            assert second.stderr is not None
            assert f"host pid {first.pid} holds this store" in second.stderr.read().decode()
        assert first.poll() is None


def test_a_paused_run_takes_no_answer_and_waits_again_after_resume(bench: Bench) -> None:
    file = bench.write(
        """
        def ask(ctx):
            return Ask(title="Really?", summary="All.")
        flow = Workflow("ask", start="ask", nodes={
            "ask": human_decision(audience="operator", choices={"yes": choice("Yes")}, request=ask),
            "end": compute(lambda ctx: {})}, edges=[decision_edge("ask", {"yes": "end"})])
        """
    )
    run_id = bench.start(file)
    with bench.host_here():
        bench.until_status(run_id, "waiting")
        request_id, digest = bench.rows("SELECT request_id, digest FROM requests")[0]
        bench.command(commands.pause, run_id)
        seen = {"text": None, "digest": digest, "human": Human.for_test()}
        refused = bench.command(commands.answer, request_id, "yes", **seen)
        assert (refused.outcome, refused.reason) == ("rejected", "paused")
        bench.command(commands.resume, run_id)
        assert bench.command(commands.answer, request_id, "yes", **seen).outcome == "accepted"
        bench.until_status(run_id, "completed")
