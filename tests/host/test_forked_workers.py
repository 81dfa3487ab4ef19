"""A forked worker is as one that was started by exec, and the fork server is nobody that a run depends on."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from lockgate.host import forking
from lockgate.host.exits import until_exit
from lockgate.host.forking import ForkServer
from lockgate.host.processes import identify
from lockgate.host.spawning import ByExec, Spawned, start_python
from lockgate.store import commands
from tests.host.bench import Bench, children, fork_server_of, kill, told_by, until
from tests.host.test_worker_imports import FORBIDDEN

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every worker is started by exec")

DESCRIBES_ITSELF = """
import json, random, resource, signal, tempfile, uuid
def kind(name):
    try:
        return os.readlink(f"/proc/self/fd/{name}")
    except FileNotFoundError:
        return None  # the descriptor of the listing itself
def describe(ctx):
    wait_for("go")
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    main = sys.modules["__main__"]
    log(json.dumps({
        "own": {
            "pid": os.getpid(),
            "random": random.random(),
            "name": next(tempfile._get_candidate_names()),
            "uuid": str(uuid.uuid4()),
            "files": [found for name in os.listdir("/proc/self/fd") if (found := kind(name))],
        },
        "leads": (os.getpgrp() == os.getpid(), os.getsid(0) == os.getpid()),
        "kinds": sorted(found.split("[")[0] for name in os.listdir("/proc/self/fd") if (found := kind(name))),
        "stdin": kind(0),
        "streams": [(each.encoding, each.errors, each.seekable(), each.line_buffering, each.write_through,
            each.fileno(), each.isatty(), each is original)
            for each, original in ((sys.stdout, sys.__stdout__), (sys.stderr, sys.__stderr__))],
        "signals": [status[name].strip() for name in ("SigBlk", "SigIgn", "SigCgt", "Threads", "Umask")],
        "handlers": {str(n): str(signal.getsignal(n)) for n in signal.valid_signals() if n != signal.SIGTERM},
        "limits": [resource.getrlimit(getattr(resource, n)) for n in dir(resource) if n.startswith("RLIMIT_")],
        "argv": (sys.argv[0], len(sys.argv)),
        "main": (main.__spec__.name, main.__file__),
        "path": sys.path,
        "flags": str(sys.flags),
        "cwd": os.getcwd(),
        "environment": {n: v for n, v in os.environ.items() if n not in ("LOCKGATE_RUN_ID", "LOCKGATE_ATTEMPT")},
        "modules": sorted(sys.modules),
    }))
    return {}
flow = Workflow("describes", start="n", nodes={"n": compute(describe)})
"""


def descriptions(bench: Bench, *, runs: int = 1, fork_server: bool = True) -> list[dict[str, Any]]:
    """What workers that ran at the same time say of themselves."""
    file = bench.write(DESCRIBES_ITSELF)
    before = len(bench.log())
    with bench.host(fork_server=fork_server):
        for run_id in [bench.start(file) for _ in range(runs)]:
            bench.worker_pid(run_id)
        bench.touch("go")
        until(lambda: len(bench.log()) == before + runs, "all of them")
    return [json.loads(line) for line in bench.log()[before:]]


def test_a_forked_worker_is_as_one_that_was_started_by_exec(bench: Bench) -> None:
    (forked,), (executed,) = descriptions(bench), descriptions(bench, fork_server=False)
    del forked["own"], executed["own"]
    modules = set(forked.pop("modules"))
    # The other one is the module `worker`, under the name __main__.
    own = {"gc", "lockgate.host.worker", "lockgate.host.practice"}
    assert modules - set(executed.pop("modules")) == own
    assert modules.isdisjoint(FORBIDDEN)
    assert forked == executed
    assert forked["leads"] == [True, True]
    assert (forked["stdin"], forked["cwd"]) == ("/dev/null", str(bench.project))
    assert not [name for name in forked["environment"] if name.startswith("LOCKGATE_") and name != "LOCKGATE_NODE"]


def test_workers_of_one_server_share_neither_descriptors_nor_chance(bench: Bench) -> None:
    one, two = (each["own"] for each in descriptions(bench, runs=2))
    assert {file for file in one["files"] if file.startswith(("socket:", "pipe:"))}.isdisjoint(two["files"])
    for name in ("pid", "random", "name", "uuid"):
        assert one[name] != two[name]


# --- the server and its host -------------------------------------------------------------------------------

STAYS = """
def stays(ctx):
    log(f"stays {os.getpid()}")
    wait_for("go")
    if (HERE / "dies").exists() and ctx.state.attempt_number == 1:
        print("last words", file=sys.stderr)
        os._exit(7)
    return {}
