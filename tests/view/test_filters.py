"""A filter narrows the list by what is typed, and says what it cannot read."""

import pytest

from lockgate.model.statuses import RunStatus
from lockgate.view.filters import BadFilter, matches, parsed, query
from tests.view.picture import NOW, runs


def found(text: str) -> list[str]:
    terms = parsed(text)
    return [f"{run.workflow} {run.title}" for run in runs() if matches(terms, run, NOW)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 28),
        ("release", 4),
        ("RELEASE 1.3", 3),
        ("wf:release", 4),
        ('title:"1.3.9"', 1),
        ('title:"29 nov"', 1),
        ("id:3f9a", 1),
        ("!release", 24),
        ("state:waiting", 3),
        ("state:you", 3),
        ("state:lost", 1),
        ("state:overdue", 1),
        ("state:blocked wf:deploy", 1),
        ("!state:completed", 16),
        ("state:open", 12),
        ("age:>1h", 5),
        ("age:<10s state:answered", 1),
        ("err:source", 1),
        ("by:ada state:running", 2),
        ("nothing-like-it", 0),
    ],
)
def test_all_terms_must_hold(text: str, count: int) -> None:
    assert len(found(text)) == count


def test_an_unknown_key_is_free_text() -> None:
    assert parsed("http://x")[0].key == "text"


@pytest.mark.parametrize("text", ["state:wating", "age:soon", "age:>", 'title:"open'])
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(BadFilter):
        parsed(text)


OPEN = (RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("state:failed", (RunStatus.FAILED,)),
        ("state:lost", OPEN),
        ("release", ()),
        ("!state:failed", (*OPEN, RunStatus.COMPLETED, RunStatus.TIMED_OUT, RunStatus.CANCELLED)),
    ],
)
def test_a_query_leaves_out_statuses_that_cannot_match(text: str, kept: tuple[RunStatus, ...]) -> None:
    asked = query(parsed(text), NOW.wall_ms)
    assert asked is not None
    assert asked.statuses == kept


def test_a_query_of_nothing_is_not_asked() -> None:
    assert query(parsed("state:failed state:lost"), NOW.wall_ms) is None


def test_ages_become_bounds_of_the_creation() -> None:
    asked = query(parsed("age:>1h !age:>2h"), NOW.wall_ms)
    assert asked is not None
    assert asked.created_before == NOW.wall_ms - 3_600_000
    assert asked.created_after == NOW.wall_ms - 7_200_000
