"""Kills the process that commits, at any point of the commit, and says what the store was left with.

Runs as a process of its own (`python -m tests.store.crashing`), because it forks one child for each point, and
nothing that has a store open may fork. A request is a line of JSON {act, seed, most} on stdin; the answer is one too.

There are three rows of points. *statement*: before the n-th statement runs, BEGIN and COMMIT among them, and once
after the last. *instruction*: inside a statement, before an instruction of SQLite's machine. *byte*: inside COMMIT,
when the log would grow beyond so many bytes (RLIMIT_FSIZE kills the writer in the middle of its write).
"""

import asyncio
import json
import os
import random
import resource
import secrets
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import msgspec

from lockgate.model.errors import LockgateError
from lockgate.store import migrations, opening, writer
from lockgate.store.audit import audit
from lockgate.store.openfile import OpenFile, Transaction, open_file
from lockgate.store.shell import open_store

from .acts import ACTS, Act, Facts
from .conftest import Bench, HandClock

Dump = dict[str, list[tuple[Any, ...]]]
Hook = Callable[[OpenFile], None]


class Point(NamedTuple):
    row: str
    at: int


class Whole(NamedTuple):
    """What the act does when nobody is killed, and what it says when it is repeated."""

    said: Any
    again: Any
    old: Dump
    new: Dump
    repeated: Dump
    statements: int
    instructions: int
    bytes: int

    def points(self) -> list[Point]:
        found = [Point("statement", at) for at in range(1, self.statements + 2)]
        found += [Point("instruction", at) for at in range(1, self.instructions, max(1, self.instructions // 25))]
        return found + [Point("byte", at) for at in range(1, self.bytes, 3_001)]


def dump(path: Path) -> Dump:
    """Every row of the store as another process would read it, and that its file is sound."""
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")]
        return {name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names}
    finally:
        connection.close()


def check_whole(path: Path) -> None:
    """Rows are the fold of the events, the chains hold, and every value is there; where the schema is the present."""
    connection = sqlite3.connect(path)
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] != opening.VERSION:
            return
        for (run_id,) in connection.execute("SELECT run_id FROM runs").fetchall():
            found = audit(connection, run_id)
            assert found.difference is None, found.difference
    finally:
        connection.close()


class Kept:
    """A store prepared for one act, copied for each try; every try has the same clock and the same randomness."""

    def __init__(self, act: Act, room: Path) -> None:
        self.act = act
        self.room = room
        self.base = room / "base.sqlite"
        fixed_randomness()
        bench = Bench(self.base)
        self.facts: Facts = act.prepare(bench)
        bench.clock.pass_ms(1_234)
        self.clock: HandClock = bench.clock
        bench.close()
        assert not self.base.with_name("base.sqlite-wal").exists()

    def copy(self) -> Path:
        work = self.room / "work.sqlite"
        for left in self.room.glob("work.sqlite*"):
            left.unlink()
        shutil.copyfile(self.base, work)
        work.chmod(0o600)
        return work

    def commit(self, path: Path, hook: Hook | None = None, after: Hook | None = None) -> Any:
        """The act, once, in a transaction of its own; what it said, as JSON."""
        if self.act.batch:
            return self.commit_batch(path, hook, after)
        fixed_randomness()
        file = open_file(path, self.clock)
        try:
            # A killed process loses nothing that it wrote: syncing would only cost time here.
            file.connection.execute("PRAGMA synchronous=OFF")
            if hook is not None:
                hook(file)
            said = msgspec.to_builtins(file.write(self._do, self.clock), enc_hook=sorted)
            if after is not None:
                after(file)
            return said
        except LockgateError as error:
            return f"{type(error).__name__}: {error}"
        finally:
            file.close()

    def commit_batch(self, path: Path, hook: Hook | None = None, after: Hook | None = None) -> Any:
        """The functions of a batch, through the writer; what each said."""
        fixed_randomness()

        async def together() -> list[Any]:
            async with open_store(path, clock=self.clock) as store:
                await store.transact(lambda tx: tx.connection.execute("PRAGMA cache_size").fetchone())
                held, queued = threading.Event(), threading.Event()

                def hold(tx: Transaction) -> None:
                    held.set()
                    assert queued.wait(10)

                holding = asyncio.create_task(store.transact(hold))
                while not held.is_set():
                    await asyncio.sleep(0)
                jobs = [partial(fn, facts=self.facts) for fn in self.act.batch]
                tasks = [asyncio.create_task(store.transact(job)) for job in jobs]
                await asyncio.sleep(0)
                assert store._writer is not None
                file = store._writer._connection.file
                if hook is not None:
                    hook(file)
                queued.set()
                await holding
                said = await asyncio.gather(*tasks, return_exceptions=True)
                if after is not None:
                    after(file)
                return [repr(each) if isinstance(each, BaseException) else msgspec.to_builtins(each) for each in said]

        return asyncio.run(together())

    def _do(self, tx: Transaction) -> Any:
        return self.act.do(tx, self.facts)

    def whole(self) -> Whole:
        path = self.copy()
        old = dump(path)
        check_whole(path)
        statements: list[str] = []
        instructions = [0]
        log_size = [0]

        def step() -> int:
            instructions[0] += 1
            return 0

        def count(file: OpenFile) -> None:
            file.connection.set_trace_callback(statements.append)
            file.connection.set_progress_handler(step, 1)

        def measure(file: OpenFile) -> None:
            file.connection.set_progress_handler(None, 0)
            file.connection.set_trace_callback(None)
            log_size[0] = path.with_name(path.name + "-wal").stat().st_size

        said = self.commit(path, count, measure)
        new = dump(path)
        check_whole(path)
        again = self.commit(path)
        repeated = dump(path)
        check_whole(path)
        return Whole(said, again, old, new, repeated, len(statements), instructions[0], log_size[0])

    def kill_at(self, point: Point) -> tuple[bool, Path]:
        """(whether the child was killed, the store as it left it)."""
        path = self.copy()
        child = os.fork()
        if child == 0:
            try:
                self.commit(path, lambda file: arm(file, point))
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        return os.WIFSIGNALED(status), path


class Migrating(Kept):
    """The kept store of version 1, on its way to the present schema."""

    def __init__(self, room: Path) -> None:
        self.room = room
        self.base = room / "base.sqlite"
        shutil.copyfile(Path(__file__).parent / "data" / "v1.sqlite", self.base)
        self.clock = HandClock()

    def copy(self) -> Path:
        for left in self.room.glob("*backup*"):
            left.unlink()
        return super().copy()

    def commit(self, path: Path, hook: Hook | None = None, after: Hook | None = None) -> Any:
        """The migration, with a backup whose name is new as the next second's would be."""
        connect = opening.connect
        waiting = [hook] if hook is not None else []

        def watched(file: Path, mode: str) -> sqlite3.Connection:
            connection = connect(file, mode)
            # The first is the one that migrates; the second only reads for the backup.
            if waiting:
                waiting.pop()(cast(OpenFile, SimpleNamespace(connection=connection)))
            return connection

        target = self.room / f"backup-{len(list(self.room.glob('backup-*')))}.sqlite"
        opening.connect = watched
        try:
            done = migrations.migrate(path, backup_to=target, clock=self.clock, is_alive=lambda pid, start: False)
        finally:
            opening.connect = connect
        return {"before": done.before, "after": done.after}


def arm(file: OpenFile, point: Point) -> None:
    """Sets the trap of a point on an open store."""
    left = [point.at]

    def die(*_: object) -> int:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0

    if point.row == "statement":
        file.connection.set_trace_callback(die)
    elif point.row == "instruction":
        file.connection.set_progress_handler(die, 1)
    else:
        # The file ends in the middle of a write, and so does the process: Python ignores this signal by itself.
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (point.at, resource.RLIM_INFINITY))


def fixed_randomness() -> None:
    numbers = iter(range(1, 1 << 20))
    secrets.token_hex = lambda nbytes=None: f"{next(numbers):0{2 * (nbytes or 32)}x}"


def examine(kept: Kept, whole: Whole, point: Point) -> str:
    """Kills at the point; `old` or `new` by what the store is after it. Raises AssertionError for anything else."""
    was_killed, path = kept.kill_at(point)
    assert was_killed or point == Point("statement", whole.statements + 1), "the trap did not close"
    left = dump(path)
    assert left in (whole.old, whole.new), differences(left, whole)
    state = "old" if left == whole.old and whole.old != whole.new else "new"
    said = kept.commit(path)
    assert said == (whole.said if state == "old" or whole.old == whole.new else whole.again), said
    assert dump(path) == (whole.new if state == "old" else whole.repeated)
    return state


def differences(left: Dump, whole: Whole) -> str:
    return "; ".join(
        f"{name} is {'old' if rows == whole.old[name] else 'new' if rows == whole.new[name] else 'neither'}"
        for name, rows in left.items()
        if whole.old[name] != whole.new[name]
    )


def answer(request: dict[str, Any], room: Path) -> dict[str, Any]:
    """{said, again, points: {row: how many}, states: {old, new}, problems}; `most` null takes every point."""
    kept = Migrating(room) if request["act"] == "migrate" else Kept(ACTS[request["act"]], room)
    whole = kept.whole()
    points = whole.points()
    most = request["most"]
    if most is not None and most < len(points):
        # COMMIT and the moment after it are always among them.
        ends = [Point("statement", whole.statements), Point("statement", whole.statements + 1)]
        points = ends + random.Random(request["seed"]).sample(points, most)
    told: dict[str, Any] = {"said": whole.said, "again": whole.again, "changed": whole.old != whole.new}
    told |= {"points": {}, "states": {"old": 0, "new": 0}, "problems": []}
    for point in points:
        try:
            state = examine(kept, whole, point)
        except AssertionError as problem:
            told["problems"].append(f"{point.row} {point.at}: {problem}"[:2_000])
            continue
        told["states"][state] += 1
        told["points"][point.row] = told["points"].get(point.row, 0) + 1
    return told


def requests() -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        yield json.loads(line)


def main() -> None:
    # Watched at every instruction, a batch takes longer than the writer would give it.
    writer.MOST_SECONDS = 60
    for request in requests():
        with tempfile.TemporaryDirectory() as room:
            try:
                told = answer(request, Path(room))
            except Exception:
                told = {"problems": [traceback.format_exc()]}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
