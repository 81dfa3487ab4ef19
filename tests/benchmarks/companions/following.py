"""Follows a store as a host does: says `ready`, and at the end of stdin prints every wake-up as one line of JSON.

usage: following.py STORE. A wake-up is its event number and the CLOCK_MONOTONIC nanoseconds at which it came.
"""

import asyncio
import json
import sys
import time
from contextlib import aclosing

from lockgate.store.shell import HOST_PAUSE, Store, open_store


async def main(path: str) -> None:
    wakes: list[tuple[int, int]] = []
    async with open_store(path) as store:
        following = asyncio.create_task(_follow(store, wakes))
        await asyncio.sleep(0.2)
        print("ready", flush=True)
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        loop.add_reader(sys.stdin.fileno(), ended.set)
        await ended.wait()
        loop.remove_reader(sys.stdin.fileno())
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    print(json.dumps(wakes), flush=True)


async def _follow(store: Store, wakes: list[tuple[int, int]]) -> None:
    async with aclosing(store.follow(pause=HOST_PAUSE)) as stream:
        async for wake in stream:
            wakes.append((wake.event_seq, time.monotonic_ns()))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
