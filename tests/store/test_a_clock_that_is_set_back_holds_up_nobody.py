"""Whatever the wall clock does, a run that is queued is claimed now, and a back-off lasts no longer than it is."""

import pytest

from lockgate.model.errors import Refused
from lockgate.model.statuses import RunStatus
from lockgate.store import claims, hosts, reads
from lockgate.store.hosts import Identity

from .conftest import HOST, Bench
from .histories import lose

HOUR = 3_600_000


@pytest.fixture
def hosted(bench: Bench) -> Bench:
    host = Identity(host_id="host-1", pid=1, process_start="1", capacity=4)
    bench.write(lambda tx: hosts.take_over(tx, host, lambda pid, start: True))
    return bench


def next_run(bench: Bench) -> str | None:
    found = bench.write(lambda tx: claims.claim_next(tx, HOST))
    return found.run.run_id if found is not None else None


@pytest.mark.parametrize("step", [-HOUR, -1_001, 0, HOUR])
def test_a_queued_run_is_claimed_after_a_step(hosted: Bench, step: int) -> None:
    run_id = hosted.run_id()
    hosted.clock.wall_ms += step
    assert hosted.read(lambda connection: hosts.next_available(connection, hosted.clock.wall_ms)) == 0
    assert next_run(hosted) == run_id


@pytest.mark.parametrize("step", [-HOUR, HOUR])
def test_an_answered_run_is_claimed_after_a_step(hosted: Bench, step: int) -> None:
    run_id, request_id, digest = hosted.at_decision()
    assert hosted.answer(request_id, digest).outcome == "accepted"
    hosted.clock.wall_ms += step
    assert next_run(hosted) == run_id


def test_a_back_off_is_waited_for_to_the_millisecond(hosted: Bench) -> None:
    run_id = hosted.run_id()
    for _ in range(2):
        claim = hosted.claim(run_id)
        hosted.ready(claim)
        hosted.begin(claim, "work")
        lose(hosted, run_id, claim.generation)
    assert hosted.read(lambda connection: hosts.next_available(connection, hosted.clock.wall_ms)) == 1_000
    hosted.clock.pass_ms(999)
    assert next_run(hosted) is None
    with pytest.raises(Refused, match="waits before its next try"):
        hosted.claim(run_id)
    hosted.clock.pass_ms(1)
    assert next_run(hosted) == run_id


def test_a_run_goes_on_under_a_clock_that_was_set_back(hosted: Bench) -> None:
    """Its events never go back, its working time is monotonic, and it ends."""
    run_id = hosted.run_id()
    claim = hosted.claim(run_id)
    hosted.ready(claim)
    attempt = hosted.begin(claim, "work")
    hosted.clock.mono_ms += 400
    hosted.clock.wall_ms -= HOUR
    hosted.finish(claim, attempt, 1)
    attempt = hosted.begin(claim, "send")
    hosted.effect(claim, attempt)
    hosted.finish(claim, attempt, 2)
    hosted.ask(claim, hosted.begin(claim, "ask"))
    detail = hosted.read(lambda connection: reads.run(connection, run_id))
    assert (detail.row.status, detail.row.active_ms) == (RunStatus.WAITING, 400)
    times = [event.at for event in hosted.read(lambda connection: reads.events(connection, run_id))]
    assert times == sorted(times)
