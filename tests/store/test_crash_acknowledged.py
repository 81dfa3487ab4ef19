"""What was acknowledged survives kill -9, at any moment, and also where another process met the lock trap.

The child commits 500 transitions through `Store` and prints each acknowledgement; the parent kills it somewhere.
"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Bench
from .crashing import check_whole

REPOSITORY = Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("LOCKGATE_TEST_SEED") or random.randrange(1 << 30))
CHILD = """
import asyncio, sys
from pathlib import Path
sys.path[:0] = [sys.argv[2], sys.argv[2] + "/src"]
from tests.store.conftest import USER
from lockgate.model.errors import StoreDetached
from lockgate.store import commands
from lockgate.store.shell import open_store

async def main(path, run_id, trap):
    async with open_store(path) as store:
        for number in range(500):
            if trap and number == 20:
                # The trap: closing any handle of this process drops the locks of SQLite.
                path.open("rb").close()
                print("trapped", flush=True)
                sys.stdin.readline()
            act = commands.resume if number % 2 else commands.pause
            try:
                receipt = await store.transact(lambda tx: act(tx, run_id, actor=USER, key=f"turn-{number}"))
            except StoreDetached:
                print("detached", flush=True)
                sys.stdin.readline()
            assert receipt.outcome == "accepted", receipt
            print(f"turn-{number}", flush=True)
        sys.stdin.readline()

asyncio.run(main(Path(sys.argv[1]), sys.argv[3], sys.argv[4] == "trap"))
"""
COUNT = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT count(*) FROM runs'); c.close()"


class Child:
    def __init__(self, path: Path, how: str) -> None:
        bench = Bench(path)
        self.path, self.run_id = path, bench.run_id()
        bench.close()
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path), str(REPOSITORY), self.run_id, how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the child ended by itself"
        return line.strip()

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill(self) -> list[str]:
        """What it had acknowledged without our having read it."""
        os.kill(self.process.pid, signal.SIGKILL)
        rest = self.process.communicate()[0].split("\n")
        # A last line without its end was never told whole.
        return rest[:-1]


def survived(path: Path) -> set[str]:
    connection = sqlite3.connect(path)
    try:
        return {row[0] for row in connection.execute("SELECT key FROM commands")}
    finally:
        connection.close()


@pytest.mark.parametrize("round", range(3))
def test_every_acknowledged_commit_survives(tmp_path: Path, round: int) -> None:
    count = random.Random(SEED + round).randrange(1, 400)
    print(f"LOCKGATE_TEST_SEED={SEED}, killed after {count}")
    child = Child(tmp_path / "state.sqlite", "plain")
    told = [child.line() for _ in range(count)]
    told += child.kill()
    assert len(told) >= count
    assert set(told) <= survived(child.path)
    check_whole(child.path)


def test_the_lock_trap_ends_acknowledgements_or_loses_none(tmp_path: Path) -> None:
    child = Child(tmp_path / "state.sqlite", "trap")
    told = []
    while (line := child.line()) != "trapped":
        told.append(line)
    subprocess.run([sys.executable, "-c", COUNT, str(child.path)], check=True)
    child.go_on()
    while (line := child.line()) not in ("detached", "turn-499"):
        told.append(line)
    child.kill()
    assert len(told) >= 20
    assert set(told) <= survived(child.path)
    check_whole(child.path)
