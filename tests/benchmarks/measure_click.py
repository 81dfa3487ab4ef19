"""A person's click beside a process that commits without a pause: how long until it is durable, and never StoreBusy."""

import asyncio
import random
import time
from pathlib import Path

from lockgate import Human, StoreBusy, open_store
from tests.benchmarks.figures import Figure, quantile
from tests.benchmarks.fixture import make
from tests.benchmarks.setting import Setting
from tests.benchmarks.stage import companion, line_of

CLICKS, RUNS = 400, 8


def measure(setting: Setting) -> list[Figure]:
    clicks = setting.size(CLICKS, 10)
    with setting.place("click") as place:
        path = place / "store" / "state.sqlite"
        make(path, runs=clicks, waiting=clicks, long_steps=0)
        with companion("committing", str(path), str(RUNS)) as busy:
            assert line_of(busy) == "ready"
            waits, refused = asyncio.run(_click(path, clicks))
            assert busy.stdin is not None
            busy.stdin.write("end\n")
            busy.stdin.flush()
            rate = float(line_of(busy))
    note = f"{len(waits)} clicks beside {rate:.0f} steps/s of {RUNS} runs"
    return [
        Figure(name="a click, p50", value=quantile(waits, 0.5), unit="ms", note=note),
        Figure(name="a click, p99", value=quantile(waits, 0.99), unit="ms", at_most=150, goal=30, note=note),
        Figure(name="a click, longest", value=max(waits), unit="ms", note=note),
        Figure(name="clicks that ended with StoreBusy", value=refused, unit="clicks", at_most=0),
    ]


async def _click(path: Path, clicks: int) -> tuple[list[float], int]:
    """Milliseconds from each answer to its receipt, as the dashboard sends them, and how many were refused as busy."""
    waits, refused = [], 0
    async with open_store(path) as store:
        pending = await store.decisions()
        assert len(pending) == clicks
        for request in pending:
            await asyncio.sleep(random.uniform(0.005, 0.04))
            began = time.perf_counter()
            try:
                receipt = await store.answer(
                    request.request_id, "stop", digest=request.digest, actor=Human.for_test("ada")
                )
                assert receipt.outcome == "accepted", receipt
            except StoreBusy:
                refused += 1
            waits.append((time.perf_counter() - began) * 1000)
    return waits, refused
