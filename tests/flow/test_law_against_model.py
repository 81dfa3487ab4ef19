"""Whatever is asked of the law in whatever order, a plain model agrees with it, and its promises hold."""

import contextlib

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from lockgate.flow import transitions as t
from lockgate.flow.fold import UNFOLDED, fold
from lockgate.flow.graph import EffectSpec
from lockgate.flow.words import allowed, word
from lockgate.model.errors import LockgateError, Refused
from lockgate.model.events import link
from lockgate.model.records import AttemptRow, EffectRow, IntervalRow, ResolutionRow, SettingsChangeRow
from lockgate.model.statuses import EffectStatus, Outcome, Recovery, RunStatus
from tests.flow.driver import GRAPH, HOST, WORKER, Driver, hashed, pace
from tests.flow.situations import named, situation

AFTER = {"work": "safe", "safe": "once", "once": "ask", "ask": "decide"}


class Model:
    """The run as a person with a pencil would keep it: where it stands, and nothing of how."""

    def __init__(self) -> None:
        self.next: str | None = "work"
        self.phase = "queued"  # queued starting between working waiting answered blocked ambiguous over
        self.paused = False
        self.node: str | None = None
        self.lost = 0
        self.effect: str | None = None
        self.asked = 0
        self.resolved = 0
        self.pace = 1
        self.change = 0
        self.seen = 0  # the change of the settings that the active attempt saw
        self.has_timeout = False

    @property
    def held(self) -> bool:
        return self.phase in ("starting", "between", "working")


