"""Each mistake has its own refusal: an id that is none, a digest off by a digit, a choice in the wrong case, a field
too many. None of them writes anything, and each says what was seen."""

from typing import Any

import pytest
from msgspec.structs import replace

from lockgate.model.errors import Refused, StoreDamaged
from lockgate.model.records import Actor, Human
from lockgate.model.statuses import ActorKind
from lockgate.store import commands, reads

from .conftest import ADA, USER, Bench, change_settings, definition, written


def off_by_one(digest: str, at: int) -> str:
    return digest[:at] + ("0" if digest[at] != "0" else "1") + digest[at + 1 :]


@pytest.mark.parametrize("at", [0, 11, 12, 63])
def test_a_digest_off_by_one_digit_is_stale(bench: Bench, at: int) -> None:
    _, request_id, digest = bench.at_decision()
    before = bench.write(written)
    given = off_by_one(digest, at)
    told = bench.answer(request_id, given)
    assert (told.outcome, told.reason) == ("conflict", "stale")
    assert (told.details["seen"], told.details["digest"]) == (given, digest)
    # What is named shows the difference.
    names = (given, digest) if at >= 12 else (given[:12], digest[:12])
    assert told.details["message"] == "the decision was seen as {}, it is {}".format(*names)
    assert bench.write(written) == before


@pytest.mark.parametrize("how", [str.upper, lambda digest: digest[:12], lambda digest: digest + "0", lambda digest: ""])
def test_only_the_whole_digest_is_the_digest(bench: Bench, how: Any) -> None:
    _, request_id, digest = bench.at_decision()
    assert bench.answer(request_id, how(digest)).reason == "stale"


@pytest.mark.parametrize("choice", ["GO", "Go", "go ", "g\u200bo", "", "Go on", "go\0"])
def test_a_choice_is_its_key_to_the_letter(bench: Bench, choice: str) -> None:
    _, request_id, digest = bench.at_decision()
    before = bench.write(written)
    told = bench.answer(request_id, digest, choice)
    assert (told.outcome, told.reason, told.details["field"]) == ("rejected", "invalid_input", "choice")
    assert "go, again, stop" in told.details["limit"]
    assert told.details["observed"] == repr(choice)
    assert bench.write(written) == before


def test_a_text_where_none_belongs(bench: Bench) -> None:
    _, request_id, digest = bench.at_decision()
    told = bench.answer(request_id, digest, "go", text="and more")
    assert (told.reason, told.details["field"]) == ("invalid_input", "text")


def test_each_id_names_its_own_kind(bench: Bench) -> None:
    _, request_id, digest = bench.at_decision()
    other_run, checkpoint = bench.at_checkpoint()
    wrong = [
        bench.answer(off_by_one(request_id, -1), digest),
        bench.answer(other_run, digest),
        bench.write(lambda tx: commands.pause(tx, request_id, actor=USER, key="p")),
        bench.write(lambda tx: commands.resolve_effect(tx, request_id, happened=True, output=None, human=ADA, key="r")),
    ]
    assert [told.outcome for told in wrong] == ["not_found"] * 4
    assert [told.details["what"] for told in wrong] == ["request", "request", "run", "effect"]
    told = bench.answer(checkpoint, "0" * 64)
    assert (told.outcome, told.reason) == ("rejected", "wrong_kind")


@pytest.mark.parametrize("key", ["", "two words", "x" * 201, "schl\u00fcssel", "schlu\u0308ssel", "a\0b", "\ud800"])
def test_a_key_outside_the_grammar(bench: Bench, key: str) -> None:
    run_id = bench.run_id()
    before = bench.write(written)
    told = bench.write(lambda tx: commands.pause(tx, run_id, actor=USER, key=key))
    assert (told.outcome, told.reason) == ("rejected", "invalid_id")
    assert bench.write(written) == before


def test_a_workflow_whose_name_only_looks_right(bench: Bench) -> None:
    from msgspec.structs import replace

    for name in ("caf\u00e9", "cafe\u0301", "", "a b", "x" * 81):
        made = replace(definition(), workflow=name)
        told = bench.start(made=made)
        assert (told.outcome, told.reason) == ("rejected", "invalid_id"), name
    assert bench.write(written) == 0


@pytest.mark.parametrize(
    ("operation", "place"),
    [
        ({"op": "replace", "path": "/pace", "value": 2, "extra": 1}, "$patch[0]"),
        ({"op": "replace", "path": "/pace"}, "$patch[0]"),
        ({"op": "Replace", "path": "/pace", "value": 2}, "$patch[0].op"),
        ({"op": "replace", "path": "pace", "value": 2}, "$patch[0].path"),
        ({"op": "replace", "path": "/pa~2ce", "value": 2}, "$patch[0].path"),
        (["replace"], "$patch[0]"),
    ],
)
def test_a_patch_with_a_field_too_many_or_too_few(bench: Bench, operation: Any, place: str) -> None:
    run_id = bench.run_id()
    before = bench.write(written)
    told = bench.write(lambda tx: change_settings(tx, run_id, [operation], actor=USER, key="s"))
    assert (told.outcome, told.reason, told.details["path"]) == ("rejected", "invalid_patch", place)
    assert bench.write(written) == before