flow = Workflow("stays", start="n", nodes={"n": compute(stays)})
"""
QUICK = """
flow = Workflow("quick", start="n", nodes={"n": compute(lambda ctx: {})})
"""


def until_gone(pid: int) -> None:
    until(lambda: identify(pid) is None, f"{pid} gone", within_s=2.5)


@pytest.fixture
def losses(bench: Bench) -> Iterator[Any]:
    query = "SELECT payload ->> 'cause', payload ->> 'counted', payload ->> 'exit_code' FROM events "
    return lambda run_id: bench.rows(f"{query} WHERE type = 'run_interrupted' AND run_id = ?", run_id)


@pytest.mark.parametrize("dies", [False, True], ids=["its worker goes on", "its worker dies later"])
def test_a_killed_server_is_replaced_and_costs_no_run(bench: Bench, losses: Any, dies: bool) -> None:
    run_id = bench.start(bench.write(STAYS))
    if dies:
        bench.touch("dies")
    with bench.host() as host:
        bench.until_logged(f"stays {bench.worker_pid(run_id)}")
        server = fork_server_of(host.pid)
        kill(server)
        until_gone(server)
        other = bench.start(bench.write(QUICK, "quick.py"))
        bench.until_status(other, "completed")
        assert fork_server_of(host.pid) != server
        bench.touch("go")
        bench.until_status(run_id, "completed")
    # Its host has adopted it, and so knows how it ended.
    assert losses(run_id) == ([("exit", 1, 7)] if dies else [])
    assert losses(other) == []
    assert bench.stderr(run_id)[0] == ("last words\n" if dies else "")


def test_where_nobody_can_know_how_a_worker_ended_it_is_not_held_against_it(bench: Bench, losses: Any) -> None:
    run_id = bench.start(bench.write(STAYS))
    bench.touch("dies")
    # A host inside another program adopts nothing: the children of a killed server become the system's.
    with bench.host_here():
        bench.until_logged(f"stays {bench.worker_pid(run_id)}")
        kill(fork_server_of(os.getpid()))
        bench.touch("go")
        run = bench.until_status(run_id, "completed")
    assert losses(run_id) == [("unseen", 0, None)]
    assert run.losses == 0
    assert bench.stderr(run_id)[0] == "last words\n"


def test_a_server_that_does_not_answer_holds_up_no_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    file = bench.write(QUICK)
    with bench.host_here():
        bench.until_status(bench.start(file), "completed")
        server = fork_server_of(os.getpid())
        monkeypatch.setattr(forking, "ANSWER_S", 0.2)
        os.kill(server, signal.SIGSTOP)
        for _ in range(2):
            run_id = bench.start(file)
            assert bench.until_status(run_id, "completed").losses == 0
        until(lambda: identify(server) is None, "the silent one is replaced")
        assert fork_server_of(os.getpid()) != server


def test_a_server_that_does_not_answer_holds_up_no_cancellation(bench: Bench) -> None:
    file = bench.write(STAYS)
    with bench.host_here():
        run_id = bench.start(file)
        worker = bench.worker_pid(run_id)
        bench.until_logged(f"stays {worker}")
        until(lambda: len(children(fork_server_of(os.getpid()))) == 2, "the next worker waits")
        os.kill(fork_server_of(os.getpid()), signal.SIGSTOP)
        # One takes the worker that waits, the host asks for another, and gets no answer.
        bench.start(file)
        until(lambda: len(bench.log()) == 2, "the second")
        began = time.monotonic()
        bench.command(commands.cancel, run_id)
        until(lambda: identify(worker) is None, "its worker gone", within_s=forking.ANSWER_S)
        assert time.monotonic() - began < forking.ANSWER_S
        bench.touch("go")


@pytest.mark.parametrize("ending", ["stopped", "killed"])
def test_the_server_ends_with_its_host(bench: Bench, ending: str) -> None:
    run_id = bench.start(bench.write(STAYS))
    with bench.host() as host:
        worker = bench.worker_pid(run_id)
        server = fork_server_of(host.pid)
        assert worker in children(server)
        if ending == "killed":
            kill(host.pid)
            until_gone(server)
            until_gone(worker)
    assert (identify(server), identify(worker)) == (None, None)


def test_the_server_stays_alone_and_keeps_no_ended_worker(bench: Bench) -> None:
    file = bench.write(QUICK)
    with bench.host() as host:
        server = fork_server_of(host.pid)
        for run_id in [bench.start(file) for _ in range(6)]:
            bench.until_status(run_id, "completed")
        until(lambda: len(children(server)) == 1, "every worker reaped, and one that waits")
        assert len(os.listdir(f"/proc/{server}/task")) == 1, "a fork takes only one thread along"
        assert not [link for link in files_of(server) if str(bench.store.parent) in link], "the database"
        # Its standard files, the socket, and what Python itself may hold for chance.
        assert len([link for link in files_of(server) if "socket:" in link]) == 1


def files_of(pid: int) -> list[str]:
    return [os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]


def test_a_worker_has_the_environment_that_its_host_has_now(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    file = bench.write(
        """
        names = ("COMES", "GOES", "LOCKGATE_SECRET")
        flow = Workflow("says", start="n", nodes={"n": compute(
            lambda ctx: log([os.environb.get(name.encode()) for name in names]) or {})})
        """
    )
    monkeypatch.setenv("GOES", "soon")
    with bench.host_here():
        bench.until_status(bench.start(file), "completed")
        monkeypatch.delenv("GOES")
        monkeypatch.setenv("COMES", os.fsdecode(b"\xff = \n"))
        monkeypatch.setenv("LOCKGATE_SECRET", "kept")
        bench.until_status(bench.start(file), "completed")
    assert bench.log() == ["[None, b'soon', None]", "[b'\\xff = \\n', None, None]"]


# --- the processes alone -----------------------------------------------------------------------------------


@pytest.fixture(params=[ForkServer, ByExec], ids=["forked", "executed"])
async def spawned(request: pytest.FixtureRequest) -> AsyncIterator[Spawned]:
    spawner = request.param()
    spawner.prepare()
    made = await spawner.spawn()
    yield made
    made.socket.close()
    os.close(made.stdout)
    os.close(made.stderr)
    spawner.close()


async def test_an_ended_worker_keeps_its_pid_until_it_is_reaped(spawned: Spawned) -> None:
    assert os.getpgid(spawned.pid) == os.getsid(spawned.pid) == spawned.pid
    os.killpg(spawned.pid, signal.SIGKILL)
    await until_exit(spawned.pid)
    assert identify(spawned.pid) is None
    os.kill(spawned.pid, 0)
    assert await spawned.reap() == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(spawned.pid, 0)


async def test_a_server_that_never_starts_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    def start(module: str, *arguments: Any, **named: Any) -> Any:
        started.append(module)
        return start_python("lockgate.host.nowhere", *arguments, **named)

    monkeypatch.setattr(forking, "start_python", start)
    server = ForkServer()
    for _ in range(2):
        made = await server.spawn()
        until(lambda made=made: "lockgate.host.worker" in told_by(made.pid, "cmdline"), "a worker by exec")
        os.killpg(made.pid, signal.SIGKILL)
        assert await made.reap() == -signal.SIGKILL
        made.socket.close()
        os.close(made.stdout)
        os.close(made.stderr)
    assert len(started) == forking.MOST_STARTS
    server.close()


async def test_a_worker_without_its_host_ends_by_itself(spawned: Spawned) -> None:
    spawned.socket.shutdown(2)
    async with asyncio.timeout(2.5):
        await until_exit(spawned.pid)
    assert await spawned.reap() in (70, -signal.SIGKILL, -signal.SIGTERM)
