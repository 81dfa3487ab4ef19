"""A run with an include on a screen: the nodes inside by their own end, the ways in and out without a step's number."""

from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from lockgate import Workflow, allow, checkpoint, compute, edge, include, settings
from lockgate.store.clock import SystemClock
from lockgate.view.cells import line_width, plain
from lockgate.view.frames import frame
from lockgate.view.lens import Lens
from lockgate.view.reading import Reader
from lockgate.view.snapshots import Interest, Snapshot, StoreFact
from tests.engine.bench import Bench


@pytest.fixture
def bench(tmp_path: Path):  # type: ignore[no-untyped-def]
    made = Bench(tmp_path)
    yield made
    made.close()


def paper() -> Workflow:
    review = Workflow(
        "review",
        start="look",
        nodes={"look": compute(lambda ctx: 1), "ask": checkpoint("Good?"), "said": compute(lambda ctx: 2)},
        edges=[edge("look", "ask"), edge("ask", "said")],
        exits={"done": "said"},
        settings=settings({"tone": "dry"}, rules=[allow("/tone", replace=["user"])]),
    )
    return Workflow(
        "paper",
        start="write",
        nodes={"write": compute(lambda ctx: 0), "review": include(review), "print": compute(lambda ctx: 3)},
        edges=[edge("write", "review"), edge("review.done", "print")],
    )


def look(bench: Bench, **interest: Any) -> Snapshot:
    asked = Interest(run_id=bench.run_id, **interest)
    reader, fact = Reader(whole=True), StoreFact("state.sqlite")
    return bench.read(lambda connection: reader.read(connection, asked, fact, SystemClock().now()))


def screen(bench: Bench, columns: int = 120, rows: int = 40, **interest: Any) -> str:
    lines = frame(look(bench, **interest), Lens(SystemClock().now(), columns, rows, zone=UTC))
    assert {line_width(line) for line in lines} <= {columns}
    return "\n".join(plain(line) for line in lines)


async def test_the_nodes_inside_are_told_by_their_own_end(bench: Bench) -> None:
    await bench.go(paper())
    shown = screen(bench)
    for words in ("write   #1", "review  #1", "…/look  #1", "…/ask   #1", "include_entered", "…/ask #1"):
        assert words in shown, shown
    assert "…/ask   #1" in screen(bench, 80, 24)


async def test_the_ways_in_and_out_have_no_number_of_their_own(bench: Bench) -> None:
    await bench.go(paper())
    detail = look(bench, tab="steps").detail
    assert detail is not None
    assert [(step.attempt.node, step.index, step.is_passage) for step in detail.steps] == [
        ("write", 1, False),
        ("review", 2, True),
        ("review/look", 2, False),
        ("review/ask", None, False),
    ]
    bench.submit(None)
    await bench.work()
    detail = look(bench, tab="steps").detail
    assert detail is not None
    assert [(step.attempt.node, step.index) for step in detail.steps if not step.is_passage] == [
        ("write", 1),
        ("review/look", 2),
        ("review/ask", 3),
        ("review/said", 4),
        ("print", 5),
    ]
    assert [step.attempt.node for step in detail.steps if step.is_passage] == ["review", "review.done"]
    assert detail.run.run.steps == 5


async def test_a_run_that_has_just_gone_in_says_so(bench: Bench) -> None:
    """The last of all steps is the way in: nothing comes after it yet that would have the same number."""
    bench.start(paper())
    holder = bench.claim()
    holder.before_commit = lambda proposals: bench.pause() if len(holder.lists) == 2 else None
    assert await bench.work(holder) == "paused"
    detail = look(bench, tab="steps").detail
    assert detail is not None
    assert [(step.attempt.node, step.is_passage) for step in detail.steps] == [("write", False), ("review", True)]


async def test_the_settings_of_an_include_are_told_apart(bench: Bench) -> None:
    await bench.go(paper())
    detail = look(bench, tab="info").detail
    assert detail is not None
    assert detail.info is not None
    assert ("Settings of review#1, change 0", (("tone", "dry"),)) in detail.info.groups
