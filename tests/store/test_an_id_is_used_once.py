"""What a worker proposes under an id is done once: the same id again is refused by name, and nothing is written."""

from lockgate.flow import transitions as t

from .acts import ACTS
from .conftest import Bench, written


def test_an_attempt_id_of_another_run_is_refused(bench: Bench) -> None:
    first, second = bench.run_id(), bench.run_id()
    claims = {run_id: bench.claim(run_id) for run_id in (first, second)}
    for claim in claims.values():
        bench.ready(claim)
    attempt = bench.begin(claims[first], "work")
    before = bench.write(written)
    reply = bench.propose(claims[second], t.StartAttempt(attempt_id=attempt, node_id="work"))
    assert (reply.outcome, reply.code) == ("refused", "id_taken")
    assert bench.write(written) == before


def test_an_update_is_published_once(bench: Bench) -> None:
    act = ACTS["publish update"]
    facts = act.prepare(bench)
    assert bench.write(lambda tx: act.do(tx, facts)).outcome == "accepted"
    before = bench.write(written)
    reply = bench.write(lambda tx: act.do(tx, facts))
    assert (reply.outcome, reply.code) == ("refused", "id_taken")
    assert bench.write(written) == before
