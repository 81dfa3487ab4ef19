"""Killed at any point of any transition, the store is fully old or fully new, and the same command has one result.

The default run takes a sample whose seed it prints (LOCKGATE_TEST_SEED repeats it); `-m slow` takes every point.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lockgate.store.opening import VERSION

from .acts import ACTS

REPOSITORY = Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("LOCKGATE_TEST_SEED") or random.randrange(1 << 30))
SAMPLED_ACTS = 16
SAMPLED_POINTS = 4


class Killer:
    """The process that forks and kills, asked over its pipes."""

    def __init__(self) -> None:
        path = os.pathsep.join(str(REPOSITORY / part) for part in ("src", "."))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.store.crashing"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONPATH": path},
        )

    def ask(self, act: str, seed: int, most: int | None) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"act": act, "seed": seed, "most": most}) + "\n")
        self.process.stdin.flush()
        told: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert told["problems"] == [], f"LOCKGATE_TEST_SEED={SEED} {act}\n" + "\n".join(told["problems"][:5])
        return told

    def close(self) -> None:
        self.process.communicate()


@pytest.fixture(scope="module")
def killer() -> Iterator[Killer]:
    made = Killer()
    yield made
    made.close()


def holds(act: str, told: dict[str, Any]) -> None:
    """Both states were seen where the act changes anything, and a repeated command adds nothing to the first."""
    if told["changed"]:
        assert told["states"]["old"] > 0
        assert told["states"]["new"] > 0
    if ACTS[act].keyed:
        adopted = {**told["said"], "outcome": "adopted"} if told["said"]["outcome"] == "accepted" else told["said"]
        assert told["again"] == adopted


def test_a_sample_of_the_matrix(killer: Killer) -> None:
    print(f"LOCKGATE_TEST_SEED={SEED}")
    for act in random.Random(SEED).sample(sorted(ACTS), SAMPLED_ACTS):
        holds(act, killer.ask(act, SEED, SAMPLED_POINTS))


@pytest.mark.slow
@pytest.mark.parametrize("act", sorted(ACTS))
def test_every_point(killer: Killer, act: str) -> None:
    holds(act, killer.ask(act, 0, None))


@pytest.mark.parametrize("most", [6, pytest.param(None, marks=pytest.mark.slow)])
def test_a_killed_migration_is_done_or_not_begun(killer: Killer, most: int | None) -> None:
    """And the next one ends it, with a backup of its own."""
    told = killer.ask("migrate", SEED, most)
    assert (told["said"], told["again"]) == ({"before": 1, "after": VERSION}, {"before": VERSION, "after": VERSION})
    assert told["states"]["old"] > 0
