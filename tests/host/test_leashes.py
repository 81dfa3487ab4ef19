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
    waiting = asyncio.create_task(until_closed(descriptor))
    done, _ = await asyncio.wait({waiting}, timeout=5)
    assert waiting in done
    os.close(descriptor)


async def test_a_process_that_is_gone_lets_go() -> None:
    process = await asyncio.create_subprocess_exec(*SLEEP)
    waiting = asyncio.create_task(until_gone(process.pid))
    done, _ = await asyncio.wait({waiting}, timeout=0.05)
    assert not done, "a living process holds the leash"
    process.kill()
    done, _ = await asyncio.wait({waiting}, timeout=5)
    assert waiting in done
    await process.wait()
    late = asyncio.create_task(until_gone(process.pid))
    done, _ = await asyncio.wait({late}, timeout=5)
    assert late in done, "a process that was gone before holds nothing"
