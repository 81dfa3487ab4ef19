"""What a host that somebody else started hangs on: their pipe, or their process."""

import asyncio
import contextlib
import os

from lockgate.host.processes import identify, is_alive

_LOOK_S = 0.5
_READ_BYTES = 4096


async def until_closed(descriptor: int) -> None:
    """Returns at the end of a pipe: the one who holds the other end is gone. Its content means nothing.

    What nobody can hold, a file or /dev/null, is at its end.
    """
    loop = asyncio.get_running_loop()
    closed = asyncio.Event()
    os.set_blocking(descriptor, False)

    def look() -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                content = os.read(descriptor, _READ_BYTES)
            except BlockingIOError:
                raise
            except OSError:
                content = b""
            if not content:
                loop.remove_reader(descriptor)
                closed.set()

    try:
        loop.add_reader(descriptor, look)
    except PermissionError:
        return
    try:
        await closed.wait()
    finally:
        loop.remove_reader(descriptor)


async def until_gone(pid: int) -> None:
    """Returns when the process that has this pid now is gone."""
    identity = identify(pid)
    while identity is not None and is_alive(pid, identity.start):
        await asyncio.sleep(_LOOK_S)
