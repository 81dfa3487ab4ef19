"""From a decision that another process commits to the worker's first code after it, a slot being free."""

import asyncio
import json
import time
from pathlib import Path

from lockgate import Human, RequestView, open_store
from lockgate.store.shell import Store
from tests.benchmarks.figures import Figure, quantile
from tests.benchmarks.loops import ASKING
from tests.benchmarks.setting import Setting
from tests.benchmarks.stage import Project, host, until

ANSWERS, WARM = 40, 3


def measure(setting: Setting) -> list[Figure]:
    with setting.place("resume") as place:
        project = Project(place, "asking", ASKING)
        project.start(1)
        with host(project):
            until(lambda: project.rows("SELECT 1 FROM requests WHERE status = 'pending'"), every=0.05)
            waits = asyncio.run(_answers(project.store, setting.size(ANSWERS, 2) + WARM))[WARM:]
    return [
        Figure(name="decision to resumed worker, p50", value=quantile(waits, 0.5), unit="ms", at_most=50, goal=15),
        Figure(name="decision to resumed worker, p99", value=quantile(waits, 0.99), unit="ms"),
    ]


async def _answers(path: Path, laps: int) -> list[float]:
    """Milliseconds of each lap: from the answer's receipt to the node after it, by CLOCK_MONOTONIC."""
    waits = []
    async with open_store(path) as store:
        request = await _pending(store, None)
        for _ in range(laps):
            receipt = await store.answer(request.request_id, "go", digest=request.digest, actor=Human.for_test())
            answered = time.monotonic_ns()
            assert receipt.outcome == "accepted", receipt
            request = await _pending(store, request.request_id)
            waits.append((await _resumed(store, request.run_id) - answered) / 1e6)
    return waits


async def _pending(store: Store, before: str | None) -> RequestView:
    """The run's next question."""
    while True:
        for request in await store.decisions():
            if request.request_id != before:
                return request
        await asyncio.sleep(0.02)


async def _resumed(store: Store, run_id: str) -> int:
    """When the newest `resumed` node was called."""
    question = """SELECT content FROM blobs WHERE hash = (SELECT output_hash FROM node_attempts
        WHERE run_id = ? AND node_id = 'resumed' ORDER BY ordinal DESC LIMIT 1)"""
    row = await store.read(lambda connection: connection.execute(question, (run_id,)).fetchone())
    moment: int = json.loads(row[0])["mono_ns"]
    return moment
