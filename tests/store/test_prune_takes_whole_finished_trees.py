"""What is old and finished goes, tree by tree, after a backup; whatever keeps a run keeps its whole tree."""

from pathlib import Path
from typing import Any

import pytest

from lockgate.flow import transitions as t
from lockgate.model.errors import NotFound, Refused
from lockgate.model.events import RunPruned
from lockgate.model.records import Actor
from lockgate.model.statuses import ActorKind, Outcome, RunStatus
from lockgate.store import commands, outputs, reads
from lockgate.store.audit import KeptReceipt, audit, audited_run_id, check_receipt
from lockgate.store.backup import reading_inactive
from lockgate.store.doctor import examine
from lockgate.store.prune import Plan, Pruned, plan, prune
from lockgate.store.soundness import contents

from . import histories
from .conftest import ADA, Bench, value

KEEPER = Actor(kind=ActorKind.USER, id="keeper")


def planned(bench: Bench, **more: Any) -> Plan:
    bench.clock.pass_ms(1)
    made: Plan = bench.read(lambda connection: plan(connection, bench.clock.wall_ms, **more))
    return made


def pruned(bench: Bench, target: Path, **more: Any) -> Pruned:
    bench.clock.pass_ms(1)
    return prune(bench.path, bench.clock.wall_ms, target, actor=KEEPER, clock=bench.clock, **more)


def codes(made: Plan, run_id: str) -> set[str]:
    return {blocker.code for tree in made.blocked for blocker in tree.blockers if blocker.run_id == run_id}


def test_a_plan_changes_nothing_and_lists_every_blocker(bench: Bench) -> None:
    runs = histories.all_kinds(bench)
    before = bench.read(contents)
    made = planned(bench)
    assert bench.read(contents) == before
    assert {tree.root_run_id for tree in made.trees} == {runs["withdrawn"], runs["timed_out"]}
    assert codes(made, runs["everything"]) == {"human_decision"}
    # The parent is finished, its restart is not: the tree stays whole.
    assert codes(made, runs["parent"]) == set()
    assert codes(made, runs["child"]) == {"not_finished"}
    # Nothing of these has ever ended: they are no candidates.
    assert codes(made, runs["waiting"]) == set()
    assert runs["everything"] in {tree.root_run_id for tree in planned(bench, with_decisions=True).trees}


def test_a_cancelled_run_with_an_unsure_effect_is_kept(bench: Bench) -> None:
    run_id, _ = histories.unsure(bench)
    bench.write(lambda tx: commands.cancel(tx, run_id, actor=KEEPER, key="c"))
    assert codes(planned(bench), run_id) == {"unsettled_effect"}


def test_both_sides_of_the_cutoff(bench: Bench) -> None:
    run_id = histories.failed(bench)
    ended = bench.read(lambda c: c.execute("SELECT finished_at FROM runs WHERE run_id = ?", (run_id,)).fetchone())[0]
    assert bench.read(lambda connection: plan(connection, ended)).trees == ()
    assert len(bench.read(lambda connection: plan(connection, ended + 1)).trees) == 1


def test_a_later_restart_keeps_the_tree(bench: Bench) -> None:
    parent, child = histories.restarted(bench)
    cutoff = bench.clock.wall_ms + 1
    bench.clock.pass_ms(10)
    bench.write(lambda tx: commands.cancel(tx, child, actor=KEEPER, key="c"))
    made = bench.read(lambda connection: plan(connection, cutoff))
    assert codes(made, child) == {"finished_later"}
    tree = bench.read(lambda connection: plan(connection, cutoff + 10)).trees[0]
    assert [member.run_id for member in tree.members] == [parent, child]


