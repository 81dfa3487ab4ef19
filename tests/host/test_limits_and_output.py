"""Limits hold even for code that never gives the worker back; deadlines pass alone; output is seen while it comes."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from lockgate.host import supervisor
from lockgate.store import reads
from lockgate.store.once import read_once
from lockgate.store.patience import Patience
from tests.host.bench import Bench, until


def test_a_function_that_ignores_its_limit_is_left_behind_and_the_run_goes_on(bench: Bench) -> None:
    run_id = bench.start(
        bench.write(
            """
            from lockgate import switch_edge
            def hangs(ctx):
                log(f"hangs {os.getpid()}")
                time.sleep(60)
            def after(ctx):
                log(f"after {os.getpid()}")
                return {"outcome": ctx.results["hangs"].outcome}
            flow = Workflow("hangs", start="hangs", nodes={
                "hangs": compute(hangs, timeout=0.2), "after": compute(after)},
                edges=[switch_edge("hangs", "$result.outcome", {"timed_out": "after", "ok": "after"})])
            """
        )
    )
    with bench.host_here():
        run = bench.until_status(run_id, "completed")
    assert run.losses == 0
    first, second = (int(line.split()[1]) for line in bench.log())
    assert first != second, "the next node must not share a process with code that was left behind"
    assert "run_interrupted" not in bench.events(run_id)


OVERTIME_S = 0.5
"""Instead of 5 s, which a test need not wait for."""

STUCK = """
from lockgate import switch_edge
async def stuck(ctx):
    log("stuck")
    time.sleep(60)  # blocks the worker's loop: the engine cannot commit anything
def after(ctx):
    log("after")
    return {}
flow = Workflow("stuck", start="stuck", nodes={
    "stuck": NODE, "after": compute(after)},
    edges=[switch_edge("stuck", "$result.outcome", {"timed_out": "after", "ok": "after"})])
