"""The same key with the same wish gets its receipt again; with another wish it is refused."""

from pathlib import Path
from typing import Any

from lockgate.model.records import Human, Receipt
from lockgate.store import commands, reads
from lockgate.store.shell import open_store

from .conftest import ADA, USER, Bench, change_settings, definition, written


def test_a_repeated_start_makes_no_second_run(bench: Bench) -> None:
    first = bench.start(key="mine")
    again = bench.start(key="mine")
    assert (first.outcome, again.outcome) == ("accepted", "adopted")
    assert again.run_id == first.run_id
    assert len(bench.read(lambda connection: reads.run_ids(connection, reads.RunQuery()))) == 1


def test_a_key_used_for_something_else_is_a_conflict(bench: Bench) -> None:
    bench.start(key="mine")
    other = bench.start(key="mine", title="Another")
    assert (other.outcome, other.reason) == ("conflict", "key_conflict")
    run_id = bench.run_id()
    paused = bench.write(lambda tx: commands.pause(tx, run_id, actor=USER, key="mine"))
    assert (paused.outcome, paused.reason) == ("conflict", "key_conflict")


def test_a_used_key_is_a_conflict_whatever_number_comes_with_it(bench: Bench) -> None:
    run_id = bench.run_id()
    bench.write(lambda tx: commands.pause(tx, run_id, actor=USER, key="mine"))
    facts: dict[str, Any] = {"actor": USER, "key": "mine", "expected_change": 2**60}
    told = bench.write(lambda tx: change_settings(tx, run_id, [], **facts))
    assert (told.outcome, told.reason) == ("conflict", "key_conflict")


def test_a_change_that_came_between_is_the_one_that_was_expected(bench: Bench) -> None:
    """Who expects change 1, and had patched the settings before it came, patches them anew."""
    run_id = bench.run_id()
    patch = [{"op": "replace", "path": "/pace", "value": 3}]
    early = bench.read(lambda connection: commands.patch_settings(connection, run_id, patch, actor=USER))
    other = [{"op": "replace", "path": "/pace", "value": 2}]
    bench.write(lambda tx: change_settings(tx, run_id, other, actor=USER, key="other"))
    for expected, again in ((1, True), (0, False), (None, True)):
        facts: dict[str, Any] = {"patched": early, "actor": USER, "key": "mine", "expected_change": expected}
        told = bench.write(lambda tx, facts=facts: commands.change_settings(tx, **facts))
        assert told.reason == "stale"
        assert commands.is_overtaken(told, expected) is again


def test_pausing_twice_changes_nothing_the_second_time(bench: Bench) -> None:
    run_id = bench.run_id()
    first = bench.write(lambda tx: commands.pause(tx, run_id, actor=USER, key="1"))
    events = bench.read(lambda connection: reads.latest_event_seq(connection))
    second = bench.write(lambda tx: commands.pause(tx, run_id, actor=USER, key="2"))
    assert (first.outcome, second.outcome) == ("accepted", "adopted")
    assert bench.read(lambda connection: reads.latest_event_seq(connection)) == events


def test_a_refusal_keeps_the_key_free(bench: Bench) -> None:
    run_id, request_id, digest = bench.at_decision()
    bench.write(lambda tx: commands.pause(tx, run_id, actor=USER, key="p"))
    refused = bench.answer(request_id, digest, key="mine")
    assert (refused.outcome, refused.reason) == ("rejected", "paused")
    bench.write(lambda tx: commands.resume(tx, run_id, actor=USER, key="r"))
    assert bench.answer(request_id, digest, key="mine").outcome == "accepted"
    assert bench.answer(request_id, digest, key="mine").outcome == "adopted"


def test_a_refusal_writes_nothing(bench: Bench) -> None:
    _, request_id, digest = bench.at_decision()
    before = bench.write(written)
    assert bench.answer(request_id, "0" * 64).reason == "stale"
    assert bench.answer(request_id, digest, "nope").reason == "invalid_input"
    assert bench.answer(request_id, digest, "again", text="  ").reason == "invalid_input"
    assert bench.answer(request_id, digest, "again", text="\ud800").reason == "invalid_input"
    assert bench.answer("decision-" + "0" * 40, digest).outcome == "not_found"
    assert bench.write(written) == before


