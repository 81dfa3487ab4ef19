"""A decision has one winner; the loser is told who, and what it wrote is kept."""

import pytest

from lockgate.flow import transitions as t
from lockgate.model.errors import Refused
from lockgate.model.records import Human, Policy, ResolutionRow, SubmissionRow
from lockgate.model.statuses import Clock, Provenance, SubmissionOutcome
from tests.flow.driver import HUMAN, Driver, hashed


def test_the_first_answer_wins_and_queues_the_run() -> None:
    driver = Driver().to_decision()
    driver.tick(1_500)
    assert driver.answer("go") == {"outcome": "accepted", "choice": "go"}
    assert driver.head.queue.status == "queued"
    assert driver.head.run.waiting_ms == 1_500
    (resolution,) = driver.rows(ResolutionRow)
    assert (resolution.provenance, resolution.choice, resolution.actor_id) == (Provenance.HUMAN, "go", "ada")


def test_the_second_answer_is_told_who_won_and_is_kept() -> None:
    driver = Driver().to_decision()
    request = driver.pending
    driver.answer("go")
    at = driver.clock.wall_ms
    lost = driver.tick(5).answer("stop", request=request, human=Human.for_test("bo"))
    assert lost["outcome"] == "already_resolved"
    assert lost["winner"] == {"choice": "go", "actor": "ada", "at": at, "provenance": "human"}
    kept = [row for row in driver.rows(SubmissionRow) if row.outcome == SubmissionOutcome.ALREADY_RESOLVED]
    assert [row.payload_hash for row in kept] == [hashed("stop")]
    assert len(driver.rows(ResolutionRow)) == 1


@pytest.mark.parametrize(("after_ms", "outcome"), [(59_999, "accepted"), (60_000, "accepted"), (60_001, "expired")])
def test_a_person_may_answer_up_to_the_deadline(after_ms: int, outcome: str) -> None:
    driver = Driver().to_decision()
    assert driver.tick(after_ms).answer("go")["outcome"] == outcome


@pytest.mark.parametrize(("after_ms", "taken"), [(59_999, False), (60_000, True), (60_001, True)])
def test_the_default_is_taken_from_the_deadline_on(after_ms: int, taken: bool) -> None:
    driver = Driver().to_decision()
    driver.tick(after_ms)
    if not taken:
        with pytest.raises(Refused, match="not there yet"):
            driver.expire()
        return
    assert driver.expire()["choice"] == "stop"
    (resolution,) = driver.rows(ResolutionRow)
    assert resolution.provenance is Provenance.TIMEOUT_POLICY


def test_an_expired_answer_is_kept_though_the_default_is_not_yet_taken() -> None:
    driver = Driver().to_decision()
    request = driver.pending
    driver.tick(60_001).answer("go")
    assert driver.rows(ResolutionRow) == []
    driver.expire()
    assert driver.answer("go", request=request)["outcome"] == "already_resolved"


def test_another_digest_is_stale_and_writes_nothing() -> None:
    driver = Driver().to_decision()
    count = len(driver.events)
    with pytest.raises(Refused) as caught:
        driver.answer("go", digest="0" * 64)
    assert caught.value.code == "stale"
    assert len(driver.events) == count


@pytest.mark.parametrize("choice", ["Go", "", "go ", "publish"])
def test_a_choice_is_one_of_the_definition_exactly(choice: str) -> None:
    with pytest.raises(Refused) as caught:
        Driver().to_decision().answer(choice)
    assert (caught.value.code, caught.value.details["field"]) == ("invalid_input", "choice")


def test_a_paused_run_takes_no_answer_and_no_default() -> None:
    driver = Driver().to_decision()
    driver.apply(t.Pause())
    driver.tick(70_000)
    for act in (driver.answer, driver.expire):
        with pytest.raises(Refused) as caught:
            act()
        assert caught.value.code == "paused"
    assert driver.head.run.clock is Clock.PAUSED


def test_a_cancelled_run_withdraws_its_decision_and_keeps_a_late_answer() -> None:
    driver = Driver().to_decision()
    request = driver.pending
    driver.apply(t.Cancel())
    (resolution,) = driver.rows(ResolutionRow)
    assert resolution.provenance is Provenance.EXPLICIT_CANCEL
    assert driver.answer("go", request=request)["outcome"] == "run_closed"
    assert driver.head.run.status == "cancelled"


def test_an_ordinary_request_is_answered_once_too() -> None:
    driver = Driver().to_checkpoint()
    request = driver.pending
    assert driver.submit()["outcome"] == "accepted"
    again = t.Submit(
        request_id=request.request_id,
        contract_hash=hashed("contract"),
        output_hash=hashed("[]"),
        submission_id="submission-late",
        source="user",
    )
    assert driver.apply(again)["outcome"] == "already_resolved"
    won, lost = driver.rows(SubmissionRow)
    assert lost.winner == won.submission_id


@pytest.mark.parametrize(
    ("policy", "human", "choice", "allowed"),
    [
        (Policy(audience="operator", users=("ada",)), HUMAN, "go", True),
        (Policy(audience="operator", users=("bo",)), HUMAN, "go", False),
        (Policy(audience="operator", self_approval=False), HUMAN, "go", True),
        (Policy(audience="operator", self_approval=False), Human.for_test("bo"), "go", False),
        (Policy(audience="operator", self_approval=False), Human.for_test("bo"), "stop", True),
        (Policy(audience="operator", self_approval=False), Human.for_test("bo"), "again", True),
    ],
)
def test_the_policy_in_force_when_it_was_asked_decides_who_may(
    policy: Policy, human: Human, choice: str, allowed: bool
) -> None:
    driver = Driver()
    driver.policy = policy
    driver.to_decision()
    if allowed:
        assert driver.answer(choice, human=human)["outcome"] == "accepted"
        return
    with pytest.raises(Refused) as caught:
        driver.answer(choice, human=human)
    assert caught.value.code == "not_allowed"
