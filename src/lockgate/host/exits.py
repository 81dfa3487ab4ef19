"""Learning that a child ended, without reaping it.

Until it is reaped, a dead leader keeps its pid, and so the number of its process group, from being used again:
what is left of the group can be killed safely in between.
"""

import asyncio
import os
import sys

if sys.platform == "linux":

    def _watch(pid: int) -> int | None:
        """A descriptor that becomes readable when the child has ended; None where it has already."""
        return os.pidfd_open(pid)

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
    """Returns when the child has ended; it is still to be reaped."""
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
