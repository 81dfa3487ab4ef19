"""Whether a process is there, as cheaply as screens and one-shot commands need it: by its pid alone.

The host, which ends claims and kills, also compares start times (`lockgate.host.processes`).
"""

import os
import sys
from pathlib import Path

_PROC = Path("/proc")


def process_exists(pid: int) -> bool:
    """Whether there is such a process on this machine, whoever's it is.

    A zombie is none: nobody may have reaped a killed host yet. macOS does not tell one without a call of `ps`;
    there it counts until it is reaped or its lease is over.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return not (sys.platform == "linux" and _is_dead(pid))


def pid_exists(pid: int, start: str) -> bool:
    """The careful answer where nobody compares start times: any process of that number counts as the one."""
    return process_exists(pid)


def _is_dead(pid: int) -> bool:
    """Whether the kernel keeps no more of the process than its exit status; False where that cannot be read."""
    try:
        text = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return False
    # The command's name before the state may itself hold spaces and brackets.
    return text.rpartition(b")")[2].split()[:1] in ([b"Z"], [b"X"])
