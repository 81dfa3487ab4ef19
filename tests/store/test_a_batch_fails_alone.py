"""Functions that share a transaction: one that raises is undone alone, and none is acknowledged before COMMIT."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from lockgate.model.errors import StoreError, StoreReadOnly
from lockgate.store.openfile import Transaction
from lockgate.store.shell import Store, open_store
from lockgate.store.writer import Lane

from .conftest import HandClock


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(tmp_path / "state.sqlite", create=True, clock=HandClock()) as opened:
        await opened.transact(keep("first"))
        yield opened


def keep(key: str) -> "object":
    def fn(tx: Transaction) -> str:
        tx.connection.execute("INSERT INTO blobs (hash, content) VALUES (?, x'00')", (f"{key:0<64}",))
        return key

    return fn


def spoil(tx: Transaction) -> None:
    keep("spoilt")(tx)  # type: ignore[operator]
    raise LookupError("spoilt")


async def kept(store: Store) -> set[str]:
    rows = await store.read(lambda connection: connection.execute("SELECT hash FROM blobs").fetchall())
    return {row[0].rstrip("0") for row in rows}


class Held:
    """Holds the owned thread inside a transaction until it is let go, so that a batch collects behind it."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.go = threading.Event()

    def __call__(self, tx: Transaction) -> None:
        self.entered.set()
        assert self.go.wait(10)


@pytest.fixture
def held() -> Iterator[Held]:
    made = Held()
    yield made
    made.go.set()


async def behind(store: Store, held: Held, *jobs: tuple[object, Lane]) -> list[object]:
    """Runs the jobs as one batch behind a transaction that is under way."""
    first = asyncio.create_task(store.transact(held))
    while not held.entered.is_set():
        await asyncio.sleep(0)
    tasks = [asyncio.create_task(store.transact(fn, lane)) for fn, lane in jobs]  # type: ignore[arg-type]
    await asyncio.sleep(0)
    held.go.set()
    await first
    return await asyncio.gather(*tasks, return_exceptions=True)


async def test_one_that_raises_is_undone_alone(store: Store, held: Held) -> None:
    told = await behind(store, held, (keep("a"), Lane.WORKER), (spoil, Lane.WORKER), (keep("b"), Lane.WORKER))
    assert [str(each) for each in told] == ["a", "spoilt", "b"]
    assert await kept(store) == {"first", "a", "b"}


async def test_only_what_was_half_written_makes_the_batch_run_again(store: Store, held: Held) -> None:
    """A function that raises before it writes costs the others nothing; after one that wrote, each is told of the
    run that counts."""
    runs: list[str] = []

    def counted(key: str, *, fails: bool = False) -> object:
        def fn(tx: Transaction) -> tuple[str, int]:
            runs.append(key)
            if not fails:
                keep(key)(tx)  # type: ignore[operator]
                return key, runs.count(key)
            raise LookupError(key)

        return fn

    told = await behind(store, held, (counted("a"), Lane.WORKER), (counted("x", fails=True), Lane.WORKER))
    assert (told[0], str(told[1]), runs) == (("a", 1), "x", ["a", "x"])
    told = await behind(store, Held(), (counted("b"), Lane.WORKER), (spoil, Lane.WORKER), (counted("c"), Lane.WORKER))
    assert (told[0], str(told[1]), told[2]) == (("b", 2), "spoilt", ("c", 1))
    assert await kept(store) == {"first", "a", "b", "c"}


async def test_one_that_raises_alone_leaves_nothing(store: Store) -> None:
    with pytest.raises(LookupError):
        await store.transact(spoil)
    assert await kept(store) == {"first"}
    assert await store.transact(keep("after")) == "after"  # type: ignore[arg-type]


async def test_a_person_goes_before_workers_and_output(store: Store, held: Held) -> None:
    order: list[str] = []

    def note(name: str) -> object:
        return lambda tx: order.append(name)

    await behind(
        store,
        held,
        (note("output"), Lane.TELEMETRY),
        (note("worker"), Lane.WORKER),
        (note("person"), Lane.PERSON),
        (note("heartbeat"), Lane.CONTROL),
        (note("worker 2"), Lane.WORKER),
    )
    assert order == ["person", "heartbeat", "worker", "worker 2", "output"]


async def test_a_batch_is_one_moment(store: Store, held: Held) -> None:
    told = await behind(store, held, *[(lambda tx: id(tx), Lane.WORKER)] * 40)
    assert sorted(told.count(each) for each in set(told)) == [8, 32]


async def test_nobody_is_told_of_what_could_not_be_committed(store: Store, held: Held) -> None:
    def fill(tx: Transaction) -> str:
        tx.connection.execute(f"PRAGMA max_page_count={tx.connection.execute('PRAGMA page_count').fetchone()[0]}")
        tx.connection.execute("INSERT INTO blobs (hash, content) VALUES (?, zeroblob(1000000))", ("f" * 64,))
        return "never"

    told = await behind(store, held, (keep("a"), Lane.WORKER), (fill, Lane.WORKER), (keep("b"), Lane.WORKER))
    assert all(isinstance(each, StoreError) for each in told)
    assert await kept(store) == {"first"}
    with pytest.raises(StoreError, match="full"):
        await store.transact(fill)


async def test_a_function_that_ends_the_transaction_takes_the_batch_with_it(store: Store, held: Held) -> None:
    """It raises nothing, and yet what comes after it must not be written by itself, one statement at a time."""

    def undo(tx: Transaction) -> None:
        tx.connection.execute("ROLLBACK")

    told = await behind(store, held, (keep("a"), Lane.WORKER), (undo, Lane.WORKER), (keep("b"), Lane.WORKER))
    assert all(isinstance(each, StoreError) for each in told)
    assert await kept(store) == {"first"}


async def test_cancelling_the_awaiter_never_leaves_half(store: Store, held: Held) -> None:
    """Whether it ran or not, it ran whole, and the next transaction is its own."""
    first = asyncio.create_task(store.transact(held))
    while not held.entered.is_set():
        await asyncio.sleep(0)

    def two(tx: Transaction) -> None:
        keep("x")(tx)  # type: ignore[operator]
        keep("y")(tx)  # type: ignore[operator]

    waiting = asyncio.create_task(store.transact(two))
    await asyncio.sleep(0)
    waiting.cancel()
    first.cancel()
    held.go.set()
    await asyncio.gather(first, waiting, return_exceptions=True)
    await store.transact(keep("z"))  # type: ignore[arg-type]
    found = await kept(store)
    assert "z" in found
    assert ("x" in found) == ("y" in found)


async def test_closing_lets_queued_functions_finish(tmp_path: Path, held: Held) -> None:
    path = tmp_path / "closing.sqlite"
    async with open_store(path, create=True) as store:
        tasks = [asyncio.create_task(store.transact(keep(str(n)))) for n in range(3)]  # type: ignore[arg-type]
        await asyncio.sleep(0)
    assert await asyncio.gather(*tasks) == ["0", "1", "2"]
    with pytest.raises(StoreReadOnly, match="closed"):
        await store.transact(keep("late"))  # type: ignore[arg-type]
