"""The timeline says where the time went: worked, waited, paused and lost, and never adds the clocks up."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.model.statuses import NodeKind
from lockgate.view.axis import Window
from lockgate.view.cells import line_width, plain
from lockgate.view.glyphs import ASCII, UNICODE
from lockgate.view.lens import Lens
from lockgate.view.snapshots import Segment, SegmentKind, ShownAttempt, ShownTimeline
from lockgate.view.timeline import TimelineView, height_of, timeline_parts, timeline_rows
from tests.view.picture import NOW, ZONE, clock, snapshot

LENS = Lens(NOW, 120, 40, zone=ZONE)


def release() -> ShownTimeline:
    detail = snapshot().detail
    assert detail is not None
    return detail.timeline


def drawn(timeline: ShownTimeline, lens: Lens = LENS, view: TimelineView | None = None, height: int = 20) -> list[str]:
    cells = 69 if lens.columns >= 120 else 45
    return [plain(row.line) for row in timeline_rows(timeline, cells, lens, view or TimelineView(), height)]


def attempt(number: int, start: int, end: int | None, mark: str = "ok", node: str = "notes") -> ShownAttempt:
    return ShownAttempt(
        attempt_id=f"a{number}",
        node=node,
        number=number,
        visit=1,
        kind=NodeKind.COMPUTE,
        started_at=start,
        ended_at=end,
        mark=mark,
        outcome=mark,
        segments=(Segment(SegmentKind.WORK, start, end),),
        worked_ms=0,
    )


def timeline(attempts: list[ShownAttempt], ended_at: int | None = None) -> ShownTimeline:
    return ShownTimeline(
        run_id="r",
        started_at=NOW.wall_ms - 600_000,
        ended_at=ended_at,
        attempts=tuple(attempts),
        total=len(attempts),
        pauses=(),
        worked_ms=1_000,
        waited_ms=2_000,
        ticking=None,
        ticking_since=0,
    )


def test_the_attempt_under_the_cursor_is_told_exactly() -> None:
    rows = drawn(release(), view=TimelineView(cursor="attempt-2", focused=True))
    assert rows[-1] == "  build #2  14:00:22.004 to 14:01:03.702                  worked 41s"
    waiting = drawn(release(), view=TimelineView(cursor="attempt-6", focused=True))[-1]
    assert waiting.startswith("  approve #1  14:02:42.007 to now")
    assert waiting.endswith("waited 2m58s, paused 50s")


def test_one_time_column_below_120_columns() -> None:
    rows = drawn(release(), Lens(NOW, 80, 24, zone=ZONE))
    assert rows[1].endswith("time")
    assert rows[2].endswith("18s")
    assert rows[7].endswith("2m58s")
    assert rows[8] == "  █ worked 2m19s ▒ waited 2m58s ═ paused 50s"


def test_a_short_screen_shows_what_is_open() -> None:
    lens = Lens(NOW, 120, 20, zone=ZONE)
    rows = drawn(release(), lens)
    assert [row[:13].strip() for row in rows] == ["whole run", "approve #1", "█ worked 2m"]
    assert height_of(release(), lens) == 3


def test_a_zoomed_bar_says_where_it_goes_on() -> None:
    window = Window(clock("14:00:30.000"), clock("14:03:00.000"))
    rows = drawn(release(), view=TimelineView(window=window))
    assert rows[2].startswith("  build   #1 ◂")
    assert rows[3].startswith("  build   #2 ◂█") or rows[3].startswith("          #2 ◂█")
    assert rows[7][51] == "▸"
    assert "now" not in rows[1]


def test_a_run_that_is_over_has_no_live_end() -> None:
    done = msgspec.structs.replace(release(), ended_at=NOW.wall_ms)
    assert "▸" not in "".join(drawn(done))
    assert "now" not in drawn(done)[1]


def test_a_silent_worker_is_lost_since_its_last_word() -> None:
    since = NOW.wall_ms - 60_000
    running = timeline([attempt(1, NOW.wall_ms - 120_000, None, "running")])
    running = msgspec.structs.replace(running, ticking=SegmentKind.WORK, ticking_since=NOW.wall_ms - 120_000)
    rows = drawn(running, view=TimelineView(lost_since=since))
    assert "∅ lost" in rows[2]
    assert "╳" in rows[2]
    assert "█ worked 1m01s" in rows[-1]
    assert "╳ lost 1m00s" in rows[-1]


def test_repeats_are_folded_where_they_do_not_fit() -> None:
    start = NOW.wall_ms - 600_000
    attempts = [
        attempt(n, start + n * 10_000, start + n * 10_000 + 5_000, "failed" if n < 3 else "ok") for n in range(12)
    ]
    attempts.append(attempt(12, NOW.wall_ms - 5_000, None, "running"))
    rows = drawn(timeline(attempts), height=8)
    assert rows[2].startswith("  notes   x12")
    assert "12 tries, 3 failed" in rows[2]
    assert "◐ running" in rows[3]
    assert len(drawn(timeline(attempts), height=40)) == 16


def test_the_newest_rows_are_kept_and_the_one_under_the_cursor() -> None:
    start = NOW.wall_ms - 600_000
    attempts = [attempt(n, start + n * 1_000, start + n * 1_000 + 500, node=f"n{n}") for n in range(30)]
    assert "n29" in drawn(timeline(attempts), height=8)[-2]
    above = drawn(timeline(attempts), view=TimelineView(cursor="a3"), height=8)
    assert any(row.startswith("  n3 ") for row in above)


def test_attempts_that_are_not_drawn_are_counted() -> None:
    long = msgspec.structs.replace(
        timeline([attempt(n, NOW.wall_ms - 9_000, NOW.wall_ms) for n in range(3)]), total=5_003
    )
    assert drawn(long)[2] == "  … 5000 earlier attempts are not drawn"
    assert height_of(long, LENS) == 7


def test_a_work_shorter_than_a_cell_is_still_seen() -> None:
    instant = timeline([attempt(1, NOW.wall_ms, NOW.wall_ms)], ended_at=NOW.wall_ms)
    assert "▐" in drawn(instant)[2]


def test_the_parts_are_the_rows() -> None:
    parts = timeline_parts(release(), 69, LENS, TimelineView(), 20)
    whole = timeline_rows(release(), 69, LENS, TimelineView(), 20)
    assert (len(parts.head), len(parts.rows), len(parts.foot)) == (2, 6, 1)
    assert [row.attempt_id for row in parts.rows] == [f"attempt-{number}" for number in range(1, 7)]
    assert len(whole) == 9


moments = st.integers(NOW.wall_ms - 10**7, NOW.wall_ms)
kinds = st.sampled_from(list(SegmentKind))


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(moments, st.integers(0, 10**6) | st.none(), kinds), max_size=8),
    st.integers(40, 200),
    st.integers(0, 12),
    st.none() | st.tuples(moments, st.integers(0, 10**8)),
    st.booleans(),
)
def test_every_row_has_the_width_of_the_pane(
    spans: list[tuple[int, int | None, SegmentKind]],
    cells: int,
    height: int,
    window: tuple[int, int] | None,
    ascii: bool,
) -> None:
    attempts = [
        msgspec.structs.replace(
            attempt(number, start, None if length is None else start + length, node="한국어 node" * 3),
            segments=(Segment(kind, start, None if length is None else start + length),),
        )
        for number, (start, length, kind) in enumerate(spans)
    ]
    lens = Lens(NOW, 160, 40, ASCII if ascii else UNICODE, ZONE)
    view = TimelineView(window=Window(window[0], window[0] + window[1]) if window else None)
    rows = timeline_rows(timeline(attempts), cells, lens, view, height)
    assert len(rows) <= height
    assert {line_width(row.line) for row in rows} <= {cells}


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_sums_shrink_to_the_pane(columns: int) -> None:
    rows = timeline_rows(release(), 30, Lens(NOW, columns, 40, zone=ZONE), TimelineView(), 20)
    assert plain(rows[-1].line).strip().startswith("█ worked 2m19s")
