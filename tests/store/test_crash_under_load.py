"""Processes that do anything to one store are killed again and again in the middle of it; then it is examined."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lockgate.store.doctor import examine

from .conftest import Bench
from .crashing import check_whole

REPOSITORY = Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("LOCKGATE_TEST_SEED") or random.randrange(1 << 20))


def roam(path: Path, seed: int) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(REPOSITORY / "src"), str(REPOSITORY)))}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.store.roaming", str(path), str(seed)],
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def storm(path: Path, processes: int, kills: int, pause: float) -> None:
    """Kills one after the other, at any moment, and lets a new one take its place."""
    dice = random.Random(SEED)
    Bench(path).close()
    seeds = iter(range(SEED, SEED + processes + kills + 1))
    alive = [roam(path, next(seeds)) for _ in range(processes)]
    try:
        for process in alive:
            assert process.stdout is not None
            assert process.stdout.readline() == "a hundred\n", process.communicate()[1]
        for _ in range(kills):
            time.sleep(dice.uniform(0, pause))
            victim = alive.pop(dice.randrange(len(alive)))
            kill(victim)
            alive.append(roam(path, next(seeds)))
    finally:
        for process in alive:
            kill(process)


def kill(process: "subprocess.Popen[str]") -> None:
    """Nobody ends by itself: whatever the store said, a roamer goes on."""
    assert process.poll() is None, process.communicate()[1]
    process.send_signal(signal.SIGKILL)
    errors = process.communicate()[1]
    assert errors == ""


def counts(path: Path) -> dict[str, Any]:
    connection = sqlite3.connect(path)
    try:
        return dict(connection.execute("SELECT type, count(*) FROM events GROUP BY type").fetchall())
    finally:
        connection.close()


def is_sound(path: Path) -> None:
    found = examine(path, every_run=True, is_alive=lambda pid, start: False)
    assert found.findings == (), found.findings
    check_whole(path)


def test_a_store_survives_its_users(tmp_path: Path) -> None:
    print(f"LOCKGATE_TEST_SEED={SEED}")
    path = tmp_path / "state.sqlite"
    storm(path, processes=2, kills=3, pause=0.8)
    is_sound(path)
    assert counts(path)["node_started"] > 10


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_store_survives_its_users_for_long(tmp_path: Path) -> None:
    print(f"LOCKGATE_TEST_SEED={SEED}")
    path = tmp_path / "state.sqlite"
    storm(path, processes=4, kills=60, pause=1.5)
    is_sound(path)
    seen = counts(path)
    rare = ("run_completed", "run_cancelled", "effect_ambiguous", "submission_rejected", "run_blocked")
    assert all(seen.get(type, 0) for type in rare), seen
