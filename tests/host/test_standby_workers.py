"""A worker waits for the next launch; nothing depends on it, and it never outlives its host."""

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest

from lockgate.host.forking import ForkServer
from lockgate.host.processes import identify
from lockgate.host.spawning import ByExec, Spawned
from lockgate.host.standby import Standby
from tests.host.bench import Bench, children, fork_server_of, kill, told_by, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for children in /proc")

SAYS_WHO = """
flow = Workflow("who", start="n", nodes={"n": compute(lambda ctx: log(f"{os.getpid()} {os.getcwd()}") or {})})
"""


@contextmanager
def idle(bench: Bench, *, forked: bool) -> Iterator[int]:
    """A host that has nothing to do, as its pid."""
    with bench.host(fork_server=forked) as host:
        yield host.pid


def waiting(host: int, *, forked: bool) -> int:
    """The one worker of an idle host."""

    def workers() -> list[int]:
        if forked:
            return children(fork_server_of(host))
        # The host may have other children for a moment, such as what looks for a library when it starts.
        return [pid for pid in children(host) if "lockgate.host.worker" in told_by(pid, "cmdline")]

    return int(until(lambda: found[0] if len(found := workers()) == 1 else None, "a standby"))


@pytest.fixture(params=[True, False], ids=["forked", "executed"])
def forked(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_the_waiting_worker_takes_the_next_run_and_another_one_waits(bench: Bench, forked: bool) -> None:
    file = bench.write(SAYS_WHO)
    with idle(bench, forked=forked) as host:
        first = waiting(host, forked=forked)
        run_id = bench.start(file)
        bench.until_status(run_id, "completed")
        second = waiting(host, forked=forked)
        assert bench.log() == [f"{first} {bench.project}"]
        assert bench.rows("SELECT pid FROM run_workers WHERE run_id = ?", run_id) == [(first,)]
        assert second != first


def test_a_waiting_worker_that_died_is_replaced(bench: Bench, forked: bool) -> None:
    file = bench.write(SAYS_WHO)
    with idle(bench, forked=forked) as host:
        dead = waiting(host, forked=forked)
        kill(dead)
        until(lambda: identify(dead) is None, "dead")
        run_id = bench.start(file)
        run = bench.until_status(run_id, "completed")
    assert run.losses == 0
    assert bench.events(run_id).count("run_claimed") == 1


@pytest.mark.parametrize("ending", ["stopped", "killed"])
def test_a_waiting_worker_ends_with_its_host(bench: Bench, forked: bool, ending: str) -> None:
    with idle(bench, forked=forked) as host:
        child = waiting(host, forked=forked)
        if ending == "killed":
            kill(host)
            until(lambda: identify(child) is None, "gone with its host", within_s=2.5)
    assert identify(child) is None


# --- alone -------------------------------------------------------------------------------------------------


@pytest.fixture
async def standby(forked: bool) -> AsyncIterator[Standby]:
    spawner = ForkServer() if forked else ByExec()
    standby = Standby(spawner)
    yield standby
    await standby.close()
    spawner.close()


async def test_one_that_was_never_used_leaves_nothing(standby: Standby) -> None:
    process = await standby.prepare()
    assert process is not None
    assert await standby.prepare() == process
    assert process.pid in standby.pids
    await standby.close()
    assert process.pid not in standby.pids
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


async def test_where_no_process_can_be_made_the_reason_is_kept_for_the_launch(
    standby: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert await standby.prepare() is None
    assert isinstance(standby.take(), FileNotFoundError)
    monkeypatch.undo()
    process = await standby.prepare()
    taken = standby.take()
    assert isinstance(taken, Spawned)
    assert process is not None
    assert taken.pid == process.pid
    os.killpg(taken.pid, 9)
    await taken.reap()
    for descriptor in (taken.socket.detach(), taken.stdout, taken.stderr):
        os.close(descriptor)
