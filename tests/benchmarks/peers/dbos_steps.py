"""DBOS on SQLite as its quick start sets it up: one workflow of N steps, then its steps a second on stdout.

usage: dbos_steps.py N [steps|queue RUNS WORKERS]; run in a directory of its own, with the Python of an environment
that has dbos.
"""

import json
import logging
import sys
import time

from dbos import DBOS, DBOSConfig

config: DBOSConfig = {"name": "bench-starter"}
DBOS(config=config)


@DBOS.step()
def work(number: int) -> dict[str, object]:
    return {"n": number}


@DBOS.workflow()
def looping(steps: int) -> int:
    for number in range(steps):
        work(number)
    return steps


def one_run(steps: int) -> float:
    looping(2)
    began = time.perf_counter()
    looping(steps)
    return time.perf_counter() - began


def queued_runs(steps: int, runs: int, workers: int) -> float:
    # Its default, a look once a second, would measure that second.
    DBOS.register_queue("bench", worker_concurrency=workers, polling_interval_sec=0.05)
    DBOS.enqueue_workflow("bench", looping, 2).get_result()
    began = time.perf_counter()
    handles = [DBOS.enqueue_workflow("bench", looping, steps) for _ in range(runs)]
    for handle in handles:
        handle.get_result()
    return time.perf_counter() - began


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    DBOS.launch()
    count = int(sys.argv[1])
    seconds = queued_runs(count, int(sys.argv[3]), int(sys.argv[4])) if len(sys.argv) > 4 else one_run(count)
    print(json.dumps({"seconds": seconds, "steps_per_second": count / seconds}))
    DBOS.destroy()
