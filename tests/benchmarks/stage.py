"""What most benchmarks need around a store: runs of a workflow file, a host process, and patience."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from lockgate.engine.checking import probe
from lockgate.host.starting import new_run
from lockgate.model.encoding import checked
from lockgate.store import commands
from lockgate.store.once import read_once, write_once
from lockgate.store.openfile import Transaction
from lockgate.store.shell import new_key
from tests.benchmarks.loops import write_file
from tests.benchmarks.setting import ROOT, environment

T = TypeVar("T")
PATIENCE_S = 120.0
LOCKGATE = [sys.executable, "-m", "lockgate"]


class Project:
    """A directory with a workflow file and a store beside it."""

    def __init__(self, directory: Path, name: str, text: str) -> None:
        self.directory = directory
        self.store = directory / "store" / "state.sqlite"
        self.file = write_file(directory, name, text)
        self._definition = probe(self.file, None, caller=directory).definition

    def start(self, runs: int, titles: Sequence[str] | None = None) -> list[str]:
        """Queues runs, many to a transaction; their ids."""
        made: list[str] = []
        while len(made) < runs:
            few = range(len(made), min(runs, len(made) + 100))
            made += write_once(self.store, lambda tx: [self._start(tx, titles, at) for at in few], create=True)  # noqa: B023
        return made

    def _start(self, tx: Transaction, titles: Sequence[str] | None, at: int) -> str:
        new, actor = new_run(self._definition, checked({"n": at}), titles[at] if titles else None)
        run_id = commands.start(tx, new, actor=actor, key=new_key()).run_id
        assert run_id is not None
        return run_id

    def start_one(self) -> str:
        """Queues one run, in a transaction of its own."""
        return write_once(self.store, lambda tx: self._start(tx, None, 0), create=True)

    def rows(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        """A question of the benchmark's own, on a connection of its own."""
        found: list[tuple[object, ...]] = read_once(self.store, lambda c: c.execute(sql, values).fetchall())
        return found

    def number(self, sql: str, *values: object) -> int:
        found = self.rows(sql, *values)[0][0]
        assert isinstance(found, int)
        return found


@contextmanager
def host(project: Project, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A host on the project's store, as a process; it is asked to stop in the end, unless it is gone."""
    process = start_host(project, *arguments)
    try:
        yield process
    finally:
        stop(process)


def start_host(project: Project, *arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*LOCKGATE, "host", *arguments],
        cwd=project.directory,
        env=environment(project.store),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def stop(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def companion(module: str, *arguments: str, pipes: bool = True) -> Iterator["subprocess.Popen[str]"]:
    """A script of this package as another process; its stdin and stdout are pipes of text."""
    process = subprocess.Popen(
        [sys.executable, "-m", f"tests.benchmarks.companions.{module}", *arguments],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.stdin is not None:
            process.stdin.close()
        if process.poll() is None:
            process.terminate()
        process.wait(20)
        assert process.stdout is not None
        process.stdout.close()


def line_of(process: "subprocess.Popen[str]") -> str:
    """The next line that a companion says. RuntimeError when it has ended instead."""
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"the companion ended with {process.wait(20)}")
    return line.strip()


def until(wished: Callable[[], T | None], *, within: float = PATIENCE_S, every: float = 0.005) -> T:
    """Asks again and again; the first answer that is not None or False."""
    end = time.monotonic() + within
    while True:
        answer = wished()
        if answer:
            return answer
        if time.monotonic() > end:
            raise TimeoutError(f"not within {within:g} s")
        time.sleep(every)


async def until_async(wished: Callable[[], T | None], *, within: float = PATIENCE_S, every: float = 0.001) -> T:
    """As `until`, on a loop that has other things to do."""
    end = time.monotonic() + within
    while not (answer := wished()):
        if time.monotonic() > end:
            raise TimeoutError(f"not within {within:g} s")
        await asyncio.sleep(every)
    return answer
