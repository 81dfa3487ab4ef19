"""A process that commits for 8 runs in a tight loop: `ready`, and at the end of stdin its steps a second.

usage: committing.py STORE RUNS
"""

import asyncio
import sys
import time

from lockgate import Workflow, compute, edge, execute, open_store


async def main(path: str, runs: int) -> None:
    steps = 0

    async def work(ctx: object) -> int:
        nonlocal steps
        steps += 1
        return steps

    endless = Workflow(
        "endless", start="work", nodes={"work": compute(work)}, edges=[edge("work", "work")], max_steps=1_000_000
    )
    async with open_store(path) as store:
        working = [asyncio.create_task(execute(endless, store=store)) for _ in range(runs)]
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), ended.set)
        while steps < 10 * runs:
            await asyncio.sleep(0.01)
        print("ready", flush=True)
        before, began = steps, time.monotonic()
        await ended.wait()
        print((steps - before) / (time.monotonic() - began), flush=True)
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
