"""A project with workflow files, a store, and real hosts: what the tests of this room stand on.

Workflows write one line per thing that they do into `log`, so that a test can say how often it happened; they
wait for files that a test makes, so that it can kill them in the middle.
"""

import asyncio
import contextlib
import os
import queue
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lockgate
from lockgate.engine.checking import check
from lockgate.flow.definition import Definition
from lockgate.host.host import Host
from lockgate.model.encoding import stored
from lockgate.model.records import Actor, Receipt, Run
from lockgate.model.statuses import ActorKind
from lockgate.store import commands
from lockgate.store.clock import SystemClock
from lockgate.store.once import read_once, write_once
from lockgate.store.openfile import open_file
from lockgate.store.reads import details

SOURCE_ROOT = str(Path(lockgate.__file__).parents[1])
USER = Actor(kind=ActorKind.USER, id="tester")

PRELUDE = """
import os, sys, time
from pathlib import Path
from lockgate import (Ask, Workflow, action, choice, checkpoint, compute, decision_edge, edge, human_decision,
    idempotent, manual, shell, text_input)
HERE = Path(__file__).parent
def log(line):
    with open(HERE / "log", "a") as file:
        file.write(f"{line}\\n")
def wait_for(name):
    while not (HERE / name).exists():
        time.sleep(0.005)
"""

HOST = """
import sys
from lockgate.host import run_host
drain, fork_server = sys.argv[3] == "drain", sys.argv[4] == "fork"
sys.exit(run_host(sys.argv[1], max_workers=int(sys.argv[2]), drain=drain, fork_server=fork_server, leash_fd=0))
"""


def until(happened: Callable[[], Any], what: str | Callable[[], str], within_s: float = 15.0) -> Any:
    """What `happened` answers once it is true; fails with `what` when it never is."""
    limit = time.monotonic() + within_s
    while not (found := happened()):
        if time.monotonic() > limit:
            raise AssertionError(f"not within {within_s:g} s: {what if isinstance(what, str) else what()}")
        time.sleep(0.005)
    return found


class Bench:
    def __init__(self, root: Path) -> None:
        self.project = root / "project"
        (self.project / ".lockgate").mkdir(parents=True)
        self.store = root / "state" / "state.sqlite"
        self._keys = 0

    # --- the project ---

    def write(self, body: str, name: str = "flow.py") -> Path:
        file = self.project / name
        file.write_text(PRELUDE + textwrap.dedent(body))
        return file

    def touch(self, name: str) -> None:
        (self.project / name).touch()

    def log(self) -> list[str]:
        with contextlib.suppress(FileNotFoundError):
            return (self.project / "log").read_text().splitlines()
        return []

    def until_logged(self, line: str, times: int = 1) -> None:
        until(lambda: self.log().count(line) >= times, f"{line!r} {times} times in {self.log()}")

    # --- the store ---

    def definition(self, file: Path) -> Definition:
        return check(str(file), caller=self.project).definition

    def start(self, file: Path, given: Any = None) -> str:
        new = commands.NewRun(
            definition=self.definition(file),
            input=stored(given),
            title=None,
            started_by="tester",
            started_by_uid=os.getuid(),
        )
        receipt = self.command(commands.start, new, create=True)
        assert receipt.run_id is not None
        return receipt.run_id

    def command(self, command: Callable[..., Receipt], *arguments: Any, create: bool = False, **named: Any) -> Receipt:
        self._keys += 1
        actor = {} if "human" in named else {"actor": USER}
        key = f"key-{self._keys}"
        return write_once(self.store, lambda tx: command(tx, *arguments, key=key, **actor, **named), create=create)

    def run(self, run_id: str) -> Run:
        return read_once(self.store, lambda connection: details.run(connection, run_id)).run

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Straight from the file, for what no read of the store says."""
        connection = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)
        try:
            return connection.execute(query, values).fetchall()
        finally:
            connection.close()

    def events(self, run_id: str) -> list[str]:
        return [row[0] for row in self.rows("SELECT type FROM events WHERE run_id = ? ORDER BY seq", run_id)]

    def until_status(self, run_id: str, status: str, within_s: float = 15.0) -> Run:
        return until(
            lambda: run if (run := self.run(run_id)).status == status else None,
            lambda: f"{run_id} {status}: {self.run(run_id)} {self.events(run_id)} {self.stderr(run_id)}",
            within_s,
        )

    def until_blocked(self, run_id: str) -> Run:
        return until(lambda: run if (run := self.run(run_id)).error_code else None, f"{run_id} blocked")

    def worker_pid(self, run_id: str) -> int:
        query = "SELECT pid FROM run_workers WHERE run_id = ? AND status IN ('starting', 'ready') AND pid IS NOT NULL"
        return until(lambda: self.rows(query, run_id), f"a worker of {run_id}")[0][0]

    def stderr(self, run_id: str) -> list[str]:
        return [row[0] for row in self.rows("SELECT stderr_tail FROM run_workers WHERE run_id = ?", run_id)]

    # --- hosts ---

    def host_pid(self) -> int:
        found: int = until(lambda: self.rows("SELECT pid FROM host_state")[0][0], "a host")
        return found

    @contextlib.contextmanager
    def host_when_started(self) -> Iterator[Callable[[Path], str]]:
        """A function that starts runs under a host that runs already."""
        open_file(self.store, SystemClock(), create=True).close()
        with self.host():
            yield self.start

    @contextlib.contextmanager
    def host_here(self) -> Iterator[None]:
        """A host in a thread of this process, for what needs no process of its own; its workers are real."""
        started: queue.SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = queue.SimpleQueue()

        async def serve() -> None:
            stop = asyncio.Event()
            started.put((asyncio.get_running_loop(), stop))
            await Host(self.store).run(stop)

        with ThreadPoolExecutor(1) as executor:
            running = executor.submit(asyncio.run, serve())
            loop, stop = started.get()
            try:
                yield
            finally:
                if not running.done():
                    loop.call_soon_threadsafe(stop.set)
                running.result(timeout=15)

    @contextlib.contextmanager
    def host(
        self, *, max_workers: int = 4, drain: bool = False, quiet: bool = False, fork_server: bool = True
    ) -> Iterator["subprocess.Popen[bytes]"]:
        """A host process; ended at the latest here, by its leash. `quiet`: its stderr is the test's to read."""
        ways = ["drain" if drain else "stay", "fork" if fork_server else "exec"]
        arguments = [str(self.store), str(max_workers), *ways]
        environment = {**os.environ, "PYTHONPATH": SOURCE_ROOT}
        process = subprocess.Popen(
            [sys.executable, "-c", HOST, *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE if quiet else None,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise
            finally:
                if process.stderr is not None:
                    process.stderr.close()


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def children(pid: int) -> list[int]:
    """Of all its threads: a host inside another program runs on one of them."""
    tasks = [place.name for place in Path(f"/proc/{pid}/task").glob("*")]
    return [int(word) for task in tasks for word in told_by(pid, f"task/{task}/children").split()]


def told_by(pid: int, name: str) -> str:
    """What the system tells of a process; nothing where it has just gone."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/{name}").read_text()
    return ""


def fork_servers_of(host: int) -> list[int]:
    """The one that there is, or none while it is replaced. A worker has its server's command line, but another name."""
    found = [pid for pid in children(host) if "lockgate.host.zygote" in told_by(pid, "cmdline")]
    return [pid for pid in found if told_by(pid, "comm") != "lockgate-worker\n"]


def fork_server_of(host: int) -> int:
    found: int = until(lambda: found[0] if len(found := fork_servers_of(host)) == 1 else None, "a fork server")
    return found
