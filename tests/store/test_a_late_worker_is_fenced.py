"""A claim that was lost changes nothing any more: no heartbeat, step, release or finish of its holder."""

import pytest

from lockgate.flow import transitions as t
from lockgate.model.errors import ClaimLost, Refused
from lockgate.model.records import Actor
from lockgate.model.statuses import ActorKind, Outcome, OwnerKind, RunStatus
from lockgate.store import claims, hosts, reads
from lockgate.store.claims import Owner
from lockgate.store.hosts import Identity

from .conftest import Bench, value

OTHER = Owner(kind=OwnerKind.HOST, id="host-2", host_epoch=2)


def test_every_write_of_a_lost_holder_changes_nothing(bench: Bench) -> None:
    first = Identity(host_id="host-1", pid=1, process_start="1", capacity=4)
    bench.write(lambda tx: hosts.take_over(tx, first, lambda pid, start: True))
    run_id = bench.run_id()
    late = bench.claim(run_id)
    bench.ready(late)
    attempt = bench.begin(late, "work")
    bench.clock.pass_ms(31_000)
    second = Identity(host_id="host-2", pid=2, process_start="2", capacity=4)
    taken = bench.write(lambda tx: hosts.take_over(tx, second, lambda pid, start: True))
    assert (taken.epoch, taken.lost) == (2, (run_id,))
    claim = bench.claim(run_id, OTHER)
    bench.ready(claim)
    held = bench.begin(claim, "work")
    before = bench.read(lambda connection: reads.run(connection, run_id))

    with pytest.raises(Refused, match="taken over"):
        bench.write(lambda tx: hosts.renew(tx, "host-1", 1))
    made = value(1)
    step = t.FinishAttempt(attempt_id=attempt, outcome=Outcome.OK, output_hash=made.hash)
    assert bench.propose(late, step, values=(made,)).outcome == "claim_lost"
    with pytest.raises(ClaimLost):
        bench.write(lambda tx: claims.release(tx, late))
    ended = t.Finish(status=RunStatus.FAILED)
    assert bench.propose(late, ended).outcome == "claim_lost"
    with pytest.raises(ClaimLost):
        bench.ready(late)

    after = bench.read(lambda connection: reads.run(connection, run_id))
    assert after == before
    assert bench.finish(claim, held, 1).outcome == "accepted"


def test_expiry_alone_never_stops_the_holder(bench: Bench) -> None:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    attempt = bench.begin(claim, "work")
    bench.clock.pass_ms(3_600_000)
    assert bench.finish(claim, attempt, 1).outcome == "accepted"


def test_a_cancelled_run_answers_its_worker_cancelled(bench: Bench) -> None:
    from lockgate.store import commands

    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    attempt = bench.begin(claim, "work")
    bench.write(lambda tx: commands.cancel(tx, run_id, actor=Actor(kind=ActorKind.USER, id="bo"), key=bench.key()))
    reply = bench.finish(claim, attempt, 1)
    assert (reply.outcome, reply.head.cancelled) == ("cancelled", True)


def test_a_token_is_never_stored(bench: Bench) -> None:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    dump = "\n".join(bench.file.connection.iterdump())
    assert claim.token not in dump
    events = bench.read(lambda connection: reads.events(connection, run_id))
    held = bench.file.connection.execute("SELECT token_hash FROM run_queue").fetchone()[0]
    assert all(held not in str(event.payload) for event in events)
