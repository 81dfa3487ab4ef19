"""Cancelled at any of its awaits, a call has happened whole or not at all, and its outcome can be asked by its key.

Each call is stopped at each of its suspensions in three moments: at once; while its function waits behind another
transaction (then it never runs); and while its function runs (then it is committed, though nobody was told).
"""

import asyncio
import secrets
import shutil
import threading
from collections.abc import Callable, Coroutine, Generator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lockgate.flow import transitions as t
from lockgate.model.errors import LockgateError
from lockgate.model.records import Now
from lockgate.model.statuses import Outcome
from lockgate.store.execution import StoreExecution
from lockgate.store.shell import Store, open_store
from lockgate.store.writer import Lane

from .acts import ACTS, BEA, MADE, Facts
from .conftest import USER, HandClock, definition
from .crashing import Dump, Kept, dump, fixed_randomness

Call = Callable[[Store, Facts], Coroutine[Any, Any, Any]]
PATCH = [{"op": "replace", "path": "/pace", "value": 2}]


def finish(facts: Facts) -> tuple[t.FinishAttempt]:
    return (t.FinishAttempt(attempt_id=facts["attempt"], outcome=Outcome.OK, output_hash=MADE.hash),)


CALLS: dict[str, tuple[str, Call]] = {
    "answer": ("answer", lambda s, f: s.answer(f["request"], "go", digest=f["digest"], actor=BEA, key="k")),
    "losing answer": (
        "losing answer",
        lambda s, f: s.answer(f["request"], "again", text="no", digest=f["digest"], actor=BEA, key="k"),
    ),
    "submit": ("submit", lambda s, f: s.submit(f["request"], {"n": 5}, actor=USER, key="k")),
    "pause": ("pause at work", lambda s, f: s.pause(f["run_id"], actor=USER, key="k")),
    "resume": ("resume waiting", lambda s, f: s.resume(f["run_id"], actor=USER, key="k")),
    "cancel": ("cancel waiting", lambda s, f: s.cancel(f["run_id"], actor=USER, key="k")),
    "resolve effect": (
        "resolve happened",
        lambda s, f: s.resolve_effect(f["effect"], happened=True, output=b"1", actor=BEA, key="k"),
    ),
    "change settings": ("change settings", lambda s, f: s.change_settings(f["run_id"], PATCH, actor=USER, key="k")),
    "start": ("start", lambda s, f: s.transact(lambda tx: ACTS["start"].do(tx, f), Lane.PERSON)),
    "ready": ("ready", lambda s, f: StoreExecution(s, f["claim"]).ready(definition().sources)),
    "proposal": (
        "finish attempt",
        lambda s, f: StoreExecution(s, f["claim"]).commit_transition(finish(f), (MADE,)),
    ),
}


class Gate(HandClock):
    """A clock at which the owned thread waits: a transaction that reads it has begun."""

    def __init__(self, like: HandClock) -> None:
        super().__init__()
        self.wall_ms, self.mono_ms, self.boot_id = like.wall_ms, like.mono_ms, like.boot_id
        self.reached = threading.Event()
        self.open = threading.Event()
        self.open.set()

    def now(self) -> Now:
        self.reached.set()
        assert self.open.wait(10)
        return super().now()


class Stopped:
    """Awaits a call up to its n-th suspension, lets `first` happen there, and cancels it."""

    def __init__(self, call: Coroutine[Any, Any, Any], at: int, first: Callable[[], None]) -> None:
        self.call = call
        self.at = at
        self.first = first
        self.suspensions = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        inner = self.call.__await__()
        error: BaseException | None = None
        while True:
            try:
                waits_for = inner.send(None) if error is None else inner.throw(error)
            except StopIteration as done:
                return done.value
            error = None
            self.suspensions += 1
            if self.suspensions == self.at:
                self.first()
                if waits_for is None:
                    error = asyncio.CancelledError()
                    continue
                waits_for.cancel()
            try:
                yield waits_for
            except BaseException as raised:
                error = raised


