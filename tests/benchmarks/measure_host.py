"""Measures the host with real workers, and prints one JSON object: `python -m tests.benchmarks.measure_host`.

Steps through a worker, launch to the first proposal, an answer to the resumed worker, and the time after kill -9
of host and workers until every run goes again.
"""

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lockgate.model.records import Human
from lockgate.store import commands
from tests.host.bench import Bench, kill, until

STEPS = 400
PAUSE_S = 1.0
"""Between two launches that are measured: a person does not answer at once, and a host gets ready meanwhile."""

LOOP = f"""
from lockgate import switch_edge
TIMES = []
def step(ctx):
    TIMES.append(time.perf_counter())
    n = ctx.state.steps
    if n == {STEPS}:
        log(",".join(str((b - a) * 1000) for a, b in zip(TIMES, TIMES[1:])))
    return {{"more": "no" if n == {STEPS} else "yes"}}
flow = Workflow("loop", start="step", max_steps={STEPS + 10},
    nodes={{"step": compute(step), "end": compute(lambda ctx: {{}})}},
    edges=[switch_edge("step", "$.more", {{"yes": "step", "no": "end"}})])
"""

ASKS = """
def ask(ctx):
    return Ask(title="Go on?", summary="Yes.")
flow = Workflow("asks", start="ask", nodes={
    "ask": human_decision(audience="operator", choices={"yes": choice("Yes")}, request=ask),
    "after": compute(lambda ctx: log(f"after {time.time()}") or {})},
    edges=[decision_edge("ask", {"yes": "after"})])
"""

WAITS = """
def waits(ctx):
    log(f"waits {os.getpid()}")
    wait_for("go")
    return {}
flow = Workflow("waits", start="waits", nodes={"waits": compute(waits)})
"""


def bench() -> Bench:
    return Bench(Path(tempfile.mkdtemp(prefix="lockgate-bench-")))


def percentiles(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    at = {"p50": 0.5, "p99": 0.99}
    return {name: round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2) for name, share in at.items()}


def steps() -> dict[str, float]:
    place = bench()
    run_id = place.start(place.write(LOOP))
    with place.host():
        place.until_status(run_id, "completed", 60)
    return percentiles([float(word) for word in place.log()[0].split(",")])


def launches(count: int = 15) -> dict[str, Any]:
    """From run_claimed to the first node_started, and from the start of a run to its end."""
    place = bench()
    file = place.write('flow = Workflow("one", start="n", nodes={"n": compute(lambda ctx: {})})')
    first: list[float] = []
    with place.host_when_started() as start:
        for _ in range(count):
            time.sleep(PAUSE_S)
            run_id = start(file)
            place.until_status(run_id, "completed")
            times = dict(place.rows("SELECT type, at FROM events WHERE run_id = ?", run_id))
            first.append(times["node_started"] - times["run_claimed"])
    return percentiles(first)


def answers(count: int = 10) -> dict[str, float]:
    place = bench()
    file = place.write(ASKS)
    waited: list[float] = []
    with place.host_when_started() as start:
        for number in range(count):
            run_id = start(file)
            place.until_status(run_id, "waiting")
            query = "SELECT request_id, digest FROM requests WHERE run_id = ?"
            request_id, digest = place.rows(query, run_id)[0]
            time.sleep(PAUSE_S)
            place.command(commands.answer, request_id, "yes", text=None, digest=digest, human=Human.for_test())
            answered = time.time()
            until(lambda number=number: len(place.log()) == number + 1, "resumed")
            waited.append((float(place.log()[-1].split()[1]) - answered) * 1000)
    return percentiles(waited)


def recovery(runs: int = 4) -> float:
    """Seconds from the start of a new host's process until every run of a killed one executes again."""
    place = bench()
    file = place.write(WAITS)
    for _ in range(runs):
        place.start(file)
    with place.host(max_workers=runs) as host:
        until(lambda: len(place.log()) == runs, "all running")
        kill(host.pid)
        for line in place.log():
            kill(int(line.split()[1]))
        host.wait()
    begun = time.monotonic()
    with place.host(max_workers=runs):
        until(lambda: len(place.log()) == 2 * runs, "all running again")
        return round(time.monotonic() - begun, 2)


def main() -> None:
    found = {
        "step_ms": steps(),
        "launch_ms": launches(),
        "answer_to_resumed_ms": answers(),
        "killed_to_running_s": statistics.median(recovery() for _ in range(3)),
    }
    json.dump(found, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
