"""Learning that a child ended, without reaping it.

Until it is reaped, a dead leader keeps its pid, and so the number of its process group, from being used again:
what is left of the group can be killed safely in between.
"""

import asyncio
import os
import sys


async def until_exit(pid: int) -> None:
    """Returns when the child has ended; it is still to be reaped."""
    if sys.platform == "linux" and hasattr(os, "pidfd_open"):
        await _until_readable(os.pidfd_open(pid))
    else:
        await asyncio.to_thread(os.waitid, os.P_PID, pid, os.WEXITED | os.WNOWAIT)


async def _until_readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
