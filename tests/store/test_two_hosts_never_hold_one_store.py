"""Takeover, claims in order, deadlines and the next moment at which something is due."""

import hashlib
from typing import Any

import pytest

from lockgate.flow import graph as graphs_of_the_process
from lockgate.model.errors import Refused
from lockgate.model.records import Actor, Receipt
from lockgate.model.statuses import ActorKind, BlockCode, OwnerKind, WorkerStatus
from lockgate.store import claims, commands, hosts, reads
from lockgate.store.audit import audit
from lockgate.store.claims import Owner
from lockgate.store.hosts import Identity

from .conftest import HOST, USER, Bench, definition, graph, written

ONE = Identity(host_id="host-1", pid=4242, process_start="77", capacity=4)
TWO = Identity(host_id="host-2", pid=4343, process_start="88", capacity=4)


def alive(pid: int, start: str) -> bool:
    return True


def dead(pid: int, start: str) -> bool:
    return False


def test_a_living_host_keeps_its_store(bench: Bench) -> None:
    bench.write(lambda tx: hosts.take_over(tx, ONE, alive))
    with pytest.raises(Refused, match="host pid 4242 holds this store"):
        bench.write(lambda tx: hosts.take_over(tx, TWO, alive))
    assert bench.read(hosts.host_state).epoch == 1


def test_a_dead_host_is_replaced_at_once(bench: Bench) -> None:
    bench.write(lambda tx: hosts.take_over(tx, ONE, alive))
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.write(lambda tx: hosts.worker_starting(tx, claim, "worker-1", 1, pid=99, process_start="5"))
    bench.ready(claim)
    attempt = bench.begin(claim, "work")
    taken = bench.write(lambda tx: hosts.take_over(tx, TWO, dead))
    assert (taken.epoch, taken.lost) == (2, (run_id,))
    orphan = taken.orphans[0]
    assert (orphan.pid, orphan.process_start, orphan.attempt_id) == (99, "5", attempt)
    detail = bench.read(lambda connection: reads.run(connection, run_id))
    assert (detail.run.queue, detail.run.losses, detail.attempts[0].status) == ("queued", 0, "interrupted")
    assert detail.worker is not None
    assert detail.worker.status == WorkerStatus.ORPHANED


def test_another_boot_means_expired(bench: Bench) -> None:
    bench.write(lambda tx: hosts.take_over(tx, ONE, alive))
    bench.clock.boot_id = "boot-2"
    bench.clock.mono_ms = 5
    assert bench.write(lambda tx: hosts.take_over(tx, TWO, alive)).epoch == 2


def test_a_lease_is_live_to_its_limit_and_not_a_tick_longer(bench: Bench) -> None:
    bench.write(lambda tx: hosts.take_over(tx, ONE, alive))
    bench.clock.pass_ms(30_000)
    with pytest.raises(Refused):
        bench.write(lambda tx: hosts.take_over(tx, TWO, alive))
    bench.clock.pass_ms(1)
    assert bench.write(lambda tx: hosts.take_over(tx, TWO, alive)).epoch == 2


def test_a_clock_step_neither_expires_nor_keeps_a_lease(bench: Bench) -> None:
    bench.write(lambda tx: hosts.take_over(tx, ONE, alive))
    for step in (-3_600_000, 7_200_000):
        bench.clock.wall_ms += step
        with pytest.raises(Refused):
            bench.write(lambda tx: hosts.take_over(tx, TWO, alive))


def test_one_heartbeat_renews_the_host_and_its_claims(bench: Bench) -> None:
    bench.write(lambda tx: hosts.take_over(tx, ONE, alive))
    run_id = bench.run_id()
    bench.claim(run_id)
    bench.clock.pass_ms(10_000)
    assert bench.write(lambda tx: hosts.renew(tx, "host-1", 1)) == {run_id}
    held = bench.read(hosts.held_claims)[0]
    assert held.heartbeat_mono == bench.clock.mono_ms


