"""A list of proposals is committed whole or not at all, and a refused one says why."""

from lockgate.flow import transitions as t
from lockgate.model.statuses import Outcome, RunStatus
from lockgate.store import commands, reads

from .conftest import USER, Bench, value


def test_a_pause_refuses_the_whole_list_and_takes_the_finish_alone(bench: Bench) -> None:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    attempt = bench.begin(claim, "work")
    bench.write(lambda tx: commands.pause(tx, run_id, actor=USER, key="p"))
    before = bench.read(lambda connection: reads.events(connection, run_id))
    made = value("done")
    finish = t.FinishAttempt(attempt_id=attempt, outcome=Outcome.OK, output_hash=made.hash)
    begin = t.StartAttempt(attempt_id=bench.new_attempt(), node_id="send")
    reply = bench.propose(claim, finish, begin, values=(made,))
    assert (reply.outcome, reply.head.paused) == ("paused", True)
    assert bench.read(lambda connection: reads.events(connection, run_id)) == before
    assert bench.file.connection.execute("SELECT count(*) FROM blobs WHERE hash = ?", (made.hash,)).fetchone() == (0,)
    assert bench.propose(claim, finish, values=(made,)).outcome == "accepted"


def test_one_proposal_may_carry_a_whole_turn(bench: Bench) -> None:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    attempt = bench.begin(claim, "work")
    made = value(1)
    finish = t.FinishAttempt(attempt_id=attempt, outcome=Outcome.OK, output_hash=made.hash)
    begin = t.StartAttempt(attempt_id=bench.new_attempt(), node_id="send")
    reply = bench.propose(claim, finish, begin, values=(made,))
    assert (reply.outcome, reply.results[1]) == (
        "accepted",
        {"ordinal": 2, "attempt_number": 1, "visit": 1, "settings_hash": value({"pace": 1}).hash},
    )


def test_what_does_not_go_together_is_refused(bench: Bench) -> None:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    begin = t.StartAttempt(attempt_id=bench.new_attempt(), node_id="work")
    for proposals in ((begin, begin), (begin, t.Finish(status=RunStatus.FAILED)), ()):
        assert bench.propose(claim, *proposals).code == "wrong_order"


def test_a_hash_without_its_value_is_refused(bench: Bench) -> None:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    attempt = bench.begin(claim, "work")
    finish = t.FinishAttempt(attempt_id=attempt, outcome=Outcome.OK, output_hash="f" * 64)
    assert bench.propose(claim, finish).code == "value_missing"


def test_changed_sources_are_named_and_nothing_is_written(bench: Bench) -> None:
    import pytest

    from lockgate.model.errors import SourceChanged

    run_id = bench.run_id()
    claim = bench.claim(run_id)
    with pytest.raises(SourceChanged) as caught:
        bench.ready(claim, {"/project/sample.py": "b" * 64})
    assert caught.value.files == ("/project/sample.py",)
    assert bench.ready(claim).steps == 0
