"""The benchmarks measure what they say: their arithmetic, their catalogue, and the big store in small."""

from pathlib import Path

import pytest

from lockgate.store import reads
from lockgate.store.audit import audit
from lockgate.store.doctor import examine
from lockgate.store.once import read_once
from tests.benchmarks import catalogue
from tests.benchmarks.__main__ import main
from tests.benchmarks.figures import Figure, Report, middle, quantile
from tests.benchmarks.fixture import NEWEST, make


@pytest.mark.parametrize("name", catalogue.ABOUT)
def test_every_benchmark_has_its_function(name: str) -> None:
    assert callable(catalogue.load(name))


def test_an_unknown_name_is_refused_before_anything_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["steps", "stepps"]) == 2
    assert "stepps" in capsys.readouterr().err


def test_a_quantile_is_a_sample() -> None:
    samples = [float(number) for number in range(100, 0, -1)]
    assert quantile(samples, 0.5) == 50
    assert quantile(samples, 0.99) == 99
    assert quantile([7.0], 0.99) == 7


@pytest.mark.parametrize(
    ("value", "budget", "holds"),
    [
        (1.0, {"at_most": 1.0}, True),
        (1.1, {"at_most": 1.0}, False),
        (3.0, {"at_least": 3.0}, True),
        (2.9, {"at_least": 3.0}, False),
        (None, {"at_least": 3.0}, None),
        (5.0, {}, None),
        (0.0, {"at_most": 0}, True),
    ],
)
def test_a_figure_holds_within_its_budget(value: float | None, budget: dict[str, float], holds: bool | None) -> None:
    figure = Figure(name="any", value=value, unit="ms", **budget)
    assert figure.holds is holds
    assert Report("some", (figure,)).document()["pass"] is (holds is not False)


def test_a_figure_of_several_rounds_is_their_median() -> None:
    figure = middle("any", [9.0, 1.0, 2.0], "x", at_least=2)
    assert figure.document()["value"] == 2.0
    assert figure.document()["rounds"] == [9.0, 1.0, 2.0]


def test_the_big_store_is_one_that_the_law_would_have_made(tmp_path: Path) -> None:
    path = tmp_path / "store" / "state.sqlite"
    made = make(path, runs=120, waiting=5, long_steps=30)
    ids = read_once(path, lambda connection: reads.run_ids(connection, reads.RunQuery()))
    assert made.runs == len(ids) == 120
    assert read_once(path, reads.latest_event_seq) == made.events
    assert {read_once(path, lambda connection: audit(connection, run_id)).difference for run_id in ids} == {None}  # noqa: B023
    assert examine(path, every_run=True).findings == ()
    newest = read_once(path, lambda connection: reads.runs(connection, reads.RunQuery(limit=1))).rows[0]
    assert newest.title == NEWEST
    assert len(read_once(path, reads.decisions)) == 5