def test_answered_runs_go_first_and_inline_ones_never(bench: Bench) -> None:
    bench.write(lambda tx: hosts.take_over(tx, ONE, alive))
    queued = bench.run_id()
    inline = bench.run_id(made=definition(ref="inline:sample"))
    answered, request_id, digest = bench.at_decision()
    bench.clock.pass_ms(1_000)
    bench.answer(request_id, digest)
    order = []
    while (claimed := bench.write(lambda tx: claims.claim_next(tx, HOST))) is not None:
        order.append(claimed.run.run_id)
    assert order == [answered, queued]
    assert bench.claim(inline, Owner(kind=OwnerKind.PROCESS, id="process:1:2")).generation == 1


def test_what_is_excluded_is_not_claimed(bench: Bench) -> None:
    bench.write(lambda tx: hosts.take_over(tx, ONE, alive))
    first, second = bench.run_id(), bench.run_id()
    claimed = bench.write(lambda tx: claims.claim_next(tx, HOST, exclude=[first]))
    assert claimed.run.run_id == second


def hurt(bench: Bench, monkeypatch: pytest.MonkeyPatch, damage: str, run_id: str) -> None:
    """Damages what is stored, as no version of the program writes it."""
    bench.file.connection.execute("PRAGMA ignore_check_constraints=ON")
    bench.write(lambda tx: tx.connection.execute(damage, (run_id,)))
    monkeypatch.setattr(graphs_of_the_process, "_graphs", {})


ROWS = "UPDATE runs SET clock = 'never' WHERE run_id = ?"
REVISION = "UPDATE runs SET revision = 0 WHERE run_id = ?"
"""It can be read, and its next event cannot be written."""
CODE = "UPDATE run_queue SET error_code = 'worker_lost' WHERE run_id = ?"
SOURCES = "UPDATE blobs SET content = x'00' WHERE hash = (SELECT sources_hash FROM run_sources WHERE run_id = ?)"
DEFINITION = (
    "UPDATE definitions SET document = x'7b7d' WHERE definition_digest = "
    "(SELECT definition_digest FROM runs WHERE run_id = ?)"
)