def test_a_loser_is_told_who_won_and_its_text_is_kept(bench: Bench) -> None:
    _, request_id, digest = bench.at_decision()
    assert bench.answer(request_id, digest, "go").outcome == "accepted"
    lost = bench.answer(request_id, digest, "again", text="not like this", human=Human.for_test("cy"), key="late")
    assert (lost.outcome, lost.reason) == ("conflict", "already_resolved")
    assert lost.winner is not None
    assert (lost.winner["choice"], lost.winner["actor"]) == ("go", "ada")
    kept = bench.read(lambda connection: reads.submissions(connection, request_id))[-1]
    content = bench.read(lambda connection: reads.value(connection, kept.payload_hash))
    assert b"not like this" in content
    repeated = bench.answer(request_id, digest, "again", text="not like this", human=Human.for_test("cy"), key="late")
    assert repeated == lost


def test_a_second_restart_names_the_first_child(bench: Bench) -> None:
    run_id = bench.run_id()
    cancelled = bench.write(lambda tx: commands.cancel(tx, run_id, actor=USER, key="c"))

    def restart(key: str, revision: int) -> Receipt:
        return bench.write(  # type: ignore[no-any-return]
            lambda tx: commands.restart(
                tx,
                run_id,
                definition(),
                expected_revision=revision,
                started_by="bo",
                started_by_uid=1,
                actor=USER,
                key=key,
            )
        )

    stale = restart("r0", cancelled.revision + 1)
    assert (stale.outcome, stale.reason) == ("conflict", "stale")
    first, second = restart("r1", cancelled.revision), restart("r2", cancelled.revision)
    assert (first.outcome, second.outcome) == ("accepted", "adopted")
    assert first.run_id == second.run_id
    child = bench.read(lambda connection: reads.run(connection, first.run_id)).row
    assert (child.parent_run_id, child.restart_number, child.root_run_id) == (run_id, 1, run_id)


def test_a_deadline_is_taken_once(bench: Bench) -> None:
    run_id, request_id, digest = bench.at_decision(seconds=60)
    early = bench.write(lambda tx: commands.expire(tx, request_id))
    assert (early.outcome, early.reason) == ("rejected", "not_due")
    bench.clock.pass_ms(60_001)
    expired = bench.answer(request_id, digest)
    assert (expired.outcome, expired.reason) == ("conflict", "expired")
    assert bench.write(lambda tx: commands.expire(tx, request_id)).outcome == "accepted"
    assert bench.write(lambda tx: commands.expire(tx, request_id)).outcome == "adopted"
    resolution = bench.read(lambda connection: reads.run(connection, run_id)).resolutions[0]
    assert (resolution.provenance, resolution.choice, resolution.actor_kind) == ("timeout_policy", "stop", "policy")


def test_an_output_that_breaks_its_contract_is_refused(bench: Bench) -> None:
    import pytest

    from lockgate.model.errors import PayloadError, Refused

    _, request_id = bench.at_checkpoint()
    with pytest.raises(Refused, match="required property"):
        bench.read(lambda connection: commands.check_submission(connection, request_id, {"m": 1}))
    with pytest.raises(PayloadError, match=r"\$\.n"):
        bench.read(lambda connection: commands.check_submission(connection, request_id, {"n": float("nan")}))


def test_a_late_submission_is_told_whose_won(bench: Bench) -> None:
    _, request_id = bench.at_checkpoint()
    checked = bench.read(lambda connection: commands.check_submission(connection, request_id, {"n": 1}))
    first = bench.write(lambda tx: commands.submit(tx, checked, actor=USER, key="1"))
    late = bench.write(lambda tx: commands.submit(tx, checked, actor=USER, key="2"))
    assert (first.outcome, late.outcome, late.reason) == ("accepted", "conflict", "already_resolved")
    assert late.winner == {"choice": None, "actor": "bo", "at": first.at, "provenance": "submit"}


async def test_an_empty_key_is_no_key(bench: Bench, tmp_path: Path) -> None:
    """A caller who lost his key is told: a new one in its place would do the same thing twice."""
    run_id, request_id, digest = bench.at_decision()
    before = bench.write(written)
    async with open_store(tmp_path / "state.sqlite") as store:
        told = [
            await store.answer(request_id, "go", digest=digest, actor=ADA, key=""),
            await store.submit(request_id, {"choice": "go"}, actor=USER, key=""),
            await store.pause(run_id, actor=USER, key=""),
            await store.resume(run_id, actor=USER, key=""),
            await store.cancel(run_id, actor=USER, key=""),
            await store.change_settings(run_id, [], actor=USER, key=""),
            await store.resolve_effect("effect-1", happened=True, actor=ADA, key=""),
        ]
    assert {(receipt.outcome, receipt.reason) for receipt in told} == {("rejected", "invalid_id")}
    assert bench.write(written) == before
