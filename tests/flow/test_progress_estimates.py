"""Progress says how long it will take only when it can, and how sure that is."""

from typing import Any

import pytest

from lockgate.flow.progress import Sample, estimate, read_progress
from lockgate.model.errors import PayloadError


def sample(at: int, completed: float, **more: Any) -> Sample:
    data = {"status": "running", "completed": completed, "total": 100, "unit": "files", **more}
    return Sample(at=at, progress=read_progress(data))


def test_one_sample_says_nothing_and_two_say_it_with_low_confidence() -> None:
    assert estimate([sample(0, 0)], 0) is None
    found = estimate([sample(0, 0), sample(1_000, 10)], 1_000)
    assert found is not None
    assert (found.remaining_ms, found.confidence, found.rate_per_s) == (9_000, "low", 10.0)


def test_steady_work_is_known_well_and_uneven_work_less() -> None:
    steady = estimate([sample(i * 1_000, i * 10) for i in range(7)], 6_000)
    assert steady is not None
    assert (steady.confidence, steady.remaining_ms) == ("high", 4_000)
    uneven = estimate([sample(0, 0), sample(1_000, 1), sample(2_000, 30), sample(3_000, 31)], 3_000)
    assert uneven is not None
    assert uneven.confidence == "low"
    assert uneven.earliest_ms <= uneven.remaining_ms <= uneven.latest_ms


def test_the_time_since_the_last_sample_is_taken_off() -> None:
    found = estimate([sample(0, 0), sample(1_000, 10)], 4_000)
    assert found is not None
    assert found.remaining_ms == 6_000


@pytest.mark.parametrize("change", [{"phase": "two"}, {"unit": "rows"}, {"total": 50}])
def test_another_phase_unit_or_total_begins_anew(change: dict[str, Any]) -> None:
    assert estimate([sample(0, 0), sample(1_000, 10), sample(2_000, 20, **change)], 2_000) is None


def test_a_falling_count_begins_anew() -> None:
    assert estimate([sample(0, 50), sample(1_000, 60), sample(2_000, 10)], 2_000) is None


@pytest.mark.parametrize("status", ["waiting", "blocked", "completed", "failed"])
def test_held_or_ended_progress_has_no_end_to_wait_for(status: str) -> None:
    assert estimate([sample(0, 0), sample(1_000, 10), sample(2_000, 20, status=status)], 2_000) is None


def test_time_spent_waiting_is_not_counted_as_work() -> None:
    samples = [sample(0, 0), sample(1_000, 10, status="waiting"), sample(61_000, 10), sample(62_000, 20)]
    found = estimate(samples, 62_000)
    assert found is not None
    assert found.remaining_ms == 8_000


def test_the_steps_own_estimate_wins_while_it_lies_ahead() -> None:
    samples = [sample(0, 0), sample(1_000, 10, source_estimated_finish_at=5_000)]
    found = estimate(samples, 1_000)
    assert found is not None
    assert (found.remaining_ms, found.confidence) == (4_000, "source")
    late = estimate(samples, 6_000)
    assert late is not None
    assert late.confidence == "low"


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ([], "$"),
        ({}, "$.status"),
        ({"status": "Running"}, "$.status"),
        ({"status": "running", "done": 1}, "$.done"),
        ({"status": "running", "completed": 1}, "$.unit"),
        ({"status": "running", "completed": -1, "unit": "x"}, "$.completed"),
        ({"status": "running", "completed": True, "unit": "x"}, "$.completed"),
        ({"status": "running", "completed": 3, "total": 2, "unit": "x"}, "$.completed"),
        ({"status": "running", "total": 0, "unit": "x"}, "$.total"),
        ({"status": "running", "unit": "x" * 33}, "$.unit"),
        ({"status": "running", "label": "a\nb"}, "$.label"),
        ({"status": "running", "source_updated_at": 1.5}, "$.source_updated_at"),
    ],
)
def test_a_bad_progress_names_its_field(data: Any, path: str) -> None:
    with pytest.raises(PayloadError) as caught:
        read_progress(data)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("first", "second", "total"),
    [(0, 1e-300, 1e300), (0, 1e-3, 2**53 - 1), (0, 1.7e308, 1.7e308), (0, 5e-324, 1), (1e-320, 1e308, 1e308)],
)
def test_counts_of_any_size_are_taken_and_nothing_is_said_beyond_a_century(
    first: float, second: float, total: float
) -> None:
    assert estimate([sample(0, first, total=total), sample(1, second, total=total)], 2_000) is None
    assert estimate([sample(0, 0, total=1e15), sample(1_000, 1e6, total=1e15)], 1_000) is not None
