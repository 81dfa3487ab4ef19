"""Every situation of the design's table is reached, and has its word."""

from collections.abc import Callable

import pytest

from lockgate.flow import transitions as t
from lockgate.flow.words import waiting_for, word
from lockgate.model.statuses import BlockCode, Outcome, RunStatus
from tests.flow.driver import HOST, HUMAN, WORKER, Driver
from tests.flow.situations import named

Reach = Callable[[], Driver]


def failed() -> Driver:
    driver = Driver().run_up()
    attempt = driver.begin("work")
    driver.apply(t.FinishAttempt(attempt_id=attempt, outcome=Outcome.FAILED), WORKER)
    return driver.finish(RunStatus.FAILED)


def timed_out() -> Driver:
    driver = Driver().run_up()
    attempt = driver.begin("work")
    driver.apply(t.FinishAttempt(attempt_id=attempt, outcome=Outcome.TIMED_OUT), WORKER)
    return driver.finish(RunStatus.TIMED_OUT)


def completed() -> Driver:
    driver = answered().run_up()
    return driver.done(driver.active, switch="go", output="go").step("end").finish()


def answered() -> Driver:
    driver = Driver().to_decision()
    driver.answer("go")
    return driver


def working() -> Driver:
    driver = Driver().run_up()
    driver.begin("work")
    return driver


def paused(driver: Driver) -> Driver:
    driver.apply(t.Pause())
    return driver


def ambiguous() -> Driver:
    driver = Driver().run_up().step("work").effect_step("safe", switch="ok")
    driver.reserve(driver.begin("once"), "once")
    return driver.lose()


def resolved() -> Driver:
    driver = ambiguous()
    effect = driver.head.effect
    assert effect is not None
    driver.apply(t.ResolveEffect(human=HUMAN, effect_id=effect.effect_id, happened=False))
    return driver


def blocked(code: BlockCode) -> Driver:
    driver = Driver().claim()
    driver.apply(t.Block(code=code, detail="a file changed"), HOST)
    return driver


def another_graph() -> Driver:
    driver = Driver().claim()
    driver.apply(t.Block(code=BlockCode.SOURCE_CHANGED, detail="a file changed", graph_changed=True), HOST)
    return driver


def parked_between() -> Driver:
    driver = paused(working())
    driver.done(driver.active)
    driver.apply(t.Release(), HOST)
    return driver


def cancelled() -> Driver:
    driver = Driver().to_decision()
    driver.apply(t.Cancel())
    return driver


SITUATIONS: list[tuple[str, str, str | None, Reach]] = [
    ("started, not claimed", "queued", "host", Driver),
    ("claimed, worker starting", "starting", None, lambda: Driver().claim()),
    ("claimed again after an answer", "starting", None, lambda: answered().claim()),
    ("claimed and paused", "pausing", None, lambda: paused(Driver().claim())),
    ("worker silent past its lease", "lost", "host", lambda: working().tick(30_001)),
    ("claimed under another boot", "lost", "host", lambda: working().reboot("boot-2")),
    ("node runs", "running", None, working),
    ("between nodes", "running", None, lambda: Driver().run_up().step("work")),
    ("worker lost, will retry", "interrupted", "host", lambda: working().lose()),
    ("waits for a person", "waiting", "person", lambda: Driver().to_decision()),
    ("waits for input", "waiting", "input", lambda: Driver().to_checkpoint()),
    ("answered, not taken yet", "answered", "host", answered),
    ("deadline passed, default not taken yet", "overdue", "host", lambda: Driver().to_decision().tick(60_001)),
    ("pause asked while a node runs", "pausing", None, lambda: paused(working())),
    ("paused between nodes", "paused", None, parked_between),
    ("paused, not claimed", "paused", None, lambda: paused(Driver())),
    ("paused after a loss", "paused", None, lambda: paused(working().lose())),
    ("paused while waiting", "paused", None, lambda: paused(Driver().to_decision())),
    ("answered, then paused", "paused", None, lambda: paused(answered())),
    ("blocked: load_failed", "blocked", None, lambda: blocked(BlockCode.LOAD_FAILED)),
    ("blocked: source_changed", "blocked", None, lambda: blocked(BlockCode.SOURCE_CHANGED)),
    ("blocked: graph_changed", "blocked", None, another_graph),
    ("blocked: worker_lost", "blocked", None, lambda: Driver().claim().lose(progressed=False)),
    ("blocked and paused", "blocked", None, lambda: paused(blocked(BlockCode.LOAD_FAILED))),
    ("blocked: effect_ambiguous", "blocked", "effect", ambiguous),
    ("blocked: effect_ambiguous and paused", "blocked", "effect", lambda: paused(ambiguous())),
    ("effect resolved, not taken yet", "interrupted", "host", resolved),
    ("completed", "completed", None, completed),
    ("failed", "failed", None, failed),
    ("timed out", "timed_out", None, timed_out),
    ("cancelled", "cancelled", None, cancelled),
]


@pytest.mark.parametrize(("name", "expected", "whom", "reach"), SITUATIONS, ids=[row[0] for row in SITUATIONS])
def test_the_situation_has_its_word(name: str, expected: str, whom: str | None, reach: Reach) -> None:
    driver = reach()
    assert named(driver.head, driver.clock) == expected
    assert word(driver.view(), driver.clock) == expected
    assert waiting_for(driver.view(), driver.clock) == whom


def test_an_answered_run_that_is_lost_before_ready_stays_answered() -> None:
    driver = answered().claim().lose(counted=False)
    assert word(driver.view(), driver.clock) == "answered"
