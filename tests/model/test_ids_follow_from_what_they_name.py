"""Ids are derived, or drawn from randomness that is an argument; what a person types is held to a grammar."""

import unicodedata

import pytest

from lockgate.model import ids
from lockgate.model.errors import Refused


def test_an_effect_is_the_same_for_every_attempt_of_a_visit() -> None:
    first = ids.effect_id("run", "tag", "publish", 1)
    assert first == ids.effect_id("run", "tag", "publish", 1)
    assert len({first, ids.effect_id("run", "tag", "publish", 2), ids.effect_id("run", "tag", "other", 1)}) == 3


def test_a_decision_is_bound_to_its_digest() -> None:
    assert ids.decision_id("run", "node", "attempt", "aa") != ids.decision_id("run", "node", "attempt", "ab")


def test_a_run_id_is_within_its_own_grammar_whatever_the_workflow_is_called() -> None:
    made = ids.run_id("20261129T140211Z", "näme with spaces/and more" * 10, "0a1b2c3d4e")
    assert ids.match(ids.RUN_ID, made, "a run id") == made
    assert ids.short_id(made) == "0a1b2c3d"


@pytest.mark.parametrize("bad", ["", "-x", "a b", "a/b", "ä", unicodedata.normalize("NFD", "é"), "x" * 201, "a\n"])
def test_what_is_outside_the_grammar_is_refused_by_name(bad: str) -> None:
    with pytest.raises(Refused) as caught:
        ids.match(ids.RUN_ID, bad, "a run id")
    assert caught.value.code == "invalid_id"
    assert "a run id must match" in caught.value.message
