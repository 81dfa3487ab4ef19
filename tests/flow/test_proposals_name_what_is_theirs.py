"""Ids fit their grammar and are used once, and what a decision asks is what its definition says."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from lockgate.flow import transitions as t
from lockgate.model.errors import DefinitionError, Refused
from lockgate.model.statuses import Outcome, RequestKind
from tests.flow.driver import CHOICES, WORKER, Driver, hashed

ASK = t.DecisionAsk(
    audience="operator",
    title="Publish?",
    subject_hash=hashed("subject"),
    presentation_hash=hashed("presentation"),
    choices_hash=hashed("choices"),
    choices=CHOICES,
    seconds=60,
    default="stop",
)


def refusal(act: Callable[[], Any]) -> Refused:
    with pytest.raises(Refused) as raised:
        act()
    return raised.value


@pytest.mark.parametrize("id", ["", "work", "attempt-", "attempt-G", "attempt-" + "a" * 33, "attempt-1\n", "Attempt-1"])
def test_an_attempt_id_outside_the_grammar_is_refused(id: str) -> None:
    driver = Driver().run_up()
    refused = refusal(lambda: driver.apply(t.StartAttempt(attempt_id=id, node_id="work"), WORKER))
    assert (refused.code, refused.details["given"]) == ("invalid_id", id)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("update_id", "update-x"),
        ("update_type", "Progress"),
        ("update_type", "a" * 65),
        ("update_key", ""),
        ("update_key", "ключ"),
    ],
)
def test_an_update_outside_the_grammar_is_refused(field: str, text: str) -> None:
    driver = Driver().run_up()
    facts = {
        "attempt_id": driver.begin("work"),
        "update_id": "update-1",
        "update_type": "progress",
        "update_key": "overall",
        "data_hash": hashed("{}"),
    }
    refused = refusal(lambda: driver.apply(t.PublishUpdate(**{**facts, field: text}), WORKER))
    assert (refused.code, refused.details["given"]) == ("invalid_id", text)
    driver.apply(t.PublishUpdate(**facts), WORKER)


def test_a_scalar_that_is_longer_than_any_case_stays_out_of_the_events() -> None:
    from lockgate import switch_edge
    from lockgate.flow.switches import scalar

    assert len(scalar("work", "$.a", {"a": "x" * 10_000}, {})) == 200
    assert len(scalar("work", "$.a", {"a": "x" * 199}, {})) == 199
    with pytest.raises(DefinitionError, match="200 characters"):
        switch_edge("work", "$.a", {"x" * 200: "end"})
    driver = Driver().run_up()
    ended = t.FinishAttempt(
        attempt_id=driver.begin("work"), outcome=Outcome.OK, output_hash=hashed("1"), switch_value="x" * 201
    )
    assert refusal(lambda: driver.apply(ended, WORKER)).code == "switch_too_long"


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (replace(ASK, audience="board"), "wrong_audience"),
        (replace(ASK, audience="two words"), "invalid_id"),
        (replace(ASK, choices=CHOICES[:2]), "wrong_choices"),
        (replace(ASK, default="go"), "wrong_default"),
        (replace(ASK, seconds=61), "wrong_default"),
        (replace(ASK, seconds=None, default=None), "wrong_default"),
        (replace(ASK, title=" "), "wrong_title"),
    ],
)
def test_what_a_decision_asks_is_what_its_definition_says(ask: t.DecisionAsk, code: str) -> None:
    driver = Driver().to_checkpoint()
    driver.submit()
    driver.tick(100).run_up()
    driver.done(driver.active, output="{}")
    attempt = driver.begin("decide")

    def wait(asked: t.DecisionAsk) -> None:
        kind = RequestKind.DECISION
        driver.apply(t.WaitForInput(attempt_id=attempt, kind=kind, contract_hash=hashed("contract"), ask=asked), WORKER)

    assert refusal(lambda: wait(ask)).code == code
    wait(ASK)
