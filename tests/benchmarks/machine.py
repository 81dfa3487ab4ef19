"""The machine around a benchmark: how busy it was with other things, and what a process has used."""

import os
import platform
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass(frozen=True)
class Usage:
    """CPU seconds of one process, from the kernel's accounting, and the moment of the reading."""

    cpu_s: float
    at: float

    def share_since(self, before: "Usage") -> float:
        """Percent of one core since then."""
        return 100 * (self.cpu_s - before.cpu_s) / (self.at - before.at)


def usage(pid: int) -> Usage:
    """Of one process (not its children). schedstat counts nanoseconds, where the kernel has it; stat only ticks."""
    at = time.monotonic()
    try:
        spent = sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir())
        return Usage(spent / 1e9, at)
    except (OSError, ValueError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return Usage((int(fields[11]) + int(fields[12])) / _TICK, at)


def memory_mb(pid: int) -> float:
    """Resident memory in MB (10^6 bytes)."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE / 1e6


def children(pid: int) -> list[int]:
    """The direct children of a process."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


class Around:
    """Watches how much of the machine others used while a benchmark ran."""

    def __init__(self) -> None:
        self._before = _busy()
        self._own = _own_cpu()
        self._at = time.monotonic()
        self._load = os.getloadavg()[0]

    def document(self) -> dict[str, Any]:
        seconds = time.monotonic() - self._at
        busy, own = _busy() - self._before, _own_cpu() - self._own
        return {
            "cores": os.cpu_count(),
            "load_before": round(self._load, 2),
            "load_after": round(os.getloadavg()[0], 2),
            "others_cores": round(max(0.0, busy - own) / seconds, 2) if seconds else 0.0,
            "seconds": round(seconds, 1),
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
        }


def _busy() -> float:
    """CPU seconds that all cores together were not idle."""
    try:
        fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    except OSError:
        return 0.0
    numbers = [int(field) for field in fields]
    return (sum(numbers[:8]) - numbers[3] - numbers[4]) / _TICK


def _own_cpu() -> float:
    """CPU seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
