"""What an audit proves by itself, and what only a receipt that was kept elsewhere proves."""

import json
import sqlite3
from typing import Any

import msgspec
import pytest

from lockgate.flow.fold import fold
from lockgate.flow.graph import decode
from lockgate.model import records as r
from lockgate.model.encoding import stored
from lockgate.model.errors import NotFound
from lockgate.model.events import PAYLOADS, Event, link
from lockgate.store.audit import Audit, KeptReceipt, audit, audited_run_id, check_receipt
from lockgate.store.audit_rows import TABLES
from lockgate.store.policies import set_policy

from . import histories
from .conftest import ADA, Bench

FORGED = {
    r.RunRow: "run_id",
    r.DecisionRow: "decision_id",
    r.SubmissionRow: "submission_id",
    r.ResolutionRow: "decision_id",
    r.SettingsRow: "scope_id",
    r.SettingsChangeRow: "change_id",
    r.AttemptRow: "attempt_id",
}


def audited(bench: Bench, run_id: str) -> Audit:
    result: Audit = bench.read(lambda connection: audit(connection, run_id))
    return result


def against(bench: Bench, kept: KeptReceipt) -> Any:
    return bench.read(lambda connection: check_receipt(connection, kept, audit(connection, kept.run_id)))


def kept(receipt: Any) -> KeptReceipt:
    return KeptReceipt(run_id=receipt.run_id, seq=receipt.seq, hash=receipt.hash, said=msgspec.to_builtins(receipt))


def test_every_kind_of_run_agrees(bench: Bench) -> None:
    for name, run_id in histories.all_kinds(bench).items():
        assert audited(bench, run_id).difference is None, name


def test_each_decision_has_its_receipt(bench: Bench) -> None:
    made = histories.all_kinds(bench)
    (receipt,) = audited(bench, made["everything"]).receipts
    said = (receipt.choice, receipt.actor.kind, receipt.actor.id, receipt.channel, receipt.provenance, receipt.node)
    assert said == ("go", "human", "ada", "test:test", "human", "decide")
    (default,) = audited(bench, made["expired"]).receipts
    assert (default.choice, default.actor.kind, default.provenance) == ("stop", "policy", "timeout_policy")
    (withdrawn,) = audited(bench, made["withdrawn"]).receipts
    assert (withdrawn.choice, withdrawn.provenance) == (None, "explicit_cancel")
    assert audited(bench, made["waiting"]).receipts == ()


def test_an_unknown_run_is_not_found(bench: Bench) -> None:
    with pytest.raises(NotFound):
        audited(bench, "nobody")
    with pytest.raises(NotFound):
        bench.read(lambda connection: audited_run_id(connection, "nobody"))


def test_a_run_whose_events_are_gone_is_told(bench: Bench) -> None:
    run_id = histories.waiting(bench)
    bench.write(lambda tx: tx.connection.execute("DELETE FROM events WHERE run_id = ?", (run_id,)))
    difference = audited(bench, run_id).difference
    assert difference is not None
    assert (difference.table, difference.stored) == ("events", None)


def test_a_receipt_stands_in_the_chain(bench: Bench) -> None:
    (receipt,) = audited(bench, histories.everything(bench)).receipts
    assert against(bench, kept(receipt)) is None
    other = msgspec.structs.replace(kept(receipt), hash="0" * 64)
    assert against(bench, other).column == "hash"
    elsewhere = msgspec.structs.replace(kept(receipt), seq=receipt.seq + 500)
    assert against(bench, elsewhere).stored is None
    told = msgspec.structs.replace(kept(receipt), said={"choice": "stop"})
    assert (against(bench, told).column, against(bench, told).stored) == ("choice", "go")
    # An event that decided nothing cannot be passed off as a decision.
    first = audited(bench, receipt.run_id)
    plain = KeptReceipt(run_id=first.run_id, seq=first.seq, hash=first.chain_head, said={"choice": "go"})
    assert against(bench, plain).column == "choice"


def test_the_newest_event_is_a_receipt_of_all_before_it(bench: Bench) -> None:
    found = audited(bench, histories.everything(bench))
    assert against(bench, KeptReceipt(run_id=found.run_id, seq=found.seq, hash=found.chain_head)) is None


def test_a_file_rewritten_whole_is_found_only_against_a_receipt(bench: Bench) -> None:
    run_id = histories.everything(bench)
    (receipt,) = audited(bench, run_id).receipts
    bench.write(lambda tx: forge(tx.connection, run_id, lambda text: text.replace('"ada"', '"eve"')))
    forged = audited(bench, run_id)
    assert forged.difference is None
    assert forged.receipts[0].actor.id == "eve"
    difference = against(bench, kept(receipt))
    assert (difference.table, difference.column, difference.expected) == ("events", "hash", receipt.hash)


def test_a_rewritten_question_no_longer_has_its_digest(bench: Bench) -> None:
    run_id = histories.everything(bench)
    bench.write(lambda tx: forge(tx.connection, run_id, lambda text: text.replace("Release it?", "Delete it?")))
    difference = audited(bench, run_id).difference
    assert difference is not None
    assert (difference.table, difference.column) == ("human_decisions", "request_digest")