class LawMachine(RuleBasedStateMachine):
    verifies = False

    @initialize(moves=st.integers(0, 24))
    def begin(self, moves: int) -> None:
        self.driver = self.new_driver()
        self.model = Model()
        self.resumes_answer = False
        self.terminal: tuple[object, ...] | None = None
        for _ in range(moves):
            self._go_on("again")

    def new_driver(self) -> Driver:
        return Driver()

    def attempt(self, allowed_now: bool, act: object) -> bool:
        """Run `act`; the law must accept it exactly when the model does. A refusal changes nothing."""
        before, count = self.driver.head, len(self.driver.events)
        assert callable(act)
        try:
            act()
        except Refused:
            assert not allowed_now, situation(before)
            assert self.driver.head == before
            assert len(self.driver.events) == count
            return False
        assert allowed_now, situation(before)
        return True

    @rule(moves=st.integers(1, 9), choice=st.sampled_from(["again", "again", "go", "stop"]))
    def goes_on(self, moves: int, choice: str) -> None:
        """The usual course of a run, some moves far: without it, chance would rarely come to a decision."""
        for _ in range(moves):
            self._go_on(choice)

    def _go_on(self, choice: str) -> None:
        driver, model = self.driver, self.model
        if model.paused or model.phase == "blocked":
            self.resume()
            if model.paused or model.phase == "blocked":
                return
        if model.phase in ("queued", "answered"):
            driver.tick(1_000)
            self.claim()
        elif model.phase == "starting":
            self.ready()
        elif model.phase == "between" and model.next is None:
            if choice == "stop":
                self.finish(RunStatus.COMPLETED)
        elif model.phase == "between":
            self.start_next()
        elif model.phase == "waiting":
            self.submit() if model.node == "ask" else self.answer(choice, None)
        elif model.phase == "ambiguous":
            self.resolve(happened=True)
        elif model.phase == "working":
            self._work_on(choice)

    def _work_on(self, choice: str) -> None:
        model = self.model
        if model.node in ("safe", "once") and model.effect != "applied":
            self.reserve()
            if model.effect == "applying":
                self.settle(EffectStatus.APPLIED)
        elif model.node in ("ask", "decide") and not self.resumes_answer:
            self.wait()
        else:
            if model.node == "work" and model.seen != model.change:
                self.retry_route()
            self.finish_node(True, choice)

    @rule(ms=st.sampled_from([0, 1, 999, 31_000]))
    def time_passes(self, ms: int) -> None:
        self.driver.tick(ms)

    @rule(ms=st.sampled_from([-3_600_000, 3_600_000, 30_000]))
    def wall_clock_jumps(self, ms: int) -> None:
        self.driver.jump(ms)

    @rule()
    def machine_reboots(self) -> None:
        self.driver.reboot(f"boot-{len(self.driver.events)}")

    @rule()
    def claim(self) -> None:
        model = self.model
        # A back-off lasts a second at most: what lies further ahead is of a clock that was set back.
        due = not 0 < self.driver.head.queue.available_at - self.driver.clock.wall_ms <= 1_000
        fits = model.phase in ("queued", "answered") and not model.paused and due
        if self.attempt(fits, self.driver.claim):
            self.resumes_answer = model.phase == "answered"
            model.phase = "starting"

    @rule()
    def ready(self) -> None:
        model = self.model
        if self.attempt(model.phase == "starting" and not model.paused, self.driver.ready):
            model.phase = "working" if self.resumes_answer else "between"

    @rule(node=st.sampled_from(sorted(GRAPH.nodes)))
    def start_any(self, node: str) -> None:
        self._start(node)

    @precondition(lambda self: self.model.phase == "between" and self.model.next is not None)
    @rule()
    def start_next(self) -> None:
        self._start(self.model.next or "work")

    def _start(self, node: str) -> None:
        model = self.model
        fits = model.phase == "between" and not model.paused and model.next == node
        fits = fits and self.driver.head.run.steps < GRAPH.max_steps
        if self.attempt(fits, lambda: self.driver.begin(node)):
            if self.model.node != node:
                model.effect = None
            model.phase, model.node, model.seen, model.has_timeout = "working", node, model.change, False

    @precondition(lambda self: self.model.phase == "working")
    @rule(ok=st.booleans(), choice=st.sampled_from(["go", "again", "stop"]))
    def finish_node(self, ok: bool, choice: str) -> None:
        driver, model = self.driver, self.model
        node, attempt = model.node, driver.active
        request = driver.head.request
        needs_answer = node in ("ask", "decide")
        output = request.output_hash if request is not None else hashed("null")
        switch = ("ok" if ok else "failed") if node == "safe" else (choice if node == "decide" else None)
        fits = model.effect != "applying" and not (ok and needs_answer and not self.resumes_answer)
        fits = fits and not (ok and node == "work" and model.seen != model.change)
        wish = t.FinishAttempt(
            attempt_id=attempt,
            outcome=Outcome.OK if ok else Outcome.FAILED,
            output_hash=output if ok else None,
            switch_value=switch,
        )
        if self.attempt(fits, lambda: driver.apply(wish, WORKER)):
            model.phase, model.lost, model.effect, model.node = "between", 0, None, None
            self.resumes_answer = False
            if not ok:
                model.next = "work" if node == "safe" else None
            elif node == "decide":
                model.next = "work" if choice == "again" else "end"
            else:
                model.next = AFTER.get(node or "")

    @precondition(lambda self: self.model.phase == "working" and self.model.node in ("safe", "once"))
    @rule()
    def reserve(self) -> None:
        driver, model = self.driver, self.model
        before = model.effect
        mine = driver.head.effect is not None and driver.head.effect.attempt_id == driver.active
        got: dict[str, object] = {}

        def act() -> None:
            got.update(driver.reserve(driver.active, model.node or ""))

        if self.attempt(not (before == "applying" and mine), act):
            again = "verify" if before == "applying" and self.verifies else "execute"
            assert got["answer"] == ("adopted" if before == "applied" else again)
            model.effect = "applied" if before == "applied" else "applying"

    @precondition(lambda self: self.model.phase == "working" and self.model.effect == "applying")
    @rule(status=st.sampled_from([EffectStatus.APPLIED, EffectStatus.REJECTED, EffectStatus.AMBIGUOUS]))
    def settle(self, status: EffectStatus) -> None:
        driver, model = self.driver, self.model
        effect = driver.head.effect
        assert effect is not None
        fits = effect.attempt_id == driver.active
        if self.attempt(fits, lambda: driver.settle(driver.active, effect.effect_id, status)):
            model.effect = str(status)
            if status is EffectStatus.AMBIGUOUS:
                model.phase = "ambiguous"

    @precondition(lambda self: self.model.phase == "working" and self.model.node in ("ask", "decide"))
    @rule()
    def wait(self) -> None:
        driver, model = self.driver, self.model
        attempt = driver.active

        def act() -> None:
            begin = driver.begin
            driver.begin = lambda node: attempt  # type: ignore[method-assign]
            try:
                driver.wait(model.node or "")
            finally:
                driver.begin = begin  # type: ignore[method-assign]

        if self.attempt(not self.resumes_answer, act):
            model.phase, model.lost = "waiting", 0
            model.asked += model.node == "decide"

    @precondition(lambda self: self.driver.head.request is not None)
    @rule(choice=st.sampled_from(["go", "again", "stop"]), digest=st.sampled_from([None, "0" * 64]))
    def answer(self, choice: str, digest: str | None) -> None:
        driver, model = self.driver, self.model
        request = driver.pending
        late = request.deadline_at is not None and driver.time > request.deadline_at
        open_ = model.phase == "waiting" and model.node == "decide"
        known = model.node == "decide" and digest is None
        fits = known and not (open_ and model.paused)
        got: dict[str, object] = {}
        if self.attempt(fits, lambda: got.update(driver.answer(choice, digest=digest))):
            wins = open_ and not late
            assert (got["outcome"] == "accepted") == wins, got
            if wins:
                model.phase = "answered"
                model.resolved += 1

    @precondition(lambda self: self.model.phase == "waiting" and self.model.node == "decide")
    @rule()
    def expire(self) -> None:
        driver, model = self.driver, self.model
        due = driver.time >= (driver.pending.deadline_at or 0)
        if self.attempt(due and not model.paused, driver.expire):
            model.phase = "answered"
            model.resolved += 1

    @precondition(lambda self: self.model.phase == "waiting" and self.model.node == "ask")
    @rule()
    def submit(self) -> None:
        if self.attempt(not self.model.paused, self.driver.submit):
            self.model.phase = "answered"

    @precondition(lambda self: self.driver.head.attempt is not None)
    @rule()
    def retry_route(self) -> None:
        model = self.model
        fits = model.phase == "working" and model.node == "work" and model.seen != model.change
        wish = t.RetryRoute(attempt_id=self.driver.active)
        if self.attempt(fits, lambda: self.driver.apply(wish, WORKER)):
            model.seen = model.change

    @rule(number=st.integers(1, 3), behind=st.sampled_from([0, 0, 1]))
    def change_settings(self, number: int, behind: int) -> None:
        model = self.model
        fits = model.phase != "over" and not behind
        if self.attempt(fits, lambda: self.driver.change_settings(number, model.change - behind)):
            model.change += number != model.pace
            model.pace = number

    @precondition(lambda self: self.driver.head.attempt is not None)
    @rule(what=st.sampled_from(["prompt", "notice", "update", "timeout", "no timeout"]))
    def tell(self, what: str) -> None:
        """What a worker records beside its steps; a computed timeout is set once."""
        driver, model = self.driver, self.model
        active = driver.active
        wishes = {
            "prompt": t.RecordPrompt(attempt_id=active, prompt_hash=hashed("{}")),
            "notice": t.RecordNotice(attempt_id=active, message_hash=hashed("{}"), summary="Half done"),
            "timeout": t.SetTimeout(attempt_id=active, timeout_ms=60_000),
            "no timeout": t.SetTimeout(attempt_id=active, timeout_ms=None),
        }
        fits = model.phase == "working"
        if "timeout" in what:
            fits = fits and model.node == "end" and not model.has_timeout
        if self.attempt(fits, lambda: driver.apply(wishes[what], WORKER) if what in wishes else driver.publish(active)):
            model.has_timeout |= "timeout" in what

    @rule()
    def block(self) -> None:
        if self.attempt(self.model.phase == "starting", self.driver.block):
            self.model.phase = "blocked"

    @precondition(lambda self: self.model.phase == "over")
    @rule(behind=st.sampled_from([0, 0, 1]))
    def restart(self, behind: int) -> None:
        driver = self.driver
        unsettled = any(row.status in ("applying", "ambiguous") for row in driver.rows(EffectRow))
        # A second restart names the first child, whatever was seen.
        fits = driver.has_child or not (behind or unsettled)
        self.attempt(fits, lambda: driver.restart(driver.head.run.revision - behind))

    @rule(counted=st.booleans(), progressed=st.booleans())
    def lose(self, counted: bool, progressed: bool) -> None:
        driver, model = self.driver, self.model
        if not self.attempt(model.held, lambda: driver.lose(counted=counted, progressed=progressed)):
            return
        model.lost += counted
        uncertain = model.phase == "working" and model.node == "once" and model.effect == "applying"
        if uncertain:
            model.phase, model.effect = "ambiguous", "ambiguous"
        elif self.resumes_answer:
            model.phase = "answered"
        else:
            model.phase = "queued"
        if not uncertain and counted and (not progressed or model.lost >= 3):
            model.phase = "blocked"

    @rule()
    def release(self) -> None:
        model = self.model
        fits = model.phase in ("starting", "between")
        if self.attempt(fits, lambda: self.driver.apply(t.Release(), HOST)):
            model.phase = "answered" if self.resumes_answer else "queued"

    @rule()
    def pause(self) -> None:
        if self.attempt(self.model.phase != "over", lambda: self.driver.apply(t.Pause())):
            self.model.paused = True

    @rule()
    def resume(self) -> None:
        model = self.model
        fits = model.phase != "over" and not (model.phase == "ambiguous" and not model.paused)
        if self.attempt(fits, lambda: self.driver.apply(t.Resume())):
            if model.paused or model.phase == "blocked":
                model.lost = 0
            if model.phase == "blocked":
                model.phase = "answered" if self.resumes_answer else "queued"
            model.paused = False

    @precondition(lambda self: any(row.status == "ambiguous" for row in self.driver.rows(EffectRow)))
    @rule(happened=st.booleans())
    def resolve(self, happened: bool) -> None:
        driver, model = self.driver, self.model
        effect = next(row for row in driver.rows(EffectRow) if row.status == "ambiguous")
        wish = t.ResolveEffect(human=_human(), effect_id=effect.effect_id, happened=happened)
        assert self.attempt(True, lambda: driver.apply(wish))
        if model.phase == "ambiguous":
            model.phase, model.lost = "queued", 0
            model.effect = "applied" if happened else "rejected"

    @rule(dice=st.integers(0, 30))
    def cancel(self, dice: int) -> None:
        # Rare: a cancelled run is dull, and every rule after it would only be refused.
        if dice and self.model.phase != "over":
            return
        if self.attempt(self.model.phase != "over", lambda: self.driver.apply(t.Cancel())):
            self._end()

    @precondition(lambda self: self.model.phase == "between")
    @rule(status=st.sampled_from([RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.TIMED_OUT]))
    def finish(self, status: RunStatus) -> None:
        last = self.driver.head.last
        ended = last is not None and self.model.next is None
        if status is RunStatus.COMPLETED:
            fits = ended and last is not None and last.outcome is Outcome.OK
        else:
            fits = status is RunStatus.FAILED
        if self.attempt(fits and not self.model.paused, lambda: self.driver.finish(status)):
            self._end()

    def _end(self) -> None:
        self.model.phase, self.model.paused = "over", False

    @invariant()
    def the_situation_is_in_the_table(self) -> None:
        name = named(self.driver.head, self.driver.clock)
        assert word(self.driver.view(), self.driver.clock) == name

    def teardown(self) -> None:
        """What is asked of the whole history is asked once, at its end."""
        if hasattr(self, "driver"):
            self.the_events_alone_give_the_rows()
            self.the_chain_holds_and_time_never_goes_back()

    def the_events_alone_give_the_rows(self) -> None:
        driver = self.driver
        again = fold(driver.events, driver.graph)
        assert again.tables == driver.folded.tables
        assert again.head is not None
        assert again.head.run == driver.head.run
        kept = {name: getattr(driver.head.queue, name) for name in driver.head.queue.__struct_fields__}
        for name in set(kept) - UNFOLDED:
            assert getattr(again.head.queue, name) == kept[name], name

    def the_chain_holds_and_time_never_goes_back(self) -> None:
        prev, at = None, 0
        for seq, event in enumerate(self.driver.events, 1):
            assert (event.seq, event.prev_hash) == (seq, prev)
            assert event.at >= at
            facts = {name: getattr(event, name) for name in ("run_id", "seq", "type", "at", "actor", "attempt_id")}
            assert event.hash == link(prev=prev, payload=event.payload, **facts)
            prev, at = event.hash, event.at
        assert self.driver.head.run.chain_head == prev

    @invariant()
    def promises(self) -> None:
        driver = self.driver
        attempts: list[AttemptRow] = driver.rows(AttemptRow)
        active = [row for row in attempts if row.status in ("running", "waiting", "interrupted")]
        assert len(active) <= 1
        steps = sorted(row.step_index for row in attempts if row.step_index is not None)
        assert steps == list(range(driver.head.run.steps))
        intervals: list[IntervalRow] = driver.rows(IntervalRow)
        assert sum(row.ended_at is None for row in intervals) == (driver.head.run.clock == "active")
        assert all(row.elapsed_ms >= 0 for row in intervals)
        assert driver.head.run.active_ms == sum(row.elapsed_ms for row in intervals)
        assert driver.head.run.waiting_ms >= 0
        scope = driver.head.settings
        assert scope is not None
        assert (scope.change_number, scope.current_hash) == (self.model.change, hashed(pace(self.model.pace)))
        changes: list[SettingsChangeRow] = driver.rows(SettingsChangeRow)
        assert sorted(row.change_number for row in changes) == list(range(1, self.model.change + 1))
        if self.model.phase == "working":
            assert driver.head.attempt is not None
            assert driver.head.attempt.settings_change == self.model.seen
        if self.model.phase == "over":
            assert all(row.status != "applying" for row in driver.rows(EffectRow)), "nobody would ever settle it"
        won = [row for row in driver.rows(ResolutionRow) if row.provenance != "explicit_cancel"]
        assert len(won) == self.model.resolved

    @invariant()
    def a_terminal_run_never_changes(self) -> None:
        run = self.driver.head.run
        if not run.status.is_terminal:
            return
        facts = (run.status, run.finished_at, run.output_hash, run.steps, run.active_ms, run.waiting_ms)
        assert self.terminal in (None, facts)
        self.terminal = facts

    @invariant()
    def what_is_offered_is_possible(self) -> None:
        """`allowed` names a command exactly when the law takes it (a no-op is not offered)."""
        offered = allowed(self.driver.view())
        for name, wish in (("pause", t.Pause()), ("resume", t.Resume()), ("cancel", t.Cancel())):
            taken = False
            with contextlib.suppress(LockgateError):
                from lockgate.flow import law

                taken = bool(law.apply(self.driver.head, wish, now=self.driver.clock, actor=HOST).events)
            assert (name in offered) == taken, name


def _human() -> object:
    from tests.flow.driver import HUMAN

    return HUMAN


class VerifyingMachine(LawMachine):
    """The build's effect is verified instead of simply done again."""

    verifies = True

    def new_driver(self) -> Driver:
        safe = replace(GRAPH.nodes["safe"], effect=EffectSpec(type="build", recovery=Recovery.VERIFIED))
        return Driver(replace(GRAPH, nodes={**GRAPH.nodes, "safe": safe}))


VerifyingMachine.TestCase.settings = settings(max_examples=100, stateful_step_count=25, deadline=None)
TestVerifyingLawAgainstModel = VerifyingMachine.TestCase
LawMachine.TestCase.settings = settings(max_examples=400, stateful_step_count=25, deadline=None)
TestLawAgainstModel = LawMachine.TestCase
