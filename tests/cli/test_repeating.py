"""The same line with the same key gives one result, also when the world has moved on since the first time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate.store.clock import SystemClock
from tests.cli.conftest import Command
from tests.store.conftest import Bench


@pytest.fixture
def bench(home: Path) -> Iterator[Bench]:
    made = Bench(home / "store" / "state.sqlite")
    now = SystemClock().now()
    made.clock.wall_ms, made.clock.mono_ms, made.clock.boot_id = now.wall_ms - 500, now.mono_ms - 500, now.boot_id
    yield made
    made.close()


def test_a_submission_to_a_run_is_adopted_though_the_run_waits_no_more(bench: Bench, lockgate: Command) -> None:
    run_id, _ = bench.at_checkpoint()
    line = ("submit", run_id[-8:], "--output", '{"n": 1}', "--key", "s1", "--json")
    first, again = lockgate(*line), lockgate(*line)
    assert (first.code, again.code) == (0, 0)
    assert again.document == {**first.document, "outcome": "adopted"}
    assert lockgate("submit", run_id, "--output", '{"n": 2}', "--key", "s1", "--json").code == 5
    assert lockgate("submit", run_id, "--output", '{"n": 1}', "--key", "s2", "--json").code == 4


def test_a_start_and_a_restart_are_adopted_though_the_file_is_gone(lockgate: Command, home: Path) -> None:
    start = ("start", "plain", "--input", "[1]", "--key", "st", "--json")
    first = lockgate(*start).document
    lockgate("cancel", first["run_id"])
    restart = ("restart", first["run_id"], "--key", "rr", "--json")
    child = lockgate(*restart).document
    (home / ".lockgate" / "workflows" / "plain.py").unlink()
    assert lockgate(*start).document == {**first, "outcome": "adopted"}
    assert lockgate(*restart).document["run_id"] == child["run_id"]
    assert lockgate("start", "plain", "--input", "[1]", "--key", "new", "--json").code == 4
    assert lockgate("restart", first["run_id"], "--key", "new", "--json").code == 4
    assert len(lockgate("runs", "--json").document["runs"]) == 2


@pytest.mark.parametrize(
    "other",
    [
        ("start", "plain", "--input", "[2]", "--key", "st"),
        ("start", "plain", "--input", "[1]", "--title", "t", "--key", "st"),
        ("start", "absent", "--input", "[1]", "--key", "st"),
        ("start", "plain", "--input", "[1]", "--key", "cc"),
        ("restart", "RUN", "--key", "st"),
        ("restart", "RUN", "--revision", "1", "--key", "rr"),
    ],
    ids=lambda line: " ".join(line),
)
def test_a_key_that_was_used_for_something_else_is_refused_though_the_file_is_gone(
    lockgate: Command, home: Path, other: tuple[str, ...]
) -> None:
    first = lockgate("start", "plain", "--input", "[1]", "--key", "st", "--json").document
    lockgate("cancel", first["run_id"], "--key", "cc")
    lockgate("restart", first["run_id"], "--key", "rr")
    (home / ".lockgate" / "workflows" / "plain.py").unlink()
    said = lockgate(*(first["run_id"] if word == "RUN" else word for word in other), "--json")
    assert (said.code, said.document["outcome"], said.document["reason"]) == (5, "conflict", "key_conflict")


def test_a_key_that_was_used_for_something_else_is_said_to_be(lockgate: Command) -> None:
    lockgate("start", "plain", "--key", "k1")
    said = lockgate("start", "plain", "--title", "other", "--key", "k1")
    assert said.code == 5
    assert said.err == "lockgate: it was not queued: the key k1 was used for something else\n"