def test_a_pruned_run_leaves_its_tombstone_and_nothing_else(bench: Bench, tmp_path: Path) -> None:
    run_id = histories.everything(bench)
    kept = histories.waiting(bench)
    bench.write(
        lambda tx: outputs.append(
            tx, [outputs.Written(run_id=run_id, attempt_id="attempt-1", stream="stdout", content=b"x" * 100)]
        )
    )
    before = bench.read(lambda connection: audit(connection, run_id))
    newest = bench.read(reads.latest_event_seq)
    result = pruned(bench, tmp_path / "copy.sqlite", with_decisions=True)
    assert (result.trees, result.runs, result.events, result.decisions) == (1, 1, before.events, 1)
    tables = bench.read(
        lambda c: [row[0] for row in c.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()]
    )
    for table in tables:
        columns = bench.read(lambda c, table=table: [row[1] for row in c.execute(f"PRAGMA table_info({table})")])
        if "run_id" not in columns:
            continue
        (left,) = bench.read(
            lambda c, table=table: c.execute(f"SELECT count(*) FROM {table} WHERE run_id = ?", (run_id,)).fetchone()
        )
        assert left == (1 if table == "events" else 0), table
    (tombstone,) = bench.read(lambda connection: reads.trace(connection, run_id))
    assert (tombstone.type, tombstone.seq, tombstone.prev_hash) == ("run_pruned", before.seq + 1, before.chain_head)
    assert isinstance(tombstone.payload, RunPruned)
    assert tombstone.payload.receipt_hashes == [receipt.hash for receipt in before.receipts]
    assert tombstone.payload.receipt_seqs == [receipt.seq for receipt in before.receipts]
    # A follower sees it as the newest event, and no number comes twice.
    assert bench.read(lambda connection: reads.events_after(connection, newest)) == [(newest + 1, run_id, "run_pruned")]
    assert bench.read(lambda connection: audit(connection, kept)).difference is None
    assert examine(bench.path, every_run=True, clock=bench.clock).findings == ()


def test_a_tombstone_can_be_audited_and_knows_its_receipts(bench: Bench, tmp_path: Path) -> None:
    run_id = histories.everything(bench)
    before = bench.read(lambda connection: audit(connection, run_id))
    pruned(bench, tmp_path / "copy.sqlite", with_decisions=True)
    with pytest.raises(NotFound):
        bench.read(lambda connection: reads.run(connection, run_id))
    assert bench.read(lambda connection: audited_run_id(connection, run_id)) == run_id
    after = bench.read(lambda connection: audit(connection, run_id))
    assert (after.is_pruned, after.difference, after.rows) == (True, None, 0)

    def check(seq: int, hash: str) -> Any:
        kept = KeptReceipt(run_id=run_id, seq=seq, hash=hash)
        return bench.read(lambda connection: check_receipt(connection, kept, after))

    assert check(before.receipts[0].seq, before.receipts[0].hash) is None
    assert check(before.seq, before.chain_head) is None
    # The hash alone is not the receipt: it stands in one place.
    assert check(before.receipts[0].seq + 1, before.receipts[0].hash) is not None
    assert check(before.seq - 1, before.chain_head) is not None
    assert check(before.receipts[0].seq, "0" * 64).expected == "0" * 64
    bench.write(
        lambda tx: tx.connection.execute(
            "UPDATE events SET payload = replace(payload, '\"last_seq\":', '\"last_seq\":1')"
        )
    )
    assert bench.read(lambda connection: audit(connection, run_id)).difference is not None


