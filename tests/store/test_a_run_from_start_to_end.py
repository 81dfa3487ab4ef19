"""A run goes through every kind of wait to its end, and what screens read follows it."""

from lockgate.flow.words import word
from lockgate.model.statuses import RunStatus, Word
from lockgate.store import commands, reads

from .conftest import USER, Bench


def test_a_run_reaches_its_end_through_every_wait(bench: Bench) -> None:
    run_id, request_id, digest = bench.at_decision()
    view = bench.read(lambda connection: reads.request(connection, request_id))
    assert (view.title, view.digest, view.default) == ("Release it?", digest, "stop")
    assert [choice["key"] for choice in view.choices] == ["go", "again", "stop"]
    shown = bench.read(lambda connection: reads.runs_by_id(connection, [run_id]))[0]
    assert word(shown, bench.clock.now()) is Word.WAITING
    assert (shown.default_label, shown.deadline_at) == ("Stop here", view.deadline_at)
    receipt = bench.answer(request_id, digest)
    assert (receipt.outcome, receipt.reason) == ("accepted", None)
    assert bench.complete(run_id).outcome == "accepted"
    detail = bench.read(lambda connection: reads.run(connection, run_id))
    assert detail.row.status is RunStatus.COMPLETED
    assert [attempt.node_id for attempt in detail.attempts] == ["work", "send", "ask", "decide", "end"]
    assert [resolution.choice for resolution in detail.resolutions] == ["go"]
    assert detail.effects[0].status == "applied"
    assert bench.read(lambda connection: reads.pending_requests(connection)) == ()


def test_every_event_has_the_revision_as_its_seq(bench: Bench) -> None:
    run_id, *_ = bench.at_decision()
    events = bench.read(lambda connection: reads.events(connection, run_id))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert bench.read(lambda connection: reads.run(connection, run_id)).row.revision == len(events)


def test_a_page_continues_where_it_ended(bench: Bench) -> None:
    ids = [bench.run_id() for _ in range(5)]
    first = bench.read(lambda connection: reads.runs(connection, reads.RunQuery(limit=2)))
    second = bench.read(lambda connection: reads.runs(connection, reads.RunQuery(limit=3, before=first.next)))
    assert [run.run_id for run in (*first.rows, *second.rows)] == ids[::-1]
    assert second.next is None
    assert bench.read(lambda connection: reads.run_ids(connection, reads.RunQuery())) == ids[::-1]


def test_cancel_withdraws_what_was_asked(bench: Bench) -> None:
    run_id, request_id, digest = bench.at_decision()
    assert bench.write(lambda tx: commands.cancel(tx, run_id, actor=USER, key="c")).outcome == "accepted"
    late = bench.answer(request_id, digest)
    assert (late.outcome, late.reason) == ("conflict", "run_closed")
