"""Text that was changed behind the store's back is not decided on, though its fingerprint is genuine."""

import sqlite3
from collections.abc import Callable

import pytest

from lockgate.flow import transitions as t
from lockgate.flow.contracts import for_agent
from lockgate.model.encoding import sha256
from lockgate.model.errors import DefinitionError
from lockgate.model.records import Value
from lockgate.model.statuses import RequestKind
from lockgate.store import commands, reads
from lockgate.store.graphs import graph_of

from .conftest import Bench, value

Change = Callable[[sqlite3.Connection, str], object]


def change_contract(connection: sqlite3.Connection, request_id: str) -> object:
    return connection.execute(
        "UPDATE blobs SET content = CAST(replace(CAST(content AS TEXT), 'All of it', 'Nothing') AS BLOB)"
        " WHERE hash = (SELECT contract_hash FROM requests WHERE request_id = ?)",
        (request_id,),
    )


def change_title(connection: sqlite3.Connection, request_id: str) -> object:
    return connection.execute("UPDATE human_decisions SET title = 'Only a test?' WHERE decision_id = ?", (request_id,))


def change_audience(connection: sqlite3.Connection, request_id: str) -> object:
    return connection.execute("UPDATE human_decisions SET audience = 'all' WHERE decision_id = ?", (request_id,))


def change_policy(connection: sqlite3.Connection, request_id: str) -> object:
    text = '{"audience":"operator","self_approval":true,"users":["ada"]}'
    return connection.execute("UPDATE requests SET policy = ? WHERE request_id = ?", (text, request_id))


def change_deadline(connection: sqlite3.Connection, request_id: str) -> object:
    return connection.execute(
        "UPDATE requests SET deadline_at = deadline_at - 59000 WHERE request_id = ?", (request_id,)
    )


def change_node(connection: sqlite3.Connection, request_id: str) -> object:
    return connection.execute("UPDATE requests SET node_id = 'work' WHERE request_id = ?", (request_id,))


def change_default(connection: sqlite3.Connection, request_id: str) -> object:
    return connection.execute("UPDATE human_decisions SET default_choice = 'go' WHERE decision_id = ?", (request_id,))


CHANGES = [change_contract, change_title, change_audience, change_policy, change_deadline, change_node, change_default]


@pytest.mark.parametrize("change", CHANGES)
def test_an_altered_decision_takes_no_answer(bench: Bench, change: Change) -> None:
    run_id, request_id, digest = bench.at_decision()
    bench.write(lambda tx: change(tx.connection, request_id))
    receipt = bench.answer(request_id, digest)
    assert (receipt.outcome, receipt.reason) == ("rejected", "altered")
    assert bench.read(lambda c: reads.request(c, request_id)).status == "pending"
    assert bench.read(lambda c: reads.run(c, run_id)).run.status == "waiting"


@pytest.mark.parametrize("change", CHANGES)
def test_the_default_of_an_altered_decision_is_not_taken(bench: Bench, change: Change) -> None:
    run_id, request_id, _ = bench.at_decision()
    bench.write(lambda tx: change(tx.connection, request_id))
    bench.clock.pass_ms(60_000)
    receipt = bench.write(lambda tx: commands.expire(tx, request_id))
    assert (receipt.outcome, receipt.reason) == ("rejected", "altered")
    assert bench.read(lambda c: reads.run(c, run_id)).run.status == "waiting"


def test_an_untouched_one_does(bench: Bench) -> None:
    _, request_id, digest = bench.at_decision()
    assert bench.answer(request_id, digest).outcome == "accepted"


def test_a_changed_definition_is_not_read_for_consequences(bench: Bench) -> None:
    other = value({"not": "a definition"})
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE definitions (definition_digest TEXT, document BLOB)")
        connection.execute("INSERT INTO definitions VALUES (?, ?)", ("ab" * 32, other.content))
        with pytest.raises(DefinitionError, match="not what its digest says"):
            graph_of(connection, "ab" * 32)
    connection.close()


@pytest.mark.parametrize("contract", [b"", b"[]", b"\xff", for_agent("Do it", None).encoded()])
def test_nothing_waits_under_what_is_no_contract_of_its_kind(bench: Bench, contract: bytes) -> None:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    bench.step(claim, "work", 1)
    attempt = bench.begin(claim, "send")
    bench.effect(claim, attempt)
    bench.finish(claim, attempt, 2)
    attempt, given = bench.begin(claim, "ask"), Value(hash=sha256(contract), content=contract)
    wait = t.WaitForInput(attempt_id=attempt, kind=RequestKind.CHECKPOINT, contract_hash=given.hash)
    reply = bench.propose(claim, wait, values=(given,))
    assert (reply.outcome, reply.code) == ("refused", "wrong_contract")
    assert bench.ask(claim, attempt).outcome == "accepted"