def test_a_tombstone_of_any_number_of_decisions_stays_short(bench: Bench, tmp_path: Path) -> None:
    """What does not fit is a stored value, which goes as little as the tombstone does."""
    run_id, request_id, digest = bench.at_decision()
    for _ in range(45):
        assert bench.answer(request_id, digest, "again", text="Once more").outcome == "accepted"
        claim = bench.claim(run_id)
        current = bench.ready(claim).current
        assert current is not None
        decided = t.FinishAttempt(
            attempt_id=current.attempt_id, outcome=Outcome.OK, output_hash=current.output_hash, switch_value="again"
        )
        assert bench.propose(claim, decided).outcome == "accepted"
        bench.step(claim, "work", 1)
        attempt = bench.begin(claim, "send")
        bench.effect(claim, attempt)
        bench.finish(claim, attempt, 2)
        asked = bench.ask(claim, bench.begin(claim, "ask")).results[0]["request_id"]
        histories.submit(bench, asked)
        claim = bench.claim(run_id)
        current = bench.ready(claim).current
        assert current is not None
        bench.finish(claim, current.attempt_id, {"n": 1})
        wanted = bench.decide(claim, bench.begin(claim, "decide")).results[0]
        request_id, digest = wanted["request_id"], wanted["digest"]
    bench.write(lambda tx: commands.cancel(tx, run_id, actor=KEEPER, key="c"))
    before = bench.read(lambda connection: audit(connection, run_id))
    pruned(bench, tmp_path / "copy.sqlite", with_decisions=True)
    size = bench.read(lambda c: c.execute("SELECT length(payload) FROM events WHERE run_id = ?", (run_id,)).fetchone())
    assert size[0] < 4096
    after = bench.read(lambda connection: audit(connection, run_id))
    assert (after.difference, after.values) == (None, 1)
    for receipt in before.receipts:
        kept = KeptReceipt(run_id=run_id, seq=receipt.seq, hash=receipt.hash)
        assert bench.read(lambda connection, kept=kept: check_receipt(connection, kept, after)) is None
    bench.write(lambda tx: tx.connection.execute("UPDATE blobs SET content = x'5b5d'"))
    assert bench.read(lambda connection: audit(connection, run_id)).difference is not None


def test_values_and_definitions_of_nobody_go(bench: Bench, tmp_path: Path) -> None:
    run_id = histories.everything(bench)
    bench.write(lambda tx: tx.connection.execute("INSERT INTO blobs VALUES (?, ?)", ("0" * 64, b"nobody's")))
    values, definitions = bench.read(
        lambda c: (
            c.execute("SELECT count(*) FROM blobs").fetchone()[0],
            c.execute("SELECT count(*) FROM definitions").fetchone()[0],
        )
    )
    result = pruned(bench, tmp_path / "copy.sqlite", with_decisions=True)
    assert (result.values, result.definitions) == (values, definitions)
    assert result.value_bytes > 0
    assert bench.read(lambda c: c.execute("SELECT count(*) FROM blobs").fetchone()) == (0,)
    with reading_inactive(tmp_path / "copy.sqlite") as copy:
        assert audit(copy, run_id).difference is None


def test_values_that_others_name_stay(bench: Bench, tmp_path: Path) -> None:
    histories.everything(bench)
    others = [histories.everything(bench) for _ in range(2)]
    old = bench.clock.wall_ms
    bench.clock.pass_ms(100)
    others.append(histories.withdrawn(bench))
    runs = {*histories.all_kinds(bench).values()}
    result = prune(
        bench.path, old - 10_000, tmp_path / "a.sqlite", actor=KEEPER, clock=bench.clock, with_decisions=True
    )
    assert result.runs >= 1
    left = {row[0] for row in bench.read(lambda c: c.execute("SELECT run_id FROM runs").fetchall())}
    assert runs <= left
    for run_id in left:
        assert bench.read(lambda connection, r=run_id: audit(connection, r)).difference is None


