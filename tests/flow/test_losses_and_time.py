"""What a lost worker costs: never an accepted answer, never a finished step, never a second of waiting."""

import pytest

from lockgate.flow import transitions as t
from lockgate.flow.words import word
from lockgate.model.errors import ClaimLost, Refused
from lockgate.model.records import AttemptRow, EffectRow, IntervalRow
from lockgate.model.statuses import AttemptStatus, EffectStatus, Outcome, RunStatus
from tests.flow.driver import HOST, HUMAN, WORKER, Driver, hashed


def test_two_losses_are_queued_again_and_the_third_blocks() -> None:
    driver = Driver().run_up()
    driver.begin("work")
    for waits in (0, 1_000):
        driver.lose()
        assert driver.head.queue.available_at == driver.clock.wall_ms + waits
        assert word(driver.view(), driver.clock) == "interrupted"
        driver.tick(waits).run_up()
        driver.begin("work")
    driver.lose()
    assert (word(driver.view(), driver.clock), driver.head.queue.error_code) == ("blocked", "worker_lost")
    assert [row.visit for row in driver.rows(AttemptRow)] == [1, 1, 1]
    assert [row.attempt_number for row in driver.rows(AttemptRow)] == [1, 2, 3]


def test_a_finished_step_forgives_earlier_losses() -> None:
    driver = Driver().run_up()
    driver.begin("work")
    driver.lose().run_up().step("work")
    assert driver.head.queue.losses == 0


def test_a_launch_without_progress_blocks_at_once_and_resume_allows_one_more() -> None:
    driver = Driver().claim().lose(progressed=False)
    assert driver.head.queue.error_code == "worker_lost"
    with pytest.raises(Refused):
        driver.claim()
    driver.apply(t.Resume())
    driver.claim().lose(progressed=False)
    assert driver.head.queue.error_code == "worker_lost"


def test_a_loss_by_the_host_never_counts() -> None:
    driver = Driver()
    for _ in range(5):
        driver.claim().ready().lose(counted=False, progressed=False)
    assert (driver.head.queue.losses, driver.head.queue.error_code) == (0, None)


def test_an_accepted_answer_survives_every_loss_and_is_never_asked_again() -> None:
    driver = Driver().to_decision()
    driver.answer("again")
    for _ in range(2):
        driver.tick(1_000).run_up().lose()
        assert word(driver.view(), driver.clock) == "answered"
        assert driver.head.attempt is not None
        assert driver.head.attempt.status is AttemptStatus.WAITING
    driver.tick(1_000).run_up().done(driver.active, switch="again", output="again").step("work")


def test_a_decision_is_ok_only_with_exactly_its_answer() -> None:
    driver = Driver().to_decision()
    driver.answer("go")
    driver.run_up()
    with pytest.raises(Refused) as caught:
        driver.done(driver.active, switch="stop", output="stop")
    assert caught.value.code == "wrong_output"


@pytest.mark.parametrize(
    ("node", "answer", "status"), [("safe", "execute", "running"), ("once", "ambiguous", "waiting")]
)
def test_an_effect_that_may_have_happened_is_repeated_only_if_it_says_it_may(
    node: str, answer: str, status: str
) -> None:
    driver = Driver().run_up().step("work")
    if node == "once":
        driver.effect_step("safe", switch="ok")
    driver.reserve(driver.begin(node), node)
    driver.lose()
    assert str(driver.head.run.status) == status
    (effect,) = [row for row in driver.rows(EffectRow) if row.node_id == node]
    if answer == "ambiguous":
        assert effect.status is EffectStatus.AMBIGUOUS
        assert driver.head.queue.error_code == "effect_ambiguous"
        return
    driver.run_up()
    assert driver.reserve(driver.begin(node), node)["answer"] == "execute"
    assert driver.rows(EffectRow)[-1].attempt_count == 2


