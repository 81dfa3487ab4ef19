"""A filter narrows the list by what is typed, and says what it cannot read."""

import pytest

from lockgate.model.statuses import RunStatus
from lockgate.view.filters import BadFilter, matches, parsed, statuses
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


def test_a_query_may_leave_out_statuses_that_cannot_match() -> None:
    assert statuses(parsed("state:failed")) == {RunStatus.FAILED}
    assert statuses(parsed("state:lost")) == {RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING}
    assert statuses(parsed("!state:failed")) is None
    assert statuses(parsed("state:failed state:lost")) == frozenset()
