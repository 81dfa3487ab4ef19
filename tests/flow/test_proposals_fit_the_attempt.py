"""What a worker proposes must fit the attempt that is active: its node, its answer, its timeout, its updates."""

from collections.abc import Callable
from typing import Any

import pytest

from lockgate.flow import transitions as t
from lockgate.model.errors import Refused
from lockgate.model.records import AttemptRow, IntervalRow, RequestRow, UpdateRow
from lockgate.model.statuses import AttemptStatus, Outcome, RequestKind, RunStatus
from tests.flow.driver import HOST, WORKER, Driver, hashed


def code(act: Callable[[], Any]) -> str:
    with pytest.raises(Refused) as raised:
        act()
    return raised.value.code


def at_end() -> Driver:
    """The last node runs; its timeout is computed."""
    driver = Driver().to_decision()
    driver.answer("go")
    driver.run_up().done(driver.active, switch="go", output="go")
    driver.begin("end")
    return driver


@pytest.mark.parametrize(("first", "stored"), [(60_000, 60_000), (None, 0)])
def test_a_computed_timeout_is_set_once_also_to_none(first: int | None, stored: int) -> None:
    driver = at_end()
    driver.apply(t.SetTimeout(attempt_id=driver.active, timeout_ms=first), WORKER)
    assert driver.head.attempt is not None
    assert driver.head.attempt.timeout_ms == stored
    for again in (first, 5, None):
        assert code(lambda: driver.apply(t.SetTimeout(attempt_id=driver.active, timeout_ms=again), WORKER)) == (  # noqa: B023
            "timeout_fixed"
        )


@pytest.mark.parametrize("wrong", [0, -1])
def test_a_computed_timeout_is_positive(wrong: int) -> None:
    driver = at_end()
    assert code(lambda: driver.apply(t.SetTimeout(attempt_id=driver.active, timeout_ms=wrong), WORKER)) == (
        "wrong_timeout"
    )


def test_a_timeout_of_the_definition_rides_with_the_start_and_with_no_other() -> None:
    driver = Driver().run_up().step("work")
    for wrong in (None, 59_999):
        wish = t.StartAttempt(attempt_id="attempt-1", node_id="safe", timeout_ms=wrong)
        assert code(lambda: driver.apply(wish, WORKER)) == "wrong_timeout"  # noqa: B023
    attempt = driver.begin("safe")
    assert code(lambda: driver.apply(t.SetTimeout(attempt_id=attempt, timeout_ms=5), WORKER)) == "timeout_fixed"


def test_only_the_active_attempt_publishes_records_and_finishes() -> None:
    driver = Driver().run_up()
    old = driver.begin("work")
    driver.done(old)
    driver.begin("safe")
    update = t.PublishUpdate(
        attempt_id=old, update_id="update-1", update_type="progress", update_key="overall", data_hash=hashed("{}")
    )
    wishes = [
        update,
        t.RecordPrompt(attempt_id=old, prompt_hash=hashed("p")),
        t.RecordNotice(attempt_id=old, message_hash=hashed("m"), summary="m"),
        t.SetTimeout(attempt_id=old, timeout_ms=5),
        t.RetryRoute(attempt_id=old),
        t.FinishAttempt(attempt_id=old, outcome=Outcome.OK, output_hash=hashed("null")),
    ]
    for wish in wishes:
        assert code(lambda: driver.apply(wish, WORKER)) == "wrong_attempt"  # noqa: B023
    assert driver.rows(UpdateRow) == []


def test_nothing_is_proposed_while_nobody_works() -> None:
    driver = Driver().to_checkpoint()
    wish = t.PublishUpdate(
        attempt_id=driver.active, update_id="update-1", update_type="progress", update_key="k", data_hash=hashed("{}")
    )
    assert code(lambda: driver.apply(wish, WORKER)) == "not_running"


def test_a_checkpoint_ends_ok_only_with_its_accepted_output() -> None:
    driver = Driver().run_up().step("work").effect_step("safe", switch="ok").effect_step("once")
    attempt = driver.begin("ask")
    assert code(lambda: driver.done(attempt, output="{}")) == "not_answered"
    driver.lose(counted=False)
    driver.tick(1_000).run_up().wait("ask")
    driver.submit(output='{"a":1}')
    driver.run_up()
    assert code(lambda: driver.done(driver.active, output='{"a":2}')) == "wrong_output"
    driver.done(driver.active, output='{"a":1}')


