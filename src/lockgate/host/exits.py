"""Learning that a worker ended, without reaping it.

Until it is reaped, a dead leader keeps its pid, and so the number of its process group, from being used again:
what is left of the group can be killed safely in between.
"""

import asyncio
import os
import sys

if sys.platform == "linux":

    def _watch(pid: int) -> int | None:
        """A descriptor that becomes readable when the process has ended; None where nothing of it is left."""
        try:
            return os.pidfd_open(pid)
        except ProcessLookupError:
            return None

else:
    import select

    def _watch(pid: int) -> int | None:
        queue = select.kqueue()
        event = select.kevent(pid, filter=select.KQ_FILTER_PROC, flags=select.KQ_EV_ADD, fflags=select.KQ_NOTE_EXIT)
        try:
            queue.control([event], 0)
        except ProcessLookupError:
            queue.close()
            return None
        # The kqueue object would close its descriptor with itself.
        descriptor = os.dup(queue.fileno())
        queue.close()
        return descriptor


async def until_exit(pid: int) -> None:
    """Returns when the process has ended; it is still to be reaped."""
    descriptor = _watch(pid)
    if descriptor is None:
        return
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
