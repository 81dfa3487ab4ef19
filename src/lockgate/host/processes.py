"""Processes as the operating system knows them: who lives, since when, and how a whole group is ended.

A pid alone names nobody: it is used again. A process is (pid, start time) within one boot, and a zombie is
dead: nobody may have reaped a killed host yet.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from lockgate.model.records import Record

_PROC = Path("/proc")
ATTEMPT_MARK = "LOCKGATE_ATTEMPT"


class ProcessIdentity(Record, frozen=True, kw_only=True):
    """`start` is the system's own text for the start time: clock ticks since boot on Linux."""

    pid: int
    start: str


def identify(pid: int) -> ProcessIdentity | None:
    """The living process of this pid, or None where there is none (a zombie is none)."""
    start = _linux_start(pid) if sys.platform == "linux" else _ps_start(pid)
    return None if start is None else ProcessIdentity(pid=pid, start=start)


def this_process() -> ProcessIdentity:
    """Raises RuntimeError where the system does not tell start times: leases could not be trusted."""
    identity = identify(os.getpid())
    if identity is None:
        raise RuntimeError("this system does not tell when a process started")
    return identity


def is_alive(pid: int, start: str | None) -> bool:
    """Whether exactly this process still lives; without a recorded start time the pid must do."""
    found = identify(pid)
    return found is not None and (start is None or found.start == start)


def _linux_start(pid: int) -> str | None:
    fields = _stat(pid)
    return None if fields is None or fields[0] in ("Z", "X") else fields[19]


def _stat(pid: int) -> list[str] | None:
    """The fields after the command's name, which may itself hold spaces and brackets."""
    try:
        text = (_PROC / str(pid) / "stat").read_bytes().decode("ascii", "replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def _ps_start(pid: int) -> str | None:
    answer = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
    state, _, start = answer.partition(" ")
    return None if not start or state.startswith("Z") else " ".join(start.split())


def signal_group(group: int, number: signal.Signals) -> bool:
    """Signals every process of the group; False where it has none left."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        # macOS answers so for a group of zombies.
        return False
    return True


def descendants(session: int | None, attempts: Sequence[str]) -> list[int]:
    """Living processes of this session, or marked with one of the attempts in their environment (Linux).

    Finds what left the worker's group: a shell with job control, a daemon that forked twice.
    """
    if sys.platform != "linux":
        return []
    marks = {f"{ATTEMPT_MARK}={attempt}".encode() for attempt in attempts}
    return [pid for pid in _other_pids() if _belongs(pid, session, marks)]


def _other_pids() -> Iterator[int]:
    me = os.getpid()
    for entry in os.scandir(_PROC):
        if entry.name.isdigit() and int(entry.name) != me:
            yield int(entry.name)


def _belongs(pid: int, session: int | None, marks: set[bytes]) -> bool:
    fields = _stat(pid)
    if fields is None or fields[0] in ("Z", "X"):
        return False
    if session is not None and int(fields[3]) == session:
        return True
    if not marks:
        return False
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    return not marks.isdisjoint(environment.split(b"\0"))


def session_of(leader: ProcessIdentity) -> int | None:
    """The session that this process leads or, dead, has led; None where another one has its number now.

    The system gives no number away that is still the name of somebody's session.
    """
    if sys.platform != "linux":
        return None
    fields = _stat(leader.pid)
    return leader.pid if fields is None or fields[19] == leader.start else None


def kill_descendants(session: int | None, attempts: Sequence[str]) -> int:
    """Kills what `descendants` finds, again until nothing is left (they may fork meanwhile); how many."""
    killed = 0
    for _ in range(5):
        found = descendants(session, attempts)
        if not found:
            break
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed += len(found)
    return killed


def end_recorded(identity: ProcessIdentity, *, within_s: float = 2.0) -> None:
    """Kills the group of a recorded worker if it is still that worker, and waits until it is gone."""
    if not is_alive(identity.pid, identity.start):
        return
    signal_group(identity.pid, signal.SIGKILL)
    limit = time.monotonic() + within_s
    while is_alive(identity.pid, identity.start) and time.monotonic() < limit:
        time.sleep(0.005)


def adopt_orphans() -> bool:
    """Makes this process the parent of descendants whose own parent died (Linux); False elsewhere."""
    if sys.platform != "linux":
        return False
    import ctypes

    set_child_subreaper = 36
    return bool(ctypes.CDLL(None, use_errno=True).prctl(set_child_subreaper, 1, 0, 0, 0) == 0)


def reap_orphans(known: frozenset[int | None]) -> bool:
    """Collects adopted children that have ended; whether others live, or may: nobody can tell without /proc.

    `known` are the children whose exits others wait for.
    """
    found = _children()
    if found is None:
        return True
    living = False
    for pid in found:
        if pid not in known:
            with contextlib.suppress(ChildProcessError):
                living |= os.waitpid(pid, os.WNOHANG) == (0, 0)
    return living


def _children() -> list[int] | None:
    try:
        return [int(word) for word in (_PROC / "self/task" / str(os.getpid()) / "children").read_text().split()]
    except OSError:
        return None