def test_an_answer_is_used_up_with_the_step_that_it_ends() -> None:
    driver = Driver().to_checkpoint()
    driver.submit()
    [request] = driver.rows(RequestRow)
    assert (request.status, request.consumed_at) == ("settled", None)
    driver.run_up()
    [request] = driver.rows(RequestRow)
    assert request.consumed_at is None
    driver.done(driver.active, output="{}")
    [request] = driver.rows(RequestRow)
    assert request.consumed_at == driver.clock.wall_ms


def test_a_settled_checkpoint_resumes_its_very_attempt() -> None:
    driver = Driver().to_checkpoint()
    waiting = driver.active
    driver.submit()
    driver.claim().ready()
    assert (driver.active, driver.head.run.status) == (waiting, RunStatus.RUNNING)
    assert driver.events[-1].type == "run_resumed"
    assert [row.interval_number for row in driver.rows(IntervalRow) if row.attempt_id == waiting] == [1, 2]


def test_only_a_lost_attempt_is_replaced_and_its_successor_retires_it() -> None:
    driver = Driver().run_up()
    first = driver.begin("work")
    second = t.StartAttempt(attempt_id="attempt-2", node_id="work")
    assert code(lambda: driver.apply(second, WORKER)) == "attempt_active"
    driver.lose(counted=False)
    driver.tick(1_000).run_up().apply(second, WORKER)
    retired, active = driver.rows(AttemptRow)
    assert (retired.attempt_id, retired.status, retired.step_index) == (first, AttemptStatus.CANCELLED, None)
    assert (active.status, active.visit, active.attempt_number) == (AttemptStatus.RUNNING, 1, 2)


def test_a_pending_request_forbids_a_replacement() -> None:
    driver = Driver().to_checkpoint()
    assert code(driver.claim) == "not_claimable"
    assert code(lambda: driver.apply(t.Ready(), WORKER)) == "not_starting"
    assert code(lambda: driver.apply(t.StartAttempt(attempt_id="attempt-2", node_id="ask"), WORKER)) == "not_running"


@pytest.mark.parametrize(
    ("node", "kind"), [("ask", RequestKind.AGENT), ("ask", RequestKind.DECISION), ("work", RequestKind.CHECKPOINT)]
)
def test_a_node_waits_only_for_what_it_is(node: str, kind: RequestKind) -> None:
    driver = Driver().run_up()
    if node == "ask":
        driver.step("work").effect_step("safe", switch="ok").effect_step("once")
    wish = t.WaitForInput(attempt_id=driver.begin(node), kind=kind, contract_hash=hashed("contract"))
    assert code(lambda: driver.apply(wish, WORKER)) == "wrong_kind"


def test_a_run_completes_only_where_its_graph_ends_and_with_the_last_output() -> None:
    driver = Driver().run_up()
    assert code(driver.finish) == "not_at_end"
    driver.step("work")
    assert code(driver.finish) == "not_at_end"
    assert code(lambda: driver.finish(RunStatus.TIMED_OUT)) == "wrong_status"
    assert code(lambda: driver.finish(RunStatus.CANCELLED)) == "wrong_status"
    assert code(lambda: driver.finish(RunStatus.WAITING)) == "not_terminal"
    driver = at_end()
    assert code(driver.finish) == "attempt_active"
    driver.done(driver.active, output="the end")
    wrong = t.Finish(status=RunStatus.COMPLETED, output_hash=hashed("another"))
    assert code(lambda: driver.apply(wrong, WORKER)) == "wrong_output"
    driver.finish()
    assert driver.head.run.output_hash == hashed("the end")


@pytest.mark.parametrize("way", ["finished", "paused", "waiting", "completed", "timed_out", "cancelled", "lost"])
def test_every_way_to_stop_working_closes_the_working_time(way: str) -> None:
    driver = Driver().run_up()
    attempt = driver.begin("work")
    driver.tick(700)
    if way in ("finished", "paused"):
        driver.done(attempt)
    if way == "paused":
        driver.apply(t.Pause())
        driver.apply(t.Release(), HOST)
    if way == "cancelled":
        driver.apply(t.Cancel())
    if way == "lost":
        driver.lose()
    if way == "timed_out":
        driver.apply(t.FinishAttempt(attempt_id=attempt, outcome=Outcome.TIMED_OUT), WORKER)
        driver.finish(RunStatus.TIMED_OUT)
    if way == "completed":
        driver = at_end()
        driver.tick(700).done(driver.active).finish()
    if way == "waiting":
        driver = Driver().to_decision()
    assert [row for row in driver.rows(IntervalRow) if row.ended_at is None] == []
    assert driver.head.run.clock != "active"
    assert driver.head.run.active_ms == sum(row.elapsed_ms for row in driver.rows(IntervalRow))
