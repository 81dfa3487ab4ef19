"""A worker waits for the next launch; nothing depends on it, and it never outlives its host."""

import contextlib
import sys
from pathlib import Path

import pytest

from lockgate.host.processes import identify
from lockgate.host.standby import Standby
from tests.host.bench import Bench, kill, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for children in /proc")

SAYS_WHO = """
flow = Workflow("who", start="n", nodes={"n": compute(lambda ctx: log(f"{os.getpid()} {os.getcwd()}") or {})})
"""


def command_line(pid: str) -> bytes:
    with contextlib.suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def waiting(host: int) -> int:
    """The one worker of an idle host."""

    def workers() -> list[int]:
        children = Path(f"/proc/{host}/task/{host}/children").read_text().split()
        # The host may have other children for a moment, such as what looks for a library when it starts.
        return [int(pid) for pid in children if b"lockgate.host.worker" in command_line(pid)]

    return int(until(lambda: found[0] if len(found := workers()) == 1 else None, "a standby"))


def test_the_waiting_worker_takes_the_next_run_and_another_one_waits(bench: Bench) -> None:
    file = bench.write(SAYS_WHO)
    with bench.host_when_started() as start:
        host = bench.host_pid()
        first = waiting(host)
        bench.until_status(start(file), "completed")
        second = waiting(host)
        assert bench.log() == [f"{first} {bench.project}"]
        assert second != first


def test_a_waiting_worker_that_died_is_replaced(bench: Bench) -> None:
    file = bench.write(SAYS_WHO)
    with bench.host_when_started() as start:
        dead = waiting(bench.host_pid())
        kill(dead)
        until(lambda: identify(dead) is None, "dead")
        run_id = start(file)
        run = bench.until_status(run_id, "completed")
    assert run.losses == 0
    assert bench.events(run_id).count("run_claimed") == 1


@pytest.mark.parametrize("ending", ["stopped", "killed"])
def test_a_waiting_worker_ends_with_its_host(bench: Bench, ending: str) -> None:
    with bench.host_when_started():
        host = bench.host_pid()
        child = waiting(host)
        if ending == "killed":
            kill(host)
            until(lambda: identify(child) is None, "gone with its host", within_s=2.5)
    assert identify(child) is None


def test_one_that_was_never_used_leaves_nothing(tmp_path: Path) -> None:
    standby = Standby()
    standby.prepare()
    pid = standby.pid
    assert pid is not None
    standby.prepare()
    assert standby.pid == pid
    standby.close()
    assert (standby.pid, identify(pid)) == (None, None)