NO_SCOPES = ["$root#", "$root#0", "$root#-1", "$root#\u0663", "$root#" + "9" * 5_000, "$root#1#1"]


@pytest.mark.parametrize("scope", NO_SCOPES, ids=lambda scope: scope.encode("unicode_escape").decode()[:12])
def test_a_scope_whose_number_is_none(bench: Bench, scope: str) -> None:
    run_id = bench.run_id()
    before = bench.write(written)
    patch = [{"op": "replace", "path": "/pace", "value": 2}]
    told = bench.write(lambda tx: change_settings(tx, run_id, patch, actor=USER, key="s", scope=scope))
    assert (told.outcome, told.reason) == ("rejected", "invalid_scope")
    assert bench.write(written) == before


def test_a_checkpoint_refuses_a_field_that_its_schema_does_not_know(bench: Bench) -> None:
    from lockgate.flow.schemas import meet

    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
    with pytest.raises(Refused, match="Additional properties") as caught:
        meet(schema, {"n": 1, "m": 2}, "invalid_input")
    assert (caught.value.code, caught.value.details["field"]) == ("invalid_input", "$")
    _, request_id = bench.at_checkpoint()
    with pytest.raises(Refused, match="required property") as caught:
        bench.read(lambda connection: commands.check_submission(connection, request_id, {"N": 1}))
    assert caught.value.code == "invalid_input"


def test_a_policy_for_nobody(bench: Bench) -> None:
    from lockgate.store.policies import policies, set_policy

    for audience, users in (("two words", None), ("op", []), ("op", ["a b"]), ("op", [""])):
        with pytest.raises(Refused):
            bench.write(
                lambda tx, audience=audience, users=users: set_policy(
                    tx, audience, users=users, self_approval=True, human=ADA
                )
            )
    assert bench.read(policies) == ()


def test_what_is_refused_can_be_told_by_its_code(bench: Bench) -> None:
    """Refused over and over, a run is as it was."""
    run_id, request_id, digest = bench.at_decision()
    before = bench.read(lambda connection: reads.run(connection, run_id))
    reasons = [
        bench.answer(request_id, "0" * 64).reason,
        bench.answer(request_id, digest, "GO").reason,
        bench.write(lambda tx: commands.expire(tx, request_id)).reason,
        bench.write(lambda tx: commands.resume(tx, run_id, actor=USER, key="r")).outcome,
    ]
    assert reasons == ["stale", "invalid_input", "not_due", "adopted"]
    assert bench.read(lambda connection: reads.run(connection, run_id)) == before


@pytest.mark.parametrize("id", ["", "x" * 129, "a\x1b[2J", "a\nb", "\ud800"])
def test_an_actor_has_a_name_that_can_be_written_down(bench: Bench, id: str) -> None:
    run_id, request_id, digest = bench.at_decision()
    before = bench.write(written)
    actor = Actor(kind=ActorKind.USER, id=id)
    told = bench.write(lambda tx: commands.pause(tx, run_id, actor=actor, key="p"))
    assert (told.outcome, told.reason) == ("rejected", "invalid_id")
    assert bench.answer(request_id, digest, human=Human.for_test(id)).reason == "invalid_id"
    assert bench.write(written) == before


def test_a_kind_may_be_written_as_a_text(bench: Bench) -> None:
    run_id = bench.run_id()
    written_out = Actor(kind="user", id="bo")  # type: ignore[arg-type]
    first = bench.write(lambda tx: commands.pause(tx, run_id, actor=written_out, key="p"))
    actor = Actor(kind=ActorKind.USER, id="bo")
    assert bench.write(lambda tx: commands.pause(tx, run_id, actor=actor, key="p")) == replace(first, outcome="adopted")


def test_a_source_is_a_word(bench: Bench) -> None:
    run_id = bench.run_id()
    patch = [{"op": "replace", "path": "/pace", "value": 2}]
    for source in ("", "Two words", "x" * 65):
        told = bench.write(
            lambda tx, source=source: change_settings(tx, run_id, patch, actor=USER, key="s", source=source)
        )
        assert (told.outcome, told.reason) == ("rejected", "invalid_id")


def test_a_run_whose_chain_was_broken_is_damage_and_stays_as_it_is(bench: Bench) -> None:
    """Its next event would have the number of one that is there already."""
    run_id = bench.run_id()
    bench.write(
        lambda tx: tx.connection.execute(
            "INSERT INTO events (run_id, seq, type, at, actor, payload, prev_hash, hash) "
            "SELECT run_id, seq + 1, type, at, actor, payload, hash, hash FROM events WHERE run_id = ?",
            (run_id,),
        )
    )
    with pytest.raises(StoreDamaged, match="contradict each other: UNIQUE constraint failed"):
        bench.write(lambda tx: commands.cancel(tx, run_id, actor=USER, key="stop"))
    assert bench.read(lambda connection: reads.run(connection, run_id)).run.status == "queued"