def test_a_run_whose_rows_cannot_be_read_holds_up_nobody_and_is_named(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write(lambda tx: hosts.take_over(tx, ONE, alive))
    broken, sound = bench.run_id(made=definition(graph("broken"))), bench.run_id()
    hurt(bench, monkeypatch, ROWS, broken)
    before = bench.write(written)
    unreadable: dict[str, str] = {}
    assert bench.write(lambda tx: claims.claim_next(tx, HOST, (), unreadable)).run.run_id == sound
    assert set(unreadable) == {broken}
    assert "never" in unreadable[broken]
    assert bench.write(lambda tx: claims.claim_next(tx, HOST)) is None
    assert bench.write(written) == before + 1


@pytest.mark.parametrize("damage", [REVISION, CODE])
def test_a_run_that_cannot_be_changed_holds_up_nobody_and_leaves_no_half(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    bench.write(lambda tx: hosts.take_over(tx, ONE, alive))
    broken, sound = bench.run_id(), bench.run_id()
    hurt(bench, monkeypatch, damage, broken)
    unreadable: dict[str, str] = {}
    assert bench.write(lambda tx: claims.claim_next(tx, HOST, (), unreadable)).run.run_id == sound
    assert set(unreadable) == {broken}
    assert bench.read(lambda connection: reads.run(connection, broken)).run.claim is None


def test_a_run_whose_sources_cannot_be_read_is_blocked(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write(lambda tx: hosts.take_over(tx, ONE, alive))
    run_id = bench.run_id()
    hurt(bench, monkeypatch, SOURCES, run_id)
    assert bench.write(lambda tx: claims.claim_next(tx, HOST)) is None
    query = "SELECT status, error_code, token_hash FROM run_queue WHERE run_id = ?"
    rows = bench.read(lambda connection: connection.execute(query, (run_id,)).fetchall())
    assert rows == [("parked", "load_failed", None)]


def test_a_run_whose_definition_cannot_be_read_is_blocked(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write(lambda tx: hosts.take_over(tx, ONE, alive))
    broken, sound = bench.run_id(made=definition(graph("broken"))), bench.run_id()
    document = bench.read(lambda connection: connection.execute("SELECT document FROM definitions").fetchall())[0][0]
    hurt(bench, monkeypatch, DEFINITION, broken)
    unreadable: dict[str, str] = {}
    assert bench.write(lambda tx: claims.claim_next(tx, HOST, (), unreadable)).run.run_id == sound
    assert unreadable == {}
    run = bench.read(lambda connection: reads.run(connection, broken)).run
    assert (run.queue, run.error_code, run.claim) == ("parked", "load_failed", None)
    assert "is not what its digest says" in (run.error_summary or "")
    restored = "UPDATE definitions SET document = ? WHERE definition_digest = ?"
    digest = hashlib.sha256(document).hexdigest()
    bench.write(lambda tx: tx.connection.execute(restored, (document, digest)))
    bench.write(lambda tx: commands.resume(tx, broken, actor=USER, key="again"))
    assert bench.write(lambda tx: claims.claim_next(tx, HOST)).run.run_id == broken
    assert bench.read(lambda connection: audit(connection, broken)).difference is None


def test_a_run_whose_definition_cannot_be_read_can_still_be_held_and_ended(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = bench.at_decision()[0]
    hurt(bench, monkeypatch, DEFINITION, run_id)
    for name in ("pause", "resume", "cancel"):
        act = getattr(commands, name)
        assert bench.write(lambda tx, act=act: act(tx, run_id, actor=USER, key=bench.key())).outcome == "accepted"
    run = bench.read(lambda connection: reads.run(connection, run_id)).run
    assert (run.status, run.request_id) == ("cancelled", None)
    refused = bench.write(lambda tx: commands.cancel(tx, run_id, actor=USER, key="late"))
    assert (refused.reason, refused.revision) == ("run_closed", run.revision)
    again = restart(bench, run_id, run.revision)
    assert (again.outcome, again.details["parent_run_id"]) == ("accepted", run_id)


def test_a_claim_is_given_back_without_its_definition(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    released, blocked = bench.run_id(), bench.run_id()
    tokens = bench.claim(released), bench.claim(blocked)
    hurt(bench, monkeypatch, DEFINITION, released)
    bench.write(lambda tx: claims.release(tx, tokens[0]))
    bench.write(lambda tx: claims.block(tx, tokens[1], BlockCode.LOAD_FAILED, "it cannot be read"))
    runs = [bench.read(lambda connection, id=id: reads.run(connection, id)).run for id in (released, blocked)]
    assert [(run.queue, run.claim) for run in runs] == [("queued", None), ("parked", None)]


def restart(bench: Bench, run_id: str, revision: int) -> Receipt:
    facts: dict[str, Any] = {"started_by": "bo", "started_by_uid": 1000, "actor": USER, "key": bench.key()}
    whole = definition(graph("mended"))
    receipt: Receipt = bench.write(lambda tx: commands.restart(tx, run_id, whole, expected_revision=revision, **facts))
    return receipt


OWNER = "UPDATE run_queue SET owner_kind = 'never' WHERE run_id = ?"


@pytest.mark.parametrize(("damage", "freed"), [(ROWS, False), (REVISION, False), (OWNER, False), (DEFINITION, True)])
def test_a_held_run_that_cannot_be_read_keeps_no_host_away(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, damage: str, freed: bool
) -> None:
    bench.write(lambda tx: hosts.take_over(tx, ONE, alive))
    broken, sound = bench.run_id(made=definition(graph("broken"))), bench.run_id()
    bench.claim(broken)
    bench.claim(sound)
    hurt(bench, monkeypatch, damage, broken)
    taken = bench.write(lambda tx: hosts.take_over(tx, TWO, dead))
    assert (taken.epoch, set(taken.lost)) == (2, {sound, broken} if freed else {sound})


def test_claims_of_a_dead_process_are_ended(bench: Bench) -> None:
    run_id = bench.run_id()
    bench.claim(run_id, hosts.process_owner(31, "7"))
    assert bench.write(lambda tx: hosts.end_lost_claims(tx, "host-1", alive)) == ()
    assert bench.write(lambda tx: hosts.end_lost_claims(tx, "host-1", dead)) == (run_id,)
    assert bench.read(lambda connection: reads.run(connection, run_id)).run.queue == "queued"


def test_deadlines_fall_due_and_paused_runs_wait(bench: Bench) -> None:
    run_id, request_id, _ = bench.at_decision(seconds=60)
    due_at = bench.clock.wall_ms + 60_000
    assert bench.read(lambda connection: hosts.deadline_in_ms(connection, due_at - 60_000)) == 60_000
    assert bench.read(lambda connection: hosts.due_deadlines(connection, due_at - 1)) == ()
    assert bench.read(lambda connection: hosts.due_deadlines(connection, due_at)) == (request_id,)
    bench.write(lambda tx: commands.pause(tx, run_id, actor=USER, key="p"))
    assert bench.read(lambda connection: hosts.due_deadlines(connection, due_at)) == ()
    assert bench.read(lambda connection: hosts.deadline_in_ms(connection, due_at)) is None
    assert bench.read(lambda connection: hosts.next_available(connection, bench.clock.wall_ms)) is None


def test_a_pause_can_ask_to_stop_at_once(bench: Bench) -> None:
    run_id = bench.run_id()
    bench.claim(run_id)
    bench.write(lambda tx: commands.pause(tx, run_id, actor=USER, key="1"))
    assert bench.read(lambda connection: hosts.stops_now(connection, [run_id])) == frozenset()
    bench.clock.pass_ms(1)
    bench.write(lambda tx: commands.pause(tx, run_id, actor=USER, key="2", now=True))
    assert bench.read(lambda connection: hosts.stops_now(connection, [run_id])) == {run_id}
    # A later pause without it takes nothing back.
    bench.write(lambda tx: commands.pause(tx, run_id, actor=USER, key="2b"))
    assert bench.read(lambda connection: hosts.stops_now(connection, [run_id])) == {run_id}
    bench.clock.pass_ms(1)
    bench.write(lambda tx: commands.resume(tx, run_id, actor=USER, key="3"))
    assert bench.read(lambda connection: hosts.stops_now(connection, [run_id])) == frozenset()


def test_a_launch_that_dies_at_once_blocks(bench: Bench) -> None:
    bench.write(lambda tx: hosts.take_over(tx, ONE, alive))
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    host = Actor(kind=ActorKind.HOST, id="host-1")
    bench.write(
        lambda tx: claims.lose(
            tx,
            run_id,
            claim.generation,
            cause="exit",
            counted=True,
            progressed=False,
            actor=host,
            exit_code=9,
        )
    )
    detail = bench.read(lambda connection: reads.run(connection, run_id))
    assert (detail.run.error_code, detail.run.queue) == ("worker_lost", "parked")
    assert bench.write(lambda tx: claims.claim_next(tx, HOST)) is None
    bench.write(lambda tx: commands.resume(tx, run_id, actor=USER, key="r"))
    assert bench.write(lambda tx: claims.claim_next(tx, HOST)) is not None


def test_a_replaced_host_claims_nothing_more(bench: Bench) -> None:
    bench.write(lambda tx: hosts.take_over(tx, ONE, alive))
    bench.run_id()
    bench.write(lambda tx: hosts.take_over(tx, TWO, dead))
    with pytest.raises(Refused, match="taken over from host-1"):
        bench.write(lambda tx: claims.claim_next(tx, HOST))