@pytest.mark.parametrize(("happened", "answer"), [(True, "adopted"), (False, "execute")])
def test_a_person_says_whether_it_happened(happened: bool, answer: str) -> None:
    from tests.flow.driver import HUMAN

    driver = Driver().run_up().step("work").effect_step("safe", switch="ok")
    effect_id = driver.reserve(driver.begin("once"), "once")["effect_id"]
    driver.lose().tick(700)
    wish = t.ResolveEffect(human=HUMAN, effect_id=effect_id, happened=happened, result_hash=hashed("said"))
    driver.apply(wish)
    assert driver.head.run.waiting_ms == 700
    with pytest.raises(Refused) as caught:
        driver.apply(wish)
    assert caught.value.code == "already_resolved"
    driver.run_up()
    got = driver.reserve(driver.begin("once"), "once")
    assert (got["answer"], got["result_hash"]) == (answer, hashed("said") if happened else None)


def test_a_step_with_an_unsettled_effect_cannot_finish() -> None:
    driver = Driver().run_up().step("work")
    attempt = driver.begin("safe")
    driver.reserve(attempt, "safe")
    wish = t.FinishAttempt(attempt_id=attempt, outcome=Outcome.FAILED, switch_value="failed")
    with pytest.raises(Refused) as caught:
        driver.apply(wish, WORKER)
    assert caught.value.code == "effect_unsettled"


def test_working_time_is_monotonic_and_a_loss_closes_at_the_last_heartbeat() -> None:
    driver = Driver().claim().ready()
    driver.begin("work")
    driver.tick(400).jump(3_600_000).tick(100)
    driver.lose()
    (interval,) = driver.rows(IntervalRow)
    assert (interval.elapsed_ms, driver.head.run.active_ms) == (0, 0)
    driver.tick(10).run_up()
    attempt = driver.begin("work")
    driver.tick(250).jump(-7_200_000).tick(50)
    driver.done(attempt)
    assert driver.head.run.active_ms == 300
    assert driver.rows(AttemptRow)[-1].active_ms == 300


def test_another_boot_ends_an_interval_at_zero() -> None:
    driver = Driver().run_up()
    driver.begin("work")
    driver.tick(5_000).reboot("boot-2").lose()
    assert driver.rows(IntervalRow)[0].elapsed_ms == 0


def test_cancel_ends_the_claim_and_fences_the_worker() -> None:
    from lockgate.flow import law

    driver = Driver().run_up()
    driver.begin("work")
    driver.tick(40).apply(t.Cancel())
    assert driver.head.run.active_ms == 40
    with pytest.raises(ClaimLost) as caught:
        law.check_claim(driver.head, token_hash=hashed("token-1"), generation=1)
    assert caught.value.reason == "cancelled"


def test_a_paused_run_lets_its_node_finish_and_then_parks() -> None:
    driver = Driver().run_up()
    attempt = driver.begin("work")
    driver.apply(t.Pause())
    assert word(driver.view(), driver.clock) == "pausing"
    driver.done(attempt)
    with pytest.raises(Refused) as caught:
        driver.begin("safe")
    assert caught.value.code == "paused"
    driver.apply(t.Release(), HOST)
    assert word(driver.view(), driver.clock) == "paused"
    driver.apply(t.Resume())
    assert driver.head.queue.status == "queued"


def test_stop_now_is_told_to_the_holder_even_when_paused_already() -> None:
    driver = Driver().run_up()
    driver.begin("work")
    driver.apply(t.Pause())
    count = len(driver.events)
    driver.apply(t.Pause())
    assert len(driver.events) == count
    driver.apply(t.Pause(stop_now=True))
    assert driver.events[-1].payload.stop_now is True  # type: ignore[attr-defined]


def test_a_run_that_ends_over_a_lost_effect_leaves_it_to_a_person() -> None:
    """As after a cancellation: nobody else would ever settle it."""
    driver = Driver().run_up().step("work")
    driver.reserve(driver.begin("safe"), "safe")
    driver.lose(counted=False)
    driver.tick(1_000).run_up().finish(RunStatus.FAILED)
    assert [event.type for event in driver.events[-2:]] == ["effect_ambiguous", "run_failed"]
    [effect] = driver.rows(EffectRow)
    assert effect.status == "ambiguous"
    assert driver.apply(t.ResolveEffect(human=HUMAN, effect_id=effect.effect_id, happened=True))["status"] == "applied"
    assert driver.head.run.status == "failed"