def test_a_value_that_is_named_while_values_go_stays(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker commits between the look for values of nobody and their removal."""
    from lockgate.store import prune as module

    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    attempt = bench.begin(claim, "work")
    late = value({"late": True})
    bench.write(lambda tx: tx.connection.execute("INSERT INTO blobs VALUES (?, ?)", (late.hash, late.content)))
    bench.write(lambda tx: tx.connection.execute("INSERT INTO blobs VALUES (?, ?)", ("0" * 64, b"nobody's")))
    other = module.open_file(bench.path, bench.clock)
    write = other.write
    happened = []

    def write_later(fn: Any, clock: Any) -> Any:
        if not happened:
            happened.append(True)
            bench.propose(claim, t.FinishAttempt(attempt_id=attempt, outcome=Outcome.OK, output_hash=late.hash))
        return write(fn, clock)

    monkeypatch.setattr(other, "write", write_later)
    assert module._prune_values(other, bench.clock) == (1, 8)
    other.close()
    assert bench.read(lambda connection: reads.value(connection, late.hash)) == late.content
    assert bench.read(lambda connection: audit(connection, run_id)).difference is None


def test_the_backup_must_be_new_and_comes_first(bench: Bench, tmp_path: Path) -> None:
    run_id = histories.failed(bench)
    taken = tmp_path / "taken.sqlite"
    taken.write_bytes(b"mine")
    with pytest.raises(Refused, match="never overwrites"):
        pruned(bench, taken)
    assert taken.read_bytes() == b"mine"
    assert bench.read(lambda connection: reads.run(connection, run_id)).row.status is RunStatus.FAILED


def test_what_is_recorded_meanwhile_is_in_the_copy_or_stays(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A late answer with its text, and a word about an effect: copy and plan are of one moment."""
    from lockgate.store import prune as module

    answered = histories.everything(bench)
    unsure, effect = histories.unsure(bench)
    bench.write(lambda tx: commands.cancel(tx, unsure, actor=KEEPER, key="c"))
    (view,) = [each for each in bench.read(reads.decided_requests) if each.run_id == answered]
    opening, planning = module.open_file, module.plan

    def open_late(*named: Any, **more: Any) -> Any:
        lost = bench.answer(view.request_id, view.digest, "again", text="too late", key="late")
        assert (lost.outcome, lost.reason) == ("conflict", "already_resolved")
        return opening(*named, **more)

    def plan_late(connection: Any, cutoff: int, **named: Any) -> Plan:
        resolve = commands.resolve_effect
        bench.write(lambda tx: resolve(tx, effect, happened=True, output=None, human=ADA, key="e"))
        return planning(connection, cutoff, **named)

    monkeypatch.setattr(module, "open_file", open_late)
    monkeypatch.setattr(module, "plan", plan_late)
    pruned(bench, tmp_path / "copy.sqlite", with_decisions=True)
    asked = "SELECT count(*) FROM commands WHERE key = 'late'"
    with reading_inactive(tmp_path / "copy.sqlite") as copy:
        assert copy.execute(asked).fetchone() == (1,) or bench.read(lambda c: c.execute(asked).fetchone()) == (1,)
    assert bench.read(lambda connection: reads.run(connection, unsure)).effects[0].resolved_by == "ada"


def test_a_tree_that_changes_under_the_plan_is_kept(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lockgate.store import prune as module

    parent = histories.failed(bench)
    again = module._prune_tree

    def late(tx: Any, **named: Any) -> bool:
        commands.restart(
            tx,
            parent,
            histories.definition(),
            expected_revision=tx.connection.execute("SELECT revision FROM runs").fetchone()[0],
            started_by="bo",
            started_by_uid=1000,
            actor=KEEPER,
            key="restart",
        )
        return again(tx, **named)

    monkeypatch.setattr(module, "_prune_tree", late)
    result = pruned(bench, tmp_path / "copy.sqlite")
    assert (result.trees, result.changed) == (0, (parent,))
    assert bench.read(lambda connection: reads.run(connection, parent)).children


def test_free_pages_are_given_back_when_nobody_else_looks(bench: Bench, tmp_path: Path) -> None:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    big = "x" * 3_000_000
    bench.finish(claim, bench.begin(claim, "work"), big)
    bench.write(lambda tx: commands.cancel(tx, run_id, actor=KEEPER, key="c"))
    used = pruned(bench, tmp_path / "a.sqlite", in_use=lambda path: [1])
    assert not used.is_compacted
    assert used.size_after == used.size_before
    other = histories.failed(bench)
    bench.close()
    free = pruned(bench, tmp_path / "b.sqlite")
    assert free.is_compacted
    assert free.size_after < 1_000_000 < free.size_before
    again = Bench(bench.path)
    assert again.read(lambda connection: audit(connection, other)).is_pruned
    again.close()