"""


def test_a_worker_that_does_not_answer_is_killed_and_the_host_commits_the_timeout(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "OVERTIME_S", OVERTIME_S)
    plain = bench.start(bench.write(STUCK.replace("NODE", "compute(stuck, timeout=0.2)")))
    with_effect = "action(stuck, effect={}('mail'), timeout=0.2)"
    repeatable = bench.start(bench.write(STUCK.replace("NODE", with_effect.format("idempotent")), "repeatable.py"))
    unknown = bench.start(bench.write(STUCK.replace("NODE", with_effect.format("manual")), "unknown.py"))
    begun = time.monotonic()
    with bench.host_here():
        for run_id in (plain, repeatable):
            run = bench.until_status(run_id, "completed")
            assert (run.losses, run.steps) == (0, 2)
            assert bench.rows("SELECT outcome FROM node_attempts WHERE run_id = ? ORDER BY ordinal", run_id) == [
                ("timed_out",),
                ("ok",),
            ]
        assert bench.until_blocked(unknown).error_code == "effect_ambiguous"
    assert time.monotonic() - begun > OVERTIME_S
    assert bench.rows("SELECT status FROM effects WHERE run_id = ?", repeatable) == [("rejected",)]
    assert bench.log().count("after") == 2


@contextmanager
def locked(bench: Bench, for_s: float) -> Iterator[None]:
    """Another process's transaction, for so long after the block."""
    with closing(sqlite3.connect(bench.store, isolation_level=None, timeout=5)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        time.sleep(for_s)


def test_a_store_that_is_locked_at_the_limit_ends_no_host(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "OVERTIME_S", 0.1)
    monkeypatch.setattr(supervisor, "TERM_GRACE_S", 0.1)
    monkeypatch.setattr(Patience.__init__, "__defaults__", (50,))
    run_id = bench.start(bench.write(STUCK.replace("NODE", "compute(stuck, timeout=0.2)")))
    with bench.host_here():
        bench.until_logged("stuck")
        with locked(bench, 1.0):
            pass
        assert bench.until_status(run_id, "completed").losses == 0


def test_a_node_that_finished_at_the_last_moment_hands_its_timeout_to_no_other(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "OVERTIME_S", 0.1)
    body = """
    def first(ctx):
        log("first")
        wait_for("go")
        return {}
    def second(ctx):
        time.sleep(0.2)
        return {}
    flow = Workflow("late", start="first", nodes={
        "first": compute(first, timeout=1), "second": compute(second, timeout=60)}, edges=[edge("first", "second")])
    """
    run_id = bench.start(bench.write(body))
    with bench.host_here():
        bench.until_logged("first")
        with locked(bench, 1.2):
            bench.touch("go")
        run = bench.until_status(run_id, "completed")
    assert (run.losses, run.steps) == (0, 2)
    query = "SELECT json_extract(payload, '$.cause') FROM events WHERE type = 'run_interrupted'"
    assert bench.rows(query) == [("host_stopped",)], "the worker was stopped as its commit was under way"


def test_a_worker_without_its_streams_ends_well(bench: Bench) -> None:
    body = """
    def first(ctx):
        sys.stdout.close()
        sys.stderr = None
        return {}
    flow = Workflow("mute", start="first", nodes={"first": compute(first)})
    """
    run_id = bench.start(bench.write(body))
    with bench.host_here():
        bench.until_status(run_id, "completed")
        until(lambda: bench.rows("SELECT status, exit_code FROM run_workers") == [("exited", 0)], "its end")


def test_a_deadline_passes_without_anybody_watching(bench: Bench) -> None:
    run_id = bench.start(
        bench.write(
            """
            flow = Workflow("asks", start="ask", nodes={
                "ask": human_decision(audience="operator", choices={"keep": choice("Keep"), "drop": choice("Drop")},
                    on_timeout=("keep", 1), request=lambda ctx: Ask(title="Drop it?", summary="All.")),
                "kept": compute(lambda ctx: {"kept": True}), "dropped": compute(lambda ctx: {"kept": False})},
                edges=[decision_edge("ask", {"keep": "kept", "drop": "dropped"})])
            """
        )
    )
    with bench.host_here():
        bench.until_status(run_id, "completed")
    assert bench.rows("SELECT provenance, choice, actor_kind FROM human_decision_resolutions") == [
        ("timeout_policy", "keep", "policy")
    ]
    [(deadline, resolved)] = bench.rows(
        "SELECT r.deadline_at, s.resolved_at FROM requests r JOIN human_decision_resolutions s "
        "ON s.decision_id = r.request_id"
    )
    assert 0 <= resolved - deadline < 1_000


def test_output_is_visible_while_the_node_runs_and_belongs_to_its_attempt(bench: Bench) -> None:
    run_id = bench.start(
        bench.write(
            """
            def first(ctx):
                print("from the first")
                print("and its error", file=sys.stderr)
                return {}
            code = "import sys, time, pathlib; print('from the command', flush=True)\\n"
            code += "while not pathlib.Path('go').exists(): time.sleep(0.01)"
            flow = Workflow("prints", start="first", nodes={
                "first": compute(first), "second": shell(["{python}", "-c", code], effect=idempotent("print"))},
                edges=[edge("first", "second")])
            """
        )
    )

    def printed(node: str) -> dict[str, str]:
        query = "SELECT attempt_id FROM node_attempts WHERE run_id = ? AND node_id = ?"
        found = {"stdout": "", "stderr": ""}
        for (attempt_id,) in bench.rows(query, run_id, node):
            for chunk in read_once(bench.store, lambda c, attempt_id=attempt_id: reads.output(c, run_id, attempt_id)):
                found[chunk.stream] += chunk.content.decode()
        return found

    with bench.host_here():
        until(lambda: printed("second")["stdout"], "output of a command that still runs")
        assert bench.run(run_id).status == "running"
        assert printed("first") == {"stdout": "from the first\n", "stderr": "and its error\n"}
        assert printed("second") == {"stdout": "from the command\n", "stderr": ""}
        bench.touch("go")
        bench.until_status(run_id, "completed")


def test_a_firehose_neither_fills_the_store_nor_stops_the_host(bench: Bench) -> None:
    run_id = bench.start(
        bench.write(
            """
            def pours(ctx):
                line = "x" * 1023 + "\\n"
                for _ in range(20_000):
                    sys.stdout.write(line)
                return {}
            flow = Workflow("pours", start="pours", nodes={"pours": compute(pours)})
            """
        )
    )
    with bench.host_here():
        bench.until_status(run_id, "completed")
        until(lambda: bench.rows("SELECT max(start_at) FROM attempt_output")[0][0], "output")
    [(kept,)] = bench.rows("SELECT sum(length(content)) FROM attempt_output")
    assert kept <= 3 << 20
