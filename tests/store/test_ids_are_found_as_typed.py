"""What people type finds one thing, or says what it could have been."""

import pytest

from lockgate.model.errors import NotFound
from lockgate.store import reads
from lockgate.store.reads import RunQuery, Term

from .conftest import Bench, definition, graph


def test_a_run_is_found_by_its_id_and_by_its_short_id(bench: Bench) -> None:
    run_id = bench.run_id()
    for given in (run_id, run_id[-8:], run_id[-8:][:4]):
        assert bench.read(lambda connection, given=given: reads.resolve_run_id(connection, given)) == run_id


def test_a_prefix_of_several_runs_names_them(bench: Bench) -> None:
    ids = [f"20251129T140000Z-sample-abcd000{n}" for n in range(3)]
    made = bench.run_id()
    for run_id in ids:
        bench.write(lambda tx, run_id=run_id: copy_run(tx.connection, made, run_id))
    with pytest.raises(NotFound, match="it could be") as caught:
        bench.read(lambda connection: reads.resolve_run_id(connection, "abcd"))
    assert set(caught.value.details["candidates"]) == set(ids)
    assert bench.read(lambda connection: reads.resolve_run_id(connection, "abcd0001")) == ids[1]


def copy_run(connection: object, source: str, run_id: str) -> None:
    columns = (
        "workflow, definition_digest, workflow_ref, project_dir, title, status, paused, revision, input_hash, "
        + (
            "output_hash, error_hash, error_code, error_summary, parent_run_id, parent_revision, root_run_id, "
            "restart_number, started_by, started_by_uid, active_ms, waiting_ms, clock, clock_since, steps, chain_head, "
            "last_at, created_at, started_at, finished_at"
        )
    )
    statement = f"INSERT INTO runs (run_id, {columns}) SELECT ?, {columns} FROM runs WHERE run_id = ?"
    connection.execute(statement, (run_id, source))  # type: ignore[attr-defined]


@pytest.mark.parametrize("given", ["", "abc", "no-such-run-at-all", "%", "ABCD'--", "\u202e1234", "\udcff12345"])
def test_what_is_no_run_is_not_found(bench: Bench, given: str) -> None:
    bench.run_id()
    with pytest.raises(NotFound):
        bench.read(lambda connection: reads.resolve_run_id(connection, given))


def test_a_decision_is_found_by_its_hex_and_by_its_run(bench: Bench) -> None:
    run_id, request_id, _ = bench.at_decision()
    hex = request_id.removeprefix("decision-")
    for given in (request_id, hex, hex[:4], f"decision-{hex[:6]}", run_id, run_id[-8:]):
        found = bench.read(lambda connection, given=given: reads.resolve_request_id(connection, given))
        assert found == request_id


def test_a_run_that_asks_nothing_has_no_request(bench: Bench) -> None:
    run_id = bench.run_id()
    with pytest.raises(NotFound):
        bench.read(lambda connection: reads.resolve_request_id(connection, run_id))


def test_an_effect_is_found(bench: Bench) -> None:
    run_id, _, _ = bench.at_decision()
    effect = bench.read(lambda connection: reads.run(connection, run_id)).effects[0].effect_id
    for given in (effect, effect.removeprefix("effect-")[:5]):
        assert bench.read(lambda connection, given=given: reads.resolve_effect_id(connection, given)) == effect
    with pytest.raises(NotFound):
        bench.read(lambda connection: reads.resolve_effect_id(connection, run_id))


def test_terms_select_and_invert(bench: Bench) -> None:
    plain = bench.run_id(title="100% done_ok")
    other = bench.run_id(title="something", made=definition(graph("other")))

    def found(*terms: Term, **more: object) -> set[str]:
        query = RunQuery(terms=terms, **more)  # type: ignore[arg-type]
        ids: list[str] = bench.read(lambda connection: reads.run_ids(connection, query))
        page = bench.read(lambda connection: reads.runs(connection, query))
        assert {run.run_id for run in page.rows} == set(ids)
        return set(ids)

    assert found(Term(field="title", text="100%")) == {plain}
    assert found(Term(field="title", text="e_o")) == {plain}
    assert found(Term(field="title", text="%")) == {plain}
    assert found(Term(field="text", text="OTHER")) == {other}
    assert found(Term(field="workflow", text="sample", whole=True)) == {plain}
    assert found(Term(field="workflow", text="sample", negated=True)) == {other}
    assert found(Term(field="text", text="done"), Term(field="workflow", text="other")) == set()
    assert found(Term(field="run", text=plain[-8:])) == {plain}
    assert found(Term(field="error", text="x")) == set()
    assert found(statuses=("completed",)) == set()
    assert found(statuses=("queued", "running")) == {plain, other}


@pytest.mark.parametrize("order", ["created", "updated", "workflow", "title", "status", "active", "waiting", "steps"])
def test_every_order_is_the_reverse_of_its_reverse(bench: Bench, order: str) -> None:
    for title in ("b", "A", None, "c"):
        bench.run_id(title=title)
        bench.clock.pass_ms(5)
    down = bench.read(lambda connection: reads.run_ids(connection, RunQuery(order=order)))
    up = bench.read(lambda connection: reads.run_ids(connection, RunQuery(order=order, descending=False)))
    assert up == down[::-1]
    page = bench.read(lambda connection: reads.runs(connection, RunQuery(order=order, limit=2, offset=1)))
    assert [run.run_id for run in page.rows] == down[1:3]
