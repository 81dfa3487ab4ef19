"""What a host that somebody else started hangs on: the end of their pipe, or of their process."""

import asyncio
import os
import sys

from lockgate.host.leash import until_closed, until_gone

SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]


async def test_a_pipe_ends_with_its_other_end_and_not_before() -> None:
    reading, writing = os.pipe()
    waiting = asyncio.create_task(until_closed(reading))
    os.write(writing, b"whatever it says means nothing")
    done, _ = await asyncio.wait({waiting}, timeout=0.05)
    assert not done
    os.close(writing)
    await asyncio.wait_for(waiting, 5)
    os.close(reading)


async def test_what_nobody_can_hold_is_at_its_end() -> None:
    descriptor = os.open(os.devnull, os.O_RDONLY)
    await asyncio.wait_for(until_closed(descriptor), 5)
    os.close(descriptor)


async def test_a_process_that_is_gone_lets_go() -> None:
    process = await asyncio.create_subprocess_exec(*SLEEP)
    waiting = asyncio.create_task(until_gone(process.pid))
    await asyncio.sleep(0)
    process.kill()
    await asyncio.wait_for(waiting, 5)
    await process.wait()
    await asyncio.wait_for(until_gone(process.pid), 5)
