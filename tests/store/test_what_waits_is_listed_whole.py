"""Whatever waits for a person is on the list, however much else waits for programs."""

import sqlite3

import pytest

from lockgate.flow import graph as graphs_of_the_process
from lockgate.store import reads

from .conftest import Bench, definition, graph

MANY = 510


def multiply(connection: sqlite3.Connection, table: str, run_id: str, *ids: str) -> None:
    """MANY further rows of a run, each with ids of its own."""
    names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    chosen = ", ".join(f"{name} || '-' || n.i" if name in ids else name for name in names)
    connection.execute(
        f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY}) "
        f"INSERT INTO {table} ({', '.join(names)}) SELECT {chosen} FROM {table}, n WHERE run_id = ?",
        (run_id,),
    )


def crowd(bench: Bench) -> str:
    """A decision without a deadline that came after many checkpoints; its id."""
    run_id, _ = bench.at_checkpoint()

    def fill(connection: sqlite3.Connection) -> None:
        multiply(connection, "runs", run_id, "run_id", "root_run_id")
        multiply(connection, "node_attempts", run_id, "run_id", "attempt_id")
        multiply(connection, "requests", run_id, "request_id", "run_id", "attempt_id")

    bench.write(lambda tx: fill(tx.connection))
    bench.clock.pass_ms(1_000)
    decision_id = bench.at_decision()[1]
    bench.write(lambda tx: tx.connection.execute("UPDATE requests SET deadline_at = NULL"))
    return decision_id


def test_no_number_of_checkpoints_hides_a_decision(bench: Bench) -> None:
    decision_id = crowd(bench)
    assert [each.request_id for each in bench.read(reads.decisions)] == [decision_id]
    everything = bench.read(reads.pending_requests)
    assert len(everything) == MANY + 2
    assert everything[0].request_id == decision_id


def test_a_limit_leaves_out_what_programs_wait_for(bench: Bench) -> None:
    decision_id = crowd(bench)
    some = bench.read(lambda connection: reads.pending_requests(connection, limit=1))
    assert [each.request_id for each in some] == [decision_id]


@pytest.mark.parametrize("lost", ["UPDATE definitions SET document = x'7b7d'", "DELETE FROM definitions"])
def test_a_definition_that_cannot_be_read_takes_nothing_from_the_list(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    broken = bench.at_decision(made=definition(graph("broken")))[1]
    sound = bench.at_decision()[1]
    bench.file.connection.execute("PRAGMA foreign_keys=OFF")
    bench.file.connection.execute(f"{lost} WHERE name = 'broken'")
    monkeypatch.setattr(graphs_of_the_process, "_graphs", {})
    found = {each.request_id: each for each in bench.read(reads.decisions)}
    assert set(found) == {broken, sound}
    assert found[sound].consequences["go"] != found[broken].consequences["go"]
    assert set(found[broken].consequences) == {"go", "again", "stop"}


def test_a_contract_that_cannot_be_read_takes_nothing_from_the_list_and_is_not_decided_on(bench: Bench) -> None:
    sound = bench.at_checkpoint()[1]
    _, broken, digest = bench.at_decision()
    damage = "UPDATE blobs SET content = x'7b7d' WHERE hash = (SELECT contract_hash FROM requests WHERE request_id = ?)"
    bench.file.connection.execute(damage, (broken,))
    found = {each.request_id: each for each in bench.read(reads.pending_requests)}
    assert set(found) == {broken, sound}
    assert (found[broken].title, found[broken].presentation, found[broken].choices) == ("Release it?", None, ())
    assert bench.answer(broken, digest).reason == "altered"


def test_choices_that_cannot_be_read_take_no_run_from_the_list(bench: Bench) -> None:
    run_id, request_id, _ = bench.at_decision()
    damage = "UPDATE blobs SET content = x'5b315d' WHERE hash = (SELECT choices_hash FROM human_decisions)"
    bench.file.connection.execute(damage)
    (run,) = bench.read(lambda connection: reads.runs(connection, reads.RunQuery())).rows
    assert (run.run_id, run.request_id, run.default_label) == (run_id, request_id, "stop")
