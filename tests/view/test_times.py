"""Times and durations as people read them."""

from datetime import UTC, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.view.axis import Window, fitting, step_of, ticks
from lockgate.view.times import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    duration,
    exact,
    fine_duration,
    minute,
    moment,
    offset,
    size,
    stamp,
)

NOON = 1_764_417_600_000  # 2025-11-29 12:00 UTC


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (-5, "0s"),
        (999, "0s"),
        (12_000, "12s"),
        (59_999, "59s"),
        (60_000, "1m00s"),
        (18 * MINUTE + 4 * SECOND, "18m04s"),
        (2 * HOUR + 10 * MINUTE, "2h10m"),
        (23 * HOUR + 59 * MINUTE, "23h59m"),
        (2 * DAY + 3 * HOUR, "2d03h"),
        (99 * DAY, "99d00h"),
        (123 * DAY, "123d"),
    ],
)
def test_a_duration_is_short(ms: int, text: str) -> None:
    assert duration(ms) == text


@given(st.integers(-(10**6), 10**16))
def test_a_duration_never_takes_more_than_six_cells(ms: int) -> None:
    assert len(duration(ms)) <= 6


def test_one_measured_thing_is_told_finely() -> None:
    assert [fine_duration(ms) for ms in (4, 8_840, 61_000)] == ["4 ms", "8.8s", "1m01s"]


def test_times_are_of_the_zone_of_the_screen() -> None:
    zone = timezone(timedelta(hours=5, minutes=30))
    assert minute(NOON, zone) == "17:30"
    assert offset(NOON, zone) == "UTC+05:30"
    assert offset(NOON, zone, short=True) == "+05:30"
    assert offset(NOON, UTC, short=True) == "+00"
    assert moment(NOON - DAY, NOON, UTC) == "28 Nov 12:00:00"
    assert moment(NOON, NOON, UTC) == "12:00:00"


def test_the_time_of_an_event_of_another_day_has_its_date() -> None:
    assert [stamp(NOON, NOON, UTC, cells) for cells in (8, 12)] == ["12:00:00", "12:00:00.000"]
    assert [stamp(NOON - DAY, NOON, UTC, cells) for cells in (8, 12)] == ["28 Nov  ", "28 Nov 12:00"]
    assert exact(NOON - DAY, NOON, UTC) == "28 Nov 12:00:00.000"


@given(st.integers(-(10**17), 10**17))
def test_no_time_is_too_far_off_to_be_told(ms: int) -> None:
    assert minute(ms, UTC)


def test_sizes() -> None:
    assert [size(count) for count in (812, 2150, 3 * 1024 * 1024)] == ["812 B", "2.1 KB", "3.0 MB"]


@given(st.integers(0, 10**12), st.integers(1, 10**11), st.integers(10, 200))
def test_ticks_stand_apart_and_inside(start: int, span: int, width: int) -> None:
    window = Window(start, start + span)
    cells = [cell for cell, _ in ticks(window, width, UTC)]
    assert all(0 <= cell < width for cell in cells)
    assert all(second - first >= 9 for first, second in pairwise(cells))
    assert step_of(window, width) * width >= 10 * window.span


def test_another_day_is_told_by_its_date() -> None:
    labels = [label for _, label in ticks(Window(NOON, NOON + 30 * HOUR), 60, UTC)]
    assert "30 Nov" in labels
    assert "12:00" in labels


def test_the_view_of_a_living_run_ends_after_now() -> None:
    live = fitting(NOON, None, NOON + 100_000)
    assert NOON + 102_000 < live.end < NOON + 104_000
    assert fitting(NOON, NOON + 5_000, NOON + 100_000).end == NOON + 5_000


def test_zoom_keeps_its_place_and_pan_its_span() -> None:
    window = Window(0, 1_000_000)
    assert window.zoomed(2, 500_000) == Window(250_000, 750_000)
    assert window.zoomed(0.5, 500_000) == Window(-500_000, 1_500_000)
    assert window.panned(0.25) == Window(250_000, 1_250_000)
    assert window.zoomed(10**9, 500_000).span == 100
