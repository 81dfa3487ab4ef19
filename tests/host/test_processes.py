"""A process is its pid and its start; groups, sessions and marks find what it left behind."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from lockgate.host import processes
from lockgate.host.processes import descendants, end_recorded, identify, is_alive, kill_descendants, session_of

SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(SLEEP, start_new_session=True) as child:
        yield child
        with contextlib.suppress(ProcessLookupError):
            child.kill()


def wait_until(happened: Callable[[], bool], within_s: float = 5.0) -> None:
    limit = time.monotonic() + within_s
    while not happened():
        assert time.monotonic() < limit, "it did not happen in time"
        time.sleep(0.01)


def test_a_process_is_told_from_another_that_has_its_pid(sleeper: "subprocess.Popen[bytes]") -> None:
    found = identify(sleeper.pid)
    assert found is not None
    assert is_alive(sleeper.pid, found.start)
    assert not is_alive(sleeper.pid, "1")


def test_a_zombie_is_dead(sleeper: "subprocess.Popen[bytes]") -> None:
    found = identify(sleeper.pid)
    assert found is not None
    sleeper.kill()
    wait_until(lambda: not is_alive(sleeper.pid, found.start))
    assert sleeper.returncode is None


def test_a_recorded_group_is_killed_only_if_it_is_still_that_worker(sleeper: "subprocess.Popen[bytes]") -> None:
    found = identify(sleeper.pid)
    assert found is not None
    end_recorded(processes.ProcessIdentity(pid=sleeper.pid, start="1"))
    assert is_alive(sleeper.pid, found.start)
    end_recorded(found)
    assert not is_alive(sleeper.pid, found.start)


@linux_only
def test_what_left_the_group_is_found_by_its_session_and_by_its_mark() -> None:
    script = (
        "import os, subprocess, sys, time\n"
        f"stay = {SLEEP!r}\n"
        "a = subprocess.Popen(stay, process_group=0)\n"
        "b = subprocess.Popen(stay, start_new_session=True, env={**os.environ, 'LOCKGATE_ATTEMPT': 'attempt-t'})\n"
        "print(a.pid, b.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-S", "-c", script], stdout=subprocess.PIPE, start_new_session=True) as root:
        assert root.stdout is not None
        same_session, marked = map(int, root.stdout.readline().split())
        assert set(descendants(root.pid, [])) == {root.pid, same_session}
        wait_until(lambda: marked in descendants(None, ["attempt-t"]))
        root.kill()
        assert kill_descendants(root.pid, ["attempt-t"]) >= 2
        for pid in (same_session, marked):
            wait_until(lambda pid=pid: identify(pid) is None)


@linux_only
def test_the_session_of_a_dead_leader_is_known_and_another_one_s_is_not(sleeper: "subprocess.Popen[bytes]") -> None:
    found = identify(sleeper.pid)
    assert found is not None
    assert session_of(found) == sleeper.pid
    assert session_of(processes.ProcessIdentity(pid=sleeper.pid, start="1")) is None
    sleeper.kill()
    wait_until(lambda: identify(sleeper.pid) is None)
    assert session_of(found) == sleeper.pid, "a zombie"
    sleeper.wait()
    assert session_of(found) == sleeper.pid, "gone"


WORKER = """
import signal, socket, subprocess, sys, time
from lockgate.host.watchdog import watch_host
signal.signal(signal.SIGTERM, lambda *_: None)
connected = socket.socket(fileno=int(sys.argv[1]))
connected.set_inheritable(False)
child = subprocess.Popen([sys.executable, "-S", "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"],
    stdout=subprocess.PIPE)
child.stdout.readline()  # from here on TERM does nothing to it
watch_host(connected)
print(child.pid, flush=True)
if "closes" in sys.argv:
    import os
    os.closerange(3, 64)
while True:  # user code that never gives the interpreter's loop back
    sum(range(100))
"""


@pytest.mark.parametrize("closes", [False, True], ids=["the host is gone", "it closed every descriptor"])
def test_a_worker_without_its_host_kills_its_group_within_two_seconds(closes: bool) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(theirs.fileno()), "closes" if closes else ""],
            stdout=subprocess.PIPE,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
    with worker:
        assert worker.stdout is not None
        child = int(worker.stdout.readline())
        assert os.getpgid(child) == worker.pid
        begun = time.monotonic()
        if not closes:
            ours.close()
        assert worker.wait(timeout=5) == -signal.SIGKILL
        assert time.monotonic() - begun < (4.0 if closes else 2.0)
        ours.close()
        wait_until(lambda: identify(child) is None)