def test_a_rewritten_answer_is_not_what_was_written_down(bench: Bench) -> None:
    run_id = histories.everything(bench)
    bench.write(lambda tx: forge(tx.connection, run_id, lambda text: text.replace('"choice":"go"', '"choice":"stop"')))
    difference = audited(bench, run_id).difference
    assert difference is not None
    assert (difference.table, difference.column, difference.stored) == ("human_decision_resolutions", "choice", "stop")


def test_a_rewritten_name_must_be_one_that_the_policy_let_decide(bench: Bench) -> None:
    bench.write(lambda tx: set_policy(tx, "operator", users=["ada", "bo"], self_approval=False, human=ADA))
    run_id = histories.everything(bench)
    assert audited(bench, run_id).difference is None
    for name, expected in (("eve", "one of ada, bo"), ("bo", "anybody but bo, who started the run")):
        old = audited(bench, run_id).receipts[-1].actor.id
        bench.write(lambda tx, o=old, n=name: forge(tx.connection, run_id, lambda text: swap(text, o, n)))
        difference = audited(bench, run_id).difference
        assert difference is not None
        assert (difference.column, difference.stored, difference.expected) == ("actor_id", name, expected)


def swap(text: str, old: str, new: str) -> str:
    """Another person in what was answered; the question, with its policy, stays."""
    return text if '"request":{' in text else text.replace(f'"actor_id":"{old}"', f'"actor_id":"{new}"')


def test_rewritten_settings_are_not_what_their_patch_makes(bench: Bench) -> None:
    run_id = histories.everything(bench)
    before, after = bench.read(
        lambda c: c.execute(
            "SELECT initial_hash, current_hash FROM workflow_settings WHERE run_id = ?", (run_id,)
        ).fetchone()
    )
    bench.write(lambda tx: forge(tx.connection, run_id, lambda text: text.replace(after, before)))
    difference = audited(bench, run_id).difference
    assert difference is not None
    assert (difference.table, difference.column) == ("workflow_setting_changes", "after_hash")
    assert (difference.stored, difference.expected) == (before, after)


def test_a_history_that_cannot_be_is_told(bench: Bench) -> None:
    """The chain holds, but an attempt finishes that was never started."""
    run_id = histories.everything(bench)
    bench.write(lambda tx: relink(tx.connection, run_id, lambda text: text, skip="node_started"))
    difference = audited(bench, run_id).difference
    assert difference is not None
    assert (difference.table, difference.expected) == ("events", "an event that can follow")


def test_a_payload_that_no_parser_gets_to_the_end_of_is_told(bench: Bench) -> None:
    run_id = histories.everything(bench)
    deep = "[" * 5_000 + "]" * 5_000
    bench.write(lambda tx: tx.connection.execute("UPDATE events SET payload = ? WHERE seq = 2", (deep,)))
    difference = audited(bench, run_id).difference
    assert difference is not None
    assert (difference.table, difference.column, difference.expected) == ("events", "payload", "JSON")


def forge(connection: sqlite3.Connection, run_id: str, change: Any) -> None:
    """Rewrites the payloads of a run, links its chain anew, and makes its rows from it: all that an owner can do."""
    events = relink(connection, run_id, change)
    (digest, document) = connection.execute("SELECT definition_digest, document FROM definitions").fetchone()
    folded = fold(events, decode(digest, document))
    assert folded.head is not None
    rows: list[Any] = [folded.head.run]
    for kind in list(FORGED)[1:]:
        rows.extend(folded.tables[kind].values())
    for row in rows:
        facts, key = msgspec.structs.asdict(row), FORGED[type(row)]
        sets = ", ".join(f"{name} = :{name}" for name in facts)
        connection.execute(f"UPDATE {TABLES[type(row)][0]} SET {sets} WHERE {key} = :{key}", facts)


def relink(connection: sqlite3.Connection, run_id: str, change: Any, skip: str = "") -> list[Event]:
    rows = connection.execute(
        "SELECT seq, type, at, actor, attempt_id, payload FROM events WHERE run_id = ? ORDER BY seq", (run_id,)
    ).fetchall()
    connection.execute("DELETE FROM events WHERE run_id = ?", (run_id,))
    events: list[Event] = []
    prev = None
    for _, type, at, actor, attempt_id, payload in (row for row in rows if row[1] != skip):
        said, by, seq = json.loads(change(payload)), json.loads(change(actor)), len(events) + 1
        hash = link(prev=prev, run_id=run_id, seq=seq, type=type, at=at, actor=by, attempt_id=attempt_id, payload=said)
        connection.execute(
            "INSERT INTO events (run_id, seq, type, at, actor, attempt_id, payload, prev_hash, hash) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (run_id, seq, type, at, stored(by).decode(), attempt_id, stored(said).decode(), prev, hash),
        )
        events.append(
            Event(
                run_id=run_id,
                seq=seq,
                type=type,
                at=at,
                actor=msgspec.convert(by, r.Actor),
                attempt_id=attempt_id,
                payload=msgspec.convert(said, PAYLOADS[type]),
                prev_hash=prev,
                hash=hash,
            )
        )
        prev = hash
    return events
