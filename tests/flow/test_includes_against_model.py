"""Whatever is asked of the law around includes, a plain model of nested invocations agrees with it."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import settings as tried
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lockgate import Workflow, allow, compute, edge, include, settings, switch_edge
from lockgate.flow import transitions as t
from lockgate.flow.fold import UNFOLDED, fold
from lockgate.model import ids
from lockgate.model.errors import Refused
from lockgate.model.events import IncludeEntered, IncludeExited
from lockgate.model.records import AttemptRow, SettingsRow
from lockgate.model.statuses import Outcome, RunStatus
from tests.flow.driver import WORKER, Driver, hashed, pace

LIVE = settings({"pace": 1}, rules=[allow("/pace", replace=["user"])])
MOST = {"$root": 14, "outer": 7, "outer/inner": 2}


def nothing(ctx: Any) -> None:
    return None


def nested() -> Workflow:
    """first -> outer (inner, then perhaps inner again, then last) -> then perhaps outer again -> end."""
    inner = Workflow(
        "inner",
        start="one",
        nodes={"one": compute(nothing), "two": compute(nothing)},
        edges=[switch_edge("one", "$.way", {"on": "two", "back": "one"})],
        exits={"done": "two"},
        settings=LIVE,
        max_steps=MOST["outer/inner"],
    )
    outer = Workflow(
        "outer",
        start="inner",
        nodes={"inner": include(inner), "turn": compute(nothing), "last": compute(nothing)},
        edges=[edge("inner.done", "turn"), switch_edge("turn", "$.way", {"back": "inner", "on": "last"})],
        exits={"out": "last"},
        max_steps=MOST["outer"],
    )
    return Workflow(
        "nested",
        start="first",
        nodes={"first": compute(nothing), "outer": include(outer), "fork": compute(nothing), "end": compute(nothing)},
        edges=[
            edge("first", "outer"),
            edge("outer.out", "fork"),
            switch_edge("fork", "$.way", {"back": "outer", "on": "end"}),
        ],
        settings=LIVE,
        max_steps=MOST["$root"],
    )


FLOW = nested()
AFTER = {
    "first": "outer",
    "outer": "outer/inner",
    "outer/inner": "outer/inner/one",
    "outer/inner/two": "outer/inner.done",
    "outer/inner.done": "outer/turn",
    "outer/last": "outer.out",
    "outer.out": "fork",
}
TURNS = {
    "outer/inner/one": {"on": "outer/inner/two", "back": "outer/inner/one"},
    "outer/turn": {"on": "outer/last", "back": "outer/inner"},
    "fork": {"on": "end", "back": "outer"},
}
PASSAGES = ("outer", "outer/inner", "outer/inner.done", "outer.out")


@dataclass
class Going:
    """An invocation as a person with a pencil would keep it."""

    mount: str
    invocation: int
    left: int
    has_settings: bool
    pace: int = 1
    change: int = 0


@dataclass
class Model:
    next: str | None = "first"
    active: str | None = None
    interrupted: bool = False
    held: bool = False
    over: bool = False
    going: list[Going] = field(default_factory=lambda: [Going("$root", 1, MOST["$root"], True)])
    entered: dict[str, int] = field(default_factory=dict)


class IncludeMachine(RuleBasedStateMachine):
    @initialize(moves=st.integers(0, 60), ways=st.lists(st.sampled_from(["on", "back"]), min_size=60, max_size=60))
    def begin(self, moves: int, ways: list[str]) -> None:
        self.driver = self.new_driver()
        self.model = Model()
        for way in ways[:moves]:
            self.move(way)

    def new_driver(self) -> Driver:
        return Driver(FLOW.graph)

    def attempt(self, fits: bool, act: Any) -> bool:
        """The law must accept it exactly when the model does. A refusal changes nothing."""
        before, count = self.driver.head, len(self.driver.events)
        try:
            act()
        except Refused:
            assert not fits, before.last
            assert (self.driver.head, len(self.driver.events)) == (before, count)
            return False
        assert fits, before.last
        return True

    @rule(way=st.sampled_from(["on", "back"]))
    def move(self, way: str) -> None:
        """The usual course: whatever comes next."""
        model = self.model
        if model.over or (model.next is None and model.active is None):
            return
        if not model.held:
            self.take()
        elif model.active is None or model.interrupted:
            self.start(model.active or model.next)
        else:
            self.finish(Outcome.OK, way, names_settings=model.active != "outer/inner")  # refused, always
            self.finish(Outcome.OK, way, names_settings=model.active == "outer/inner")

    @precondition(lambda self: not self.model.held and not self.model.over)
    @rule()
    def take(self) -> None:
        self.driver.tick(5_000).run_up()
        self.model.held = True

    @precondition(lambda self: self.model.held)
    @rule()
    def lose(self) -> None:
        self.driver.lose(counted=False)
        self.model.held = False
        self.model.interrupted = self.model.active is not None

    @rule(node=st.sampled_from(sorted(FLOW.graph.nodes)))
    def start(self, node: str | None) -> None:
        model = self.model
        assert node is not None
        due = model.active if model.interrupted else model.next if model.active is None else None
        fits = model.held and node == due and (node in PASSAGES or all(going.left > 0 for going in model.going))
        if self.attempt(fits, lambda: self.driver.begin(node)):
            model.active, model.interrupted = node, False

    @precondition(lambda self: self.model.active is not None)
    @rule(
        outcome=st.sampled_from([Outcome.OK, Outcome.OK, Outcome.OK, Outcome.FAILED]),
        way=st.sampled_from(["on", "back"]),
        names_settings=st.booleans(),
    )
    def finish(self, outcome: Outcome, way: str, names_settings: bool) -> None:
        driver, model = self.driver, self.model
        node, ok = model.active, outcome is Outcome.OK
        assert node is not None
        wanted = ok and node == "outer/inner"
        switch = way if node in TURNS and ok else None
        wish = t.FinishAttempt(
            attempt_id=driver.active,
            outcome=outcome,
            output_hash=hashed("null") if ok else None,
            switch_value=switch,
            settings_hash=hashed(pace(1)) if names_settings else None,
        )
        fits = model.held and not model.interrupted and (names_settings == wanted or not ok)
        if not self.attempt(fits, lambda: driver.apply(wish, WORKER)):
            return
        model.active = None
        model.next = (TURNS[node][way] if node in TURNS else AFTER.get(node)) if ok else None
        if node not in PASSAGES:
            for going in model.going:
                going.left -= 1
        if ok and node in MOST:
            model.entered[node] = model.entered.get(node, 0) + 1
            model.going.append(Going(node, model.entered[node], MOST[node], node == "outer/inner"))
        elif ok and node in ("outer/inner.done", "outer.out"):
            model.going.pop()

    @rule(
        mount=st.sampled_from(["$root", "outer", "outer/inner", "outer/inner", "gone"]),
        invocation=st.integers(1, 3),
        number=st.integers(1, 3),
        behind=st.sampled_from([0, 0, 1]),
    )
    def change(self, mount: str, invocation: int, number: int, behind: int) -> None:
        driver, model = self.driver, self.model
        invocation = 1 if mount == "$root" else invocation
        going = next((each for each in model.going if (each.mount, each.invocation) == (mount, invocation)), None)
        fits = going is not None and going.has_settings and not model.over
        expected = max((going.change if going else 0) - behind, 0)
        fits = fits and going is not None and expected == going.change
        scope = ids.scope_name(mount, invocation)
        if self.attempt(fits, lambda: driver.change_settings(number, expected, scope)):
            assert going is not None
            going.change += number != going.pace
            going.pace = number

    @precondition(lambda self: self.model.held and self.model.active is None)
    @rule(status=st.sampled_from([RunStatus.COMPLETED, RunStatus.FAILED]))
    def end(self, status: RunStatus) -> None:
        last = self.driver.head.last
        fits = status is RunStatus.FAILED or (last is not None and last.node_id == "end" and last.outcome == "ok")
        if self.attempt(fits, lambda: self.driver.finish(status)):
            self.model.held, self.model.over = False, True

    @invariant()
    def the_invocations_that_go_on_are_those_of_the_model(self) -> None:
        found = [
            (
                scope.mount,
                scope.invocation,
                MOST[scope.mount] - (self.driver.head.run.steps - scope.steps),
                scope.settings is not None,
                scope.settings.change_number if scope.settings else 0,
                scope.settings.current_hash if scope.settings else hashed(pace(1)),
            )
            for scope in self.driver.head.scopes
        ]
        assert found == [
            (each.mount, each.invocation, each.left, each.has_settings, each.change, hashed(pace(each.pace)))
            for each in self.model.going
        ]
        open_now = [scope.mount for scope in self.driver.head.scopes[1:]]
        last = self.driver.head.last
        assert open_now == list(FLOW.graph.open_after(last.node_id, last.outcome) if last else ())

    @invariant()
    def an_attempt_is_bound_to_the_scope_that_it_is_in(self) -> None:
        attempt = self.driver.head.attempt
        if attempt is not None and self.driver.head.settings is not None:
            assert attempt.settings_hash is not None
            assert attempt.settings_change is not None
            assert attempt.settings_change <= self.driver.head.settings.change_number

    def teardown(self) -> None:
        """What is asked of the whole history is asked once, at its end."""
        if not hasattr(self, "driver"):
            return
        driver, model = self.driver, self.model
        again = fold(driver.events, driver.graph)
        assert again.tables == driver.folded.tables
        assert again.head is not None
        assert (again.head.run, again.head.scopes) == (driver.head.run, driver.head.scopes)
        for name in set(driver.head.queue.__struct_fields__) - UNFOLDED:
            assert getattr(again.head.queue, name) == getattr(driver.head.queue, name), name
        told = [event.payload for event in driver.events]
        entered = [(each.mount_path, each.invocation) for each in told if isinstance(each, IncludeEntered)]
        exited = [(each.mount_path, each.invocation) for each in told if isinstance(each, IncludeExited)]
        assert len(set(entered)) == len(entered)
        assert set(entered) - set(exited) == {(each.mount, each.invocation) for each in model.going[1:]}
        scopes: list[SettingsRow] = driver.rows(SettingsRow)
        kept = {(row.mount_path, row.invocation) for row in scopes}
        assert kept == {("$root", 1), *(each for each in entered if each[0] == "outer/inner")}
        assert {row.scope_id for row in scopes} == {ids.scope_id(driver.head.run.run_id, *each) for each in kept}
        steps: list[AttemptRow] = [row for row in driver.rows(AttemptRow) if row.step_index is not None]
        counted = [row.step_index for row in steps if row.node_id not in PASSAGES]
        assert counted == list(range(driver.head.run.steps))
        places = [row.step_index or 0 for row in sorted(steps, key=lambda row: row.ordinal)]
        assert places == sorted(places)


IncludeMachine.TestCase.settings = tried(max_examples=150, stateful_step_count=20, deadline=None)
TestIncludesAgainstModel = IncludeMachine.TestCase
