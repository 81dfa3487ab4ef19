"""No event's payload reaches 4 KiB, whatever is put into titles, policies and names."""

import pytest

from lockgate.model.errors import PayloadError, Refused
from lockgate.store import policies

from .conftest import ADA, Bench


def longest(bench: Bench) -> int:
    return bench.read(lambda c: c.execute("SELECT max(length(CAST(payload AS BLOB))) FROM events").fetchone()[0])


def test_the_longest_title_and_the_largest_policy_fit(bench: Bench) -> None:
    users = [f"{'u' * 60}{number:03d}" for number in range(21)]
    bench.write(lambda tx: policies.set_policy(tx, "operator", users=users, self_approval=False, human=ADA))
    bench.at_decision(title="\x1b" * 300)
    assert longest(bench) < 4_096


def test_what_would_not_fit_is_refused_with_its_size(bench: Bench) -> None:
    with pytest.raises(PayloadError, match="at most 2000 bytes of JSON, got 3002 bytes"):
        bench.run_id(title="\x1b" * 500)
    users = [f"{'u' * 60}{number:03d}" for number in range(30)]
    with pytest.raises(Refused, match="a policy of at most 1500 bytes"):
        bench.write(lambda tx: policies.set_policy(tx, "operator", users=users, self_approval=True, human=ADA))
