"""A restart is a run of its own: its parent's input and title, its place in the lineage, and nothing that happened."""

from lockgate.model.records import Receipt
from lockgate.store import commands, reads

from .conftest import USER, Bench, definition
from .histories import everything, failed, unsure


def restart(bench: Bench, run_id: str, revision: int, key: str) -> Receipt:
    receipt: Receipt = bench.write(
        lambda tx: commands.restart(
            tx,
            run_id,
            definition(),
            expected_revision=revision,
            started_by="cy",
            started_by_uid=7,
            actor=USER,
            key=key,
        )
    )
    return receipt


def test_nothing_that_happened_is_copied(bench: Bench) -> None:
    run_id = everything(bench)
    parent = bench.read(lambda connection: reads.run(connection, run_id))
    assert parent.attempts
    assert parent.effects
    assert parent.resolutions
    child_id = restart(bench, run_id, parent.row.revision, "r").run_id
    assert child_id is not None
    child = bench.read(lambda connection: reads.run(connection, child_id))
    assert (child.row.input_hash, child.row.title) == (parent.row.input_hash, parent.row.title)
    assert (child.row.status, child.row.steps, child.row.revision, child.row.started_by) == ("queued", 0, 1, "cy")
    assert (child.attempts, child.requests, child.resolutions, child.effects, child.updates) == ((), (), (), (), ())
    [scope] = bench.read(lambda connection: reads.settings(connection, child_id))
    [before] = bench.read(lambda connection: reads.settings(connection, run_id))
    assert (scope.change_number, scope.current_hash) == (0, before.initial_hash)
    assert before.change_number == 1
    assert scope.run_id == child_id


def test_lineage_is_root_parent_revision_and_number(bench: Bench) -> None:
    run_id = everything(bench)
    revision = bench.read(lambda connection: reads.run(connection, run_id)).row.revision
    first = restart(bench, run_id, revision, "r1").run_id
    assert first is not None
    cancelled = bench.write(lambda tx: commands.cancel(tx, first, actor=USER, key="c"))
    second = restart(bench, first, cancelled.revision, "r2").run_id
    rows = {id: bench.read(lambda connection, id=id: reads.run(connection, id)).row for id in (run_id, first, second)}
    assert [row.restart_number for row in rows.values()] == [0, 1, 2]
    assert {row.root_run_id for row in rows.values()} == {run_id}
    assert (rows[first].parent_run_id, rows[first].parent_revision) == (run_id, revision)
    assert (rows[run_id].parent_run_id, rows[run_id].parent_revision) == (None, None)


def test_a_restart_knows_how_its_ancestors_ended(bench: Bench) -> None:
    run_id = failed(bench)
    parent = bench.read(lambda connection: reads.run(connection, run_id)).row
    assert bench.read(lambda connection: reads.run(connection, run_id)).earlier == ()
    first = restart(bench, run_id, parent.revision, "r1").run_id
    assert first is not None
    cancelled = bench.write(lambda tx: commands.cancel(tx, first, actor=USER, key="c"))
    second = restart(bench, first, cancelled.revision, "r2").run_id
    assert second is not None
    root, middle = bench.read(lambda connection: reads.run(connection, second)).earlier
    assert (root.run_id, root.status, root.reason) == (run_id, "failed", "ValueError: no")
    assert (root.output_hash, root.error_hash, root.finished_at) == (None, parent.error_hash, parent.finished_at)
    assert (middle.run_id, middle.status, middle.reason) == (first, "cancelled", "cancelled by bo")


def test_a_restart_names_the_revision_that_was_seen(bench: Bench) -> None:
    run_id = everything(bench)
    revision = bench.read(lambda connection: reads.run(connection, run_id)).row.revision
    for wrong in (revision - 1, revision + 1, 0):
        told = restart(bench, run_id, wrong, f"r{wrong}")
        assert (told.outcome, told.reason) == ("conflict", "stale")
        assert (told.details["seen"], told.details["revision"]) == (wrong, revision)


def test_an_unsure_effect_forbids_a_restart(bench: Bench) -> None:
    run_id, _ = unsure(bench)
    cancelled = bench.write(lambda tx: commands.cancel(tx, run_id, actor=USER, key="c"))
    told = restart(bench, run_id, cancelled.revision, "r")
    assert (told.outcome, told.reason) == ("rejected", "effect_ambiguous")
