"""The clocks of this machine: wall time for display, the boot and CLOCK_MONOTONIC for leases and intervals."""

import sys
import time
from functools import cache
from typing import Protocol

from lockgate.model.records import Now

_BOOT_ID = "/proc/sys/kernel/random/boot_id"


class Clock(Protocol):
    """Tells the time; tests pass their own."""

    def now(self) -> Now:
        """The three readings, taken together."""
        ...


class SystemClock:
    """CLOCK_MONOTONIC is system-wide and stands still in suspend, so a lease survives a closed lid."""

    def now(self) -> Now:
        return Now(wall_ms=time.time_ns() // 1_000_000, boot_id=boot_id(), mono_ms=time.monotonic_ns() // 1_000_000)


@cache
def boot_id() -> str:
    """What names this boot of this machine: monotonic times of two boots cannot be compared."""
    if sys.platform == "darwin":
        return f"boot-{_boot_time()}"
    with open(_BOOT_ID, encoding="ascii") as file:
        return file.read().strip()


def _boot_time() -> int:
    import ctypes
    import ctypes.util

    seconds = (ctypes.c_long * 2)()
    size = ctypes.c_size_t(ctypes.sizeof(seconds))
    libc = ctypes.CDLL(ctypes.util.find_library("c"), use_errno=True)
    if libc.sysctlbyname(b"kern.boottime", ctypes.byref(seconds), ctypes.byref(size), None, 0) != 0:
        raise OSError(ctypes.get_errno(), "kern.boottime cannot be read")
    return int(seconds[0])
