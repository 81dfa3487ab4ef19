"""Every situation that a run can be in, in a real store: its word in JSON, in text, and in the frame of `--once`."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lockgate.model.statuses import BlockCode
from lockgate.store import claims, commands
from lockgate.store.clock import SystemClock
from tests.cli.conftest import Command, hold
from tests.store import histories
from tests.store.conftest import USER, Bench

Reach = Callable[[Bench], str]


@pytest.fixture
def bench(home: Path) -> Iterator[Bench]:
    """The store that the commands read, written by a clock that can be set back to long ago."""
    made = Bench(home / "store" / "state.sqlite")
    now = SystemClock().now()
    made.clock.wall_ms, made.clock.mono_ms, made.clock.boot_id = now.wall_ms - 500, now.mono_ms - 500, now.boot_id
    yield made
    made.close()


def claimed(bench: Bench) -> str:
    run_id = bench.run_id()
    bench.claim(run_id)
    return run_id


def working(bench: Bench) -> str:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    bench.begin(claim, "work")
    return run_id


def silent(bench: Bench) -> str:
    bench.clock.pass_ms(-40_000)
    return working(bench)


def of_another_boot(bench: Bench) -> str:
    bench.clock.boot_id = "an earlier boot"
    return working(bench)


def interrupted(bench: Bench) -> str:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    bench.begin(claim, "work")
    histories.lose(bench, run_id, claim.generation)
    return run_id


def at_decision(bench: Bench) -> str:
    return bench.at_decision()[0]


def at_checkpoint(bench: Bench) -> str:
    return bench.at_checkpoint()[0]


def answered(bench: Bench) -> str:
    run_id, request_id, digest = bench.at_decision()
    assert bench.answer(request_id, digest).outcome == "accepted"
    return run_id


def starting_again(bench: Bench) -> str:
    run_id = answered(bench)
    bench.claim(run_id)
    return run_id


def overdue(bench: Bench) -> str:
    bench.clock.pass_ms(-70_000)
    return at_decision(bench)


def paused(reach: Reach) -> Reach:
    def then(bench: Bench) -> str:
        run_id = reach(bench)
        bench.write(lambda tx: commands.pause(tx, run_id, actor=USER, key=bench.key()))
        return run_id

    return then


def parked_between(bench: Bench) -> str:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    bench.step(claim, "work", 1)
    bench.write(lambda tx: commands.pause(tx, run_id, actor=USER, key=bench.key()))
    bench.write(lambda tx: claims.release(tx, claim))
    return run_id


def blocked(code: BlockCode, *, graph_changed: bool = False) -> Reach:
    def reach(bench: Bench) -> str:
        run_id = bench.run_id()
        claim = bench.claim(run_id)
        bench.write(lambda tx: claims.block(tx, claim, code, "a.py", graph_changed=graph_changed))
        return run_id

    return reach


def unsure(bench: Bench) -> str:
    return histories.unsure(bench)[0]


def completed(bench: Bench) -> str:
    run_id = answered(bench)
    bench.complete(run_id)
    return run_id


SITUATIONS: dict[str, tuple[Reach, str, str, str | None]] = {
    "started, not claimed": (lambda bench: bench.run_id(), "queued", "queued", "host"),
    "claimed, worker starting": (claimed, "starting", "starting", None),
    "claimed after an answer": (starting_again, "starting", "starting", None),
    "claimed and paused": (paused(claimed), "pausing", "pausing", None),
    "silent past its lease": (silent, "lost", "lost", "host"),
    "claimed under another boot": (of_another_boot, "lost", "lost", "host"),
    "node runs": (working, "running", "running", None),
    "worker lost, will retry": (interrupted, "interrupted", "interrupted", "host"),
    "waits for a person": (at_decision, "waiting", "waiting for you", "person"),
    "waits for input": (at_checkpoint, "waiting", "waiting for input", "input"),
    "answered, not taken yet": (answered, "answered", "answered", "host"),
    "deadline passed": (overdue, "overdue", "overdue: “Stop here” is due", "host"),
    "pause asked while a node runs": (paused(working), "pausing", "pausing", None),
    "paused between nodes": (parked_between, "paused", "paused", None),
    "paused, not claimed": (paused(lambda bench: bench.run_id()), "paused", "paused", None),
    "paused after a loss": (paused(interrupted), "paused", "paused", None),
    "paused while waiting": (paused(at_decision), "paused", "paused (decision waits)", None),
    "answered, then paused": (paused(answered), "paused", "paused (answered)", None),
    "blocked: worker_lost": (blocked(BlockCode.WORKER_LOST), "blocked", "blocked: worker lost", None),
    "blocked: source_changed": (blocked(BlockCode.SOURCE_CHANGED), "blocked", "blocked: source changed", None),
    "blocked: graph_changed": (
        blocked(BlockCode.SOURCE_CHANGED, graph_changed=True),
        "blocked",
        "blocked: graph changed",
        None,
    ),
    "blocked: load_failed": (blocked(BlockCode.LOAD_FAILED), "blocked", "blocked: load failed", None),
    "blocked: effect_ambiguous": (unsure, "blocked", "blocked: did it happen?", "effect"),
    "effect resolved, not taken yet": (histories.resolved, "interrupted", "interrupted", "host"),
    "completed": (completed, "completed", "completed", None),
    "failed": (histories.failed, "failed", "failed", None),
    "timed out": (histories.timed_out, "timed_out", "timed out", None),
    "cancelled": (histories.withdrawn, "cancelled", "cancelled", None),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_situation_has_its_word_everywhere(bench: Bench, lockgate: Command, name: str) -> None:
    reach, word, phrase, waits_for = SITUATIONS[name]
    run_id = reach(bench)
    document = lockgate("runs", "--json").document
    hold(document, "runs")
    (run,) = document["runs"]
    assert (run["run_id"], run["word"], run["waiting_for"]) == (run_id, word, waits_for)
    hold(lockgate("show", run_id, "--json").document, "run")
    assert phrase in lockgate("runs").out
    assert lockgate("show", run_id).out.splitlines()[0].startswith(f"sample {run_id[-8:]}: {phrase}")
    for size in ("120x40", "80x24", "60x15"):
        frame = lockgate("--once", "--size", size).out
        assert word.replace("_", " ") in frame, frame
        assert len(frame.splitlines()) <= int(size.split("x")[1])


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("blocked: worker_lost", "lockgate resume {0}, or lockgate cancel {0}"),
        ("blocked: load_failed", "lockgate resume {0}, or lockgate cancel {0}"),
        ("blocked: source_changed", "lockgate resume --accept-source {0}, or lockgate cancel {0}"),
        ("blocked: graph_changed", "lockgate cancel {0}, then lockgate restart {0}"),
        ("blocked: effect_ambiguous", "lockgate resolve with its effect, or lockgate cancel {0}"),
    ],
)
def test_a_blocked_run_is_shown_with_the_ways_on_that_are_open_to_it(
    bench: Bench, lockgate: Command, name: str, advice: str
) -> None:
    run_id = SITUATIONS[name][0](bench)
    advised = advice.format(run_id[-8:])
    assert lockgate("show", run_id).out.splitlines()[-1] == f"next       {advised}"
    assert lockgate("doctor").out.count(advised) == 1
    assert lockgate("show", run_id, "--json").document["blocked"] == name.removeprefix("blocked: ")


def test_the_zone_of_every_time_is_one(bench: Bench, lockgate: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = bench.run_id()
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    there = lockgate("events", run_id).out.split()[0]
    monkeypatch.setenv("LOCKGATE_ZONE", "UTC")
    here = lockgate("events", run_id).out.split()[0]
    assert there[3:5] != here[3:5]


def test_what_a_paused_run_waits_for_says_that_it_takes_no_answer(bench: Bench, lockgate: Command) -> None:
    run_id = paused(at_decision)(bench)
    assert lockgate("show", run_id).out.splitlines()[-1].strip() == (
        f"first lockgate resume {run_id[-8:]}: a paused run takes no answer"
    )
    lockgate("resume", run_id)
    assert "first lockgate resume" not in lockgate("show", run_id).out


def test_a_restart_shows_what_its_parents_came_to(bench: Bench, lockgate: Command) -> None:
    parent = completed(bench)
    child = histories.restarted_from(bench, parent)
    [earlier] = lockgate("show", child, "--json").document["lineage"]["earlier"]
    ended = lockgate("show", parent, "--json").document
    assert ended["output"] is not None
    assert (earlier["run_id"], earlier["status"], earlier["output"]) == (parent, "completed", ended["output"])
    failed = histories.failed(bench)
    [earlier] = lockgate("show", histories.restarted_from(bench, failed), "--json").document["lineage"]["earlier"]
    assert earlier["error"] == lockgate("show", failed, "--json").document["error"]
