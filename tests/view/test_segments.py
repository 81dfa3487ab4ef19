"""Rows and a few events become spans of time: paused time is neither worked nor waited."""

from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lockgate.model.statuses import AttemptStatus, RequestKind
from lockgate.view.segments import _split, attempt_segments, doubts, interruptions, pauses, run_pauses
from lockgate.view.snapshots import Segment, SegmentKind
from tests.view.picture import attempt, detail_rows, event, interval

WORK, PERSON, PAUSED, LOST = SegmentKind.WORK, SegmentKind.PERSON, SegmentKind.PAUSED, SegmentKind.LOST


@dataclass
class Wait:
    kind: RequestKind
    created_at: int
    settled_at: int | None


def spans(segments: tuple[Segment, ...]) -> list[tuple[SegmentKind, int, int | None]]:
    return [(each.kind, each.start, each.end) for each in segments]


def test_a_pause_inside_a_wait_is_taken_out() -> None:
    asked = attempt(6, "approve", 1, "14:00:00.000", None, status=AttemptStatus.WAITING)
    start = asked.started_at
    wait = Wait(RequestKind.DECISION, start, None)
    found = attempt_segments(asked, (), (wait,), [(start + 1000, start + 3000)], None, None)  # type: ignore[arg-type]
    assert spans(found) == [
        (PERSON, start, start + 1000),
        (PAUSED, start + 1000, start + 3000),
        (PERSON, start + 3000, None),
    ]


def test_an_open_pause_goes_on() -> None:
    asked = attempt(6, "approve", 1, "14:00:00.000", None, status=AttemptStatus.WAITING)
    start = asked.started_at
    wait = Wait(RequestKind.AGENT, start, None)
    found = attempt_segments(asked, (), (wait,), [(start + 1000, None)], None, None)  # type: ignore[arg-type]
    assert spans(found) == [(SegmentKind.AGENT, start, start + 1000), (PAUSED, start + 1000, None)]


def test_a_loss_lasts_from_the_last_word_to_its_notice() -> None:
    worked = interval(3, "14:01:04.000", "14:01:50.000")
    lost = attempt(3, "test", 1, "14:01:04.000", "14:02:05.000", status=AttemptStatus.CANCELLED)
    assert lost.finished_at is not None
    found = attempt_segments(lost, (worked,), (), (), lost.finished_at, None)
    assert spans(found)[1] == (LOST, worked.ended_at, lost.finished_at)


def test_an_unclear_effect_waits_for_a_person() -> None:
    marks = [
        event(1, "14:00:05.000", "effect_ambiguous", "tag", 3),
        event(2, "14:00:09.000", "effect_resolved", "tag", 3),
    ]
    found = doubts(marks, None)["attempt-3"]
    assert found == (marks[0].at, marks[1].at)
    acted = attempt(3, "tag", 1, "14:00:00.000", None, status=AttemptStatus.WAITING)
    assert spans(attempt_segments(acted, (), (), (), None, found)) == [(PERSON, marks[0].at, marks[1].at)]


def test_a_cancel_that_leaves_an_effect_unclear_asks_nobody() -> None:
    mark = event(1, "14:00:05.000", "effect_ambiguous", "tag", 3)
    assert doubts([mark], mark.at) == {}


def test_pauses_come_from_their_two_events() -> None:
    marks = [event(1, "14:00:05.000", "run_paused"), event(2, "14:00:09.000", "run_unpaused")]
    again = event(3, "14:00:20.000", "run_paused")
    assert pauses(marks, None) == [(marks[0].at, marks[1].at)]
    assert pauses([*marks, again], None)[-1] == (again.at, None)
    assert pauses([*marks, again], again.at + 5)[-1] == (again.at, again.at + 5)


def test_work_that_ends_under_a_pause_is_work() -> None:
    worked = interval(1, "14:00:00.000", "14:00:10.000")
    start = worked.started_at
    found = run_pauses([(start + 4000, start + 30_000)], {"attempt-1": [worked]})
    assert spans(found) == [(PAUSED, worked.ended_at, start + 30_000)]


def test_the_interrupted_attempt_is_named_by_the_payload() -> None:
    mark = event(1, "14:00:05.000", "run_interrupted", attempt_id="attempt-9")
    assert interruptions([mark]) == {"attempt-9": mark.at}
    assert detail_rows().attempts


points = st.integers(0, 50)


@given(points, points | st.none(), st.lists(st.tuples(points, points), max_size=4))
def test_pieces_are_the_span_again(start: int, length: int | None, holes: list[tuple[int, int]]) -> None:
    end = None if length is None else start + length
    ordered: list[tuple[int, int | None]] = []
    at = 0
    for first, second in holes:
        ordered.append((at + first, at + first + second))
        at += first + second
    pieces = _split((start, end), ordered)
    if end is not None and end == start:
        return
    assert pieces[0][0] == start
    assert pieces[-1][1] == end
    for before, after in pairwise(pieces):
        assert before[1] == after[0]
