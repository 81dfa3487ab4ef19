"""A lock is waited for with short random pauses, up to a deadline; a person is not starved by a busy writer."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate.model.errors import StoreBusy
from lockgate.store.openfile import open_file
from lockgate.store.patience import Patience

from .conftest import Bench, HandClock


@pytest.fixture
def lock(bench: Bench) -> Iterator[sqlite3.Connection]:
    """Another connection that holds the write lock until it rolls back."""
    other = sqlite3.connect(bench.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()


def test_after_the_deadline_it_is_busy(bench: Bench, lock: sqlite3.Connection) -> None:
    bench.file.patience.deadline_ms = 30
    with pytest.raises(StoreBusy, match="another process is writing"):
        bench.run_id()
    lock.execute("ROLLBACK")
    assert bench.run_id()


def test_the_time_of_a_transaction_is_after_its_wait(bench: Bench, lock: sqlite3.Connection) -> None:
    def release() -> None:
        bench.clock.pass_ms(777)
        lock.execute("ROLLBACK")

    timer = threading.Timer(0.05, release)
    timer.start()
    assert bench.write(lambda tx: tx.now.wall_ms) == bench.clock.wall_ms
    timer.join()


def test_quitting_ends_a_wait_at_once(bench: Bench, lock: sqlite3.Connection) -> None:
    timer = threading.Timer(0.05, bench.file.patience.give_up)
    timer.start()
    began = time.monotonic()
    with pytest.raises(StoreBusy):
        bench.run_id()
    assert time.monotonic() - began < 4
    timer.join()


def test_readers_never_wait(bench: Bench, lock: sqlite3.Connection) -> None:
    bench.file.patience.deadline_ms = 1
    assert bench.read(lambda connection: connection.execute("SELECT count(*) FROM runs").fetchone()) == (0,)


def test_opening_waits_too(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    Bench(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode=EXCLUSIVE")
    other.execute("BEGIN IMMEDIATE")
    other.execute("UPDATE meta SET id = 1")
    other.execute("COMMIT")
    with pytest.raises(StoreBusy):
        open_file(path, HandClock(), patience=Patience(str(path), deadline_ms=30))
    other.close()
    open_file(path, HandClock()).close()