class Prepared:
    """A store before a call, what the call makes of it, and what it says when it is repeated."""

    def __init__(self, name: str, room: Path) -> None:
        act, self.call = CALLS[name]
        self.kept = Kept(ACTS[act], room)
        self.room = room
        self.numbers = iter(range(1_000))

    def copy(self) -> Path:
        path = self.room / f"{next(self.numbers)}.sqlite"
        shutil.copyfile(self.kept.base, path)
        path.chmod(0o600)
        return path

    async def said(self, store: Store) -> Any:
        fixed_randomness()
        try:
            return msgspec.to_builtins(await self.call(store, self.kept.facts))
        except LockgateError as error:
            return f"{type(error).__name__}: {error}"

    async def whole(self) -> tuple[Any, Any, Dump, Dump]:
        path = self.copy()
        old = dump(path)
        async with open_store(path, clock=Gate(self.kept.clock)) as store:
            first = await self.said(store)
            again = await self.said(store)
        return first, again, old, dump(path)


@pytest.fixture
def steady_randomness(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the acts set is set back."""
    monkeypatch.setattr(secrets, "token_hex", secrets.token_hex)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("steady_randomness")
async def test_a_call_is_stopped_at_each_of_its_awaits(name: str, tmp_path: Path) -> None:
    prepared = Prepared(name, tmp_path)
    said, again, old, new = await prepared.whole()
    assert old != new
    for moment in (at_once, behind_another, while_it_runs):
        at, ended = 1, False
        while not ended:
            path = prepared.copy()
            gate = Gate(prepared.kept.clock)
            async with open_store(path, clock=gate) as store:
                ended, must = await moment(prepared, store, gate, at)
                # What was queued before this is done when this is.
                await store.transact(lambda tx: None)
                left = "old" if await events(store) == len(old["events"]) else "new"
                assert must in (None, left), (moment.__name__, at)
                assert await prepared.said(store) == (said if left == "old" else again), (moment.__name__, at)
            assert dump(path) == new, (moment.__name__, at)
            at += 1
        assert at > 2, "the call never waited"


async def events(store: Store) -> int:
    count: int = await store.read(lambda connection: connection.execute("SELECT count(*) FROM events").fetchone()[0])
    return count


async def stop(prepared: Prepared, store: Store, at: int, first: Callable[[], None]) -> bool:
    """Whether the call ended by itself before it came to its suspension `at`."""
    fixed_randomness()
    stopped = Stopped(prepared.call(store, prepared.kept.facts), at, first)
    try:
        await stopped
    except asyncio.CancelledError:
        return False
    assert stopped.suspensions < at
    return True


async def at_once(prepared: Prepared, store: Store, gate: Gate, at: int) -> tuple[bool, str | None]:
    ended = await stop(prepared, store, at, lambda: None)
    return ended, "new" if ended else None


async def behind_another(prepared: Prepared, store: Store, gate: Gate, at: int) -> tuple[bool, str | None]:
    """The thread is busy: a function that was only queued never runs."""
    gate.open.clear()
    gate.reached.clear()
    other = asyncio.create_task(store.transact(lambda tx: None))
    while not gate.reached.is_set():
        await asyncio.sleep(0)
    # Reading has a thread of its own; only the last await of a call waits for the writer.
    timer = threading.Timer(0.05, gate.open.set)
    timer.start()
    ended = await stop(prepared, store, at, lambda: None)
    timer.join()
    await other
    return ended, "new" if ended else "old"


async def while_it_runs(prepared: Prepared, store: Store, gate: Gate, at: int) -> tuple[bool, str | None]:
    """The function is inside its transaction when its awaiter goes: it is committed all the same."""
    begun = False

    def first() -> None:
        nonlocal begun
        begun = gate.reached.wait(0.05)

    gate.reached.clear()
    ended = await stop(prepared, store, at, first)
    return ended, "new" if begun or ended else "old"


async def test_opening_is_stopped_at_each_of_its_awaits(tmp_path: Path) -> None:
    """No thread and no lock stays behind, and the next one opens."""
    path = tmp_path / "state.sqlite"
    before = set(threading.enumerate())
    at, ended = 1, False
    while not ended:
        manager = open_store(path, create=True)
        opening = Stopped(manager.__aenter__(), at, lambda: None)
        try:
            await opening
        except asyncio.CancelledError:
            left_behind(before)
        else:
            ended = True
            await manager.__aexit__(None, None, None)
        async with open_store(path, create=True) as store:
            assert await events(store) == 0
        left_behind(before)
        at += 1
    assert at > 2


def left_behind(before: set[threading.Thread]) -> None:
    """Every new thread is about to end."""
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive()
