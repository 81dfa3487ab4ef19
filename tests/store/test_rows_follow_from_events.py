"""For every generated history the stored rows are what the events say, and the store keeps a plain model's promises.

The model knows only what a user would: which runs are over, paused, decided, and how many steps they have. The
machine asks for anything at any time; what the store refuses must have changed nothing.
"""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lockgate.flow import transitions as t
from lockgate.flow.fold import PRIMARY_KEYS, UNFOLDED, fold
from lockgate.model import records as r
from lockgate.model.errors import ClaimLost, Refused
from lockgate.model.events import link
from lockgate.model.statuses import EffectStatus, Outcome, RunStatus
from lockgate.store import claims, commands, hosts, reads
from lockgate.store.heads import graph_of
from lockgate.store.rows import read_row

from .conftest import ADA, HOST, USER, Bench, value

TABLES = {
    r.AttemptRow: "node_attempts",
    r.IntervalRow: "attempt_active_intervals",
    r.RequestRow: "requests",
    r.DecisionRow: "human_decisions",
    r.ResolutionRow: "human_decision_resolutions",
    r.SubmissionRow: "submissions",
    r.EffectRow: "effects",
    r.EffectAttemptRow: "effect_attempts",
    r.UpdateRow: "workflow_updates",
    r.SourceRow: "run_sources",
}

CHAINED = ("run_id", "seq", "type", "at", "actor", "attempt_id", "payload")


def stored_rows(bench: Bench, kind: type, run_id: str) -> dict[tuple[Any, ...], Any]:
    rows = bench.file.connection.execute(f"SELECT * FROM {TABLES[kind]} WHERE run_id = ?", (run_id,)).fetchall()
    found = (read_row(kind, row) for row in rows)
    return {tuple(getattr(row, name) for name in PRIMARY_KEYS[kind]): row for row in found}


def check_rows(bench: Bench, run_id: str) -> None:
    """The rows of a run equal the fold of its events, and its chain holds."""
    events = bench.read(lambda connection: reads.trace(connection, run_id, limit=100_000))
    row = bench.read(lambda connection: reads.run(connection, run_id)).row
    folded = fold(events, bench.read(lambda connection: graph_of(connection, row.definition_digest)))
    assert folded.head is not None
    assert row == folded.head.run
    queue = bench.file.connection.execute("SELECT * FROM run_queue WHERE run_id = ?", (run_id,)).fetchone()
    bare = dict.fromkeys(UNFOLDED)
    assert msgspec.structs.replace(read_row(r.QueueRow, queue), **bare) == msgspec.structs.replace(
        folded.head.queue, **bare
    )
    for kind in TABLES:
        assert stored_rows(bench, kind, run_id) == folded.tables[kind], kind
    prev = None
    for event in events:
        facts = {
            name: getattr(event, name) for name in ("run_id", "seq", "type", "at", "actor", "attempt_id", "payload")
        }
        assert event.hash == link(prev=prev, **facts)
        prev = event.hash
    assert row.chain_head == prev


class Known:
    """What the plain model knows of a run."""

    def __init__(self) -> None:
        self.over = False
        self.paused = False
        self.steps = 0
        self.choices: dict[str, str] = {}


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.bench = Bench(self.directory / "state.sqlite")
        self.known: dict[str, Known] = {}
        self.claims: dict[str, list[r.ClaimToken]] = {}
        self.touched: set[str] = set()

    def teardown(self) -> None:
        for run_id in self.known:
            check_rows(self.bench, run_id)
        self.bench.close()
        shutil.rmtree(self.directory)

    runs = st.integers(0, 1)
    steps_back = st.integers(0, 1)

    def pick(self, number: int) -> str:
        run_id = list(self.known)[number % len(self.known)]
        self.touched.add(run_id)
        return run_id

    def detail(self, run_id: str) -> r.RunDetail:
        found: r.RunDetail = self.bench.read(lambda connection: reads.run(connection, run_id))
        return found

    def unchanged(self, act: Callable[[], bool]) -> bool:
        """Runs `act`; when it says that it was refused, no event may have come of it."""
        before = self.bench.read(reads.latest_event_seq)
        taken = act()
        if not taken:
            assert self.bench.read(reads.latest_event_seq) == before
        return taken

    @initialize()
    def begin(self) -> None:
        self.start()

    @precondition(lambda self: len(self.known) < 2)
    @rule()
    def start(self) -> None:
        run_id = self.bench.run_id()
        self.known[run_id] = Known()
        self.claims[run_id] = []

    @rule(ms=st.sampled_from([0, 1, 900, 40_000, 70_000]), wall=st.sampled_from([0, 0, -3_600_000]))
    def time_passes(self, ms: int, wall: int) -> None:
        self.bench.clock.pass_ms(ms)
        self.bench.clock.wall_ms += wall

    def a_host_claims(self, number: int) -> None:
        run_id = self.pick(number)

        def act() -> bool:
            try:
                self.claims[run_id].append(self.bench.claim(run_id))
                return True
            except Refused:
                return False

        if self.unchanged(act):
            assert not self.known[run_id].over
            assert not self.known[run_id].paused

    def the_worker_is_ready(self, number: int, back: int) -> None:
        self.with_claim(number, back, lambda claim: self.bench.ready(claim) is not None)

    def the_claim_is_given_back(self, number: int, back: int) -> None:
        self.with_claim(number, back, lambda claim: bool(self.bench.write(lambda tx: claims.release(tx, claim))))

    def the_worker_is_lost(self, number: int, counted: bool, progressed: bool) -> None:
        run_id = self.pick(number)
        for claim in self.claims[run_id][-1:]:
            self.bench.write(
                lambda tx, generation=claim.generation: claims.lose(
                    tx,
                    run_id,
                    generation,
                    cause="exit",
                    counted=counted,
                    progressed=progressed,
                    actor=HOST.actor,
                )
            )

    @rule(
        number=runs,
        what=st.sampled_from(["lost", "lost", "uncounted", "given back", "late ready", "takeover"]),
        progressed=st.sampled_from([True, True, False]),
    )
    def the_owner_changes(self, number: int, what: str, progressed: bool) -> None:
        if what == "takeover":
            self.a_new_host_takes_over()
        elif what == "given back":
            self.the_claim_is_given_back(number, 0)
        elif what == "late ready":
            self.the_worker_is_ready(number, 1)
        else:
            self.the_worker_is_lost(number, what == "lost", progressed)

    def with_claim(self, number: int, back: int, act: Callable[[r.ClaimToken], bool]) -> None:
        run_id = self.pick(number)
        held = self.claims[run_id]
        if not held:
            return
        claim = held[max(0, len(held) - 1 - back)]

        def guarded() -> bool:
            try:
                return act(claim)
            except (Refused, ClaimLost):
                return False

        if self.unchanged(guarded):
            assert claim is held[-1], "only the newest claim may change anything"

    @rule(
        number=runs,
        back=st.sampled_from([0, 0, 0, 1]),
        moves=st.integers(1, 8),
        failed=st.sampled_from([False, False, False, True]),
        settle=st.sampled_from([EffectStatus.APPLIED, *EffectStatus]),
    )
    def the_run_moves(self, number: int, back: int, moves: int, failed: bool, settle: EffectStatus) -> None:
        """What a host and its worker would do next, several times; sometimes a late worker does it."""
        for _ in range(moves):
            run_id = self.pick(number)
            queue = self.detail(run_id).run.queue
            if queue == "queued":
                self.a_host_claims(number)
            elif queue == "starting":
                self.the_worker_is_ready(number, back)
            else:
                self.with_claim(number, back, lambda claim: self.goes_on(claim, failed, settle))

    @rule(number=runs)
    def the_run_goes_far(self, number: int) -> None:
        """Undisturbed until it waits for somebody or is over."""
        self.the_run_moves(number, 0, 12, False, EffectStatus.APPLIED)

    def goes_on(self, claim: r.ClaimToken, failed: bool, settle: EffectStatus) -> bool:
        detail = self.detail(claim.run_id)
        active = next((a for a in detail.attempts if a.finished_at is None), None)
        if active is None or active.status == "interrupted":
            return self.begins(claim, detail)
        return self.works(claim, active, failed, settle, detail)

    def begins(self, claim: r.ClaimToken, detail: r.RunDetail) -> bool:
        done = [a for a in detail.attempts if a.step_index is not None]
        if not done:
            node: str | None = "work"
        else:
            graph = self.bench.read(lambda connection: graph_of(connection, detail.row.definition_digest))
            node = graph.next(done[-1].node_id, done[-1].outcome, done[-1].switch_value)
        if node is None:
            last = done[-1]
            status = RunStatus.COMPLETED if last.outcome == "ok" else RunStatus.FAILED
            output = last.output_hash if last.outcome == "ok" else None
            taken = self.bench.propose(claim, t.Finish(status=status, output_hash=output)).outcome == "accepted"
            self.known[claim.run_id].over |= taken
            return taken
        begin = t.StartAttempt(attempt_id=self.bench.new_attempt(), node_id=node)
        return self.bench.propose(claim, begin).outcome == "accepted"

    def works(
        self, claim: r.ClaimToken, active: r.AttemptRow, failed: bool, settle: EffectStatus, detail: r.RunDetail
    ) -> bool:
        asked = next((q for q in detail.requests if q.attempt_id == active.attempt_id), None)
        effect = next((e for e in detail.effects if (e.node_id, e.visit) == (active.node_id, active.visit)), None)
        if active.node_id == "send" and (effect is None or effect.status in ("rejected", "applying")):
            if effect is None or effect.attempt_id != active.attempt_id:
                self.bench.effect(claim, active.attempt_id, settle=False)
                return self.detail(claim.run_id).row.revision > detail.row.revision
            if effect.status == "applying":
                ended = t.SettleEffect(attempt_id=active.attempt_id, effect_id=effect.effect_id, status=settle)
                return self.bench.propose(claim, ended).outcome == "accepted"
        if active.node_id in ("ask", "decide") and asked is None and not failed:
            wait = self.bench.ask if active.node_id == "ask" else self.bench.decide
            return wait(claim, active.attempt_id).outcome == "accepted"
        return self.finishes(claim, active, failed, asked)

    def finishes(self, claim: r.ClaimToken, active: r.AttemptRow, failed: bool, asked: r.RequestRow | None) -> bool:
        made = value({"at": active.ordinal})
        output, switch = made.hash, None
        if asked is not None and asked.output_hash is not None:
            output, failed = asked.output_hash, False
            switch = self.known[claim.run_id].choices.get(asked.request_id)
        ended = t.FinishAttempt(
            attempt_id=active.attempt_id,
            outcome=Outcome.FAILED if failed else Outcome.OK,
            output_hash=None if failed else output,
            error_hash=made.hash if failed else None,
            switch_value=switch,
        )
        taken = self.bench.propose(claim, ended, values=(made,)).outcome == "accepted"
        self.known[claim.run_id].steps += taken
        return taken

    @rule(number=runs, what=st.sampled_from(["pause", "resume", "resume", "cancel", "resolve"]), sure=st.booleans())
    def somebody_commands(self, number: int, what: str, sure: bool) -> None:
        run_id = self.pick(number)
        if what == "resolve":
            self.a_person_resolves(number, sure)
            return
        if what == "cancel" and not (sure and self.known[run_id].steps > 3):
            what = "resume"
        known = self.known[run_id]
        act = getattr(commands, what)
        receipt = self.bench.write(lambda tx: act(tx, run_id, actor=USER, key=self.bench.key()))
        if known.over:
            assert receipt.outcome == "rejected"
        if receipt.outcome in ("accepted", "adopted"):
            known.paused = what == "pause" or (known.paused and what == "cancel")
            known.over = known.over or what == "cancel"
            known.paused = known.paused and not known.over

    @rule(number=runs, choice=st.sampled_from(["go", "again", "stop"]), how=st.sampled_from(["person", "deadline"]))
    def somebody_answers(self, number: int, choice: str, how: str) -> None:
        run_id = self.pick(number)
        known = self.known[run_id]
        for request in self.detail(run_id).requests[-1:]:
            if request.kind == "checkpoint":
                checked = self.bench.read(
                    lambda connection, id=request.request_id: commands.check_submission(connection, id, {"n": 1})
                )
                receipt = self.bench.write(
                    lambda tx, checked=checked: commands.submit(tx, checked, actor=USER, key=self.bench.key())
                )
            elif how == "deadline":
                receipt = self.bench.write(lambda tx, id=request.request_id: commands.expire(tx, id))
                choice = "stop"
            else:
                text = "because" if choice == "again" else None
                receipt = self.bench.answer(request.request_id, request.digest, choice, text=text)
            if receipt.outcome == "accepted":
                assert request.request_id not in known.choices, "a decision never changes"
                assert not known.over
                assert not known.paused
                known.choices[request.request_id] = choice

    def a_person_resolves(self, number: int, happened: bool) -> None:
        run_id = self.pick(number)
        for effect in self.detail(run_id).effects:
            receipt = self.bench.write(
                lambda tx, id=effect.effect_id: commands.resolve_effect(
                    tx, id, happened=happened, output=b"1", human=ADA, key=self.bench.key()
                )
            )
            assert (receipt.outcome == "accepted") == (effect.status == "ambiguous")

    def a_new_host_takes_over(self) -> None:
        identity = hosts.Identity(host_id="host-1", pid=1, process_start="1", capacity=4)
        self.bench.write(lambda tx: hosts.take_over(tx, identity, lambda pid, start: False))
        self.touched.update(self.known)

    @invariant()
    def the_rows_are_what_the_model_says(self) -> None:
        for run_id in self.touched:
            detail, known = self.detail(run_id), self.known[run_id]
            assert detail.row.status.is_terminal == known.over
            assert detail.row.paused == known.paused
            assert detail.row.steps == known.steps
            decided = {s.decision_id: s.choice for s in detail.resolutions if s.choice is not None}
            assert decided == {id: known.choices[id] for id in decided}
            assert detail.row.waiting_ms >= 0
        self.touched.clear()


TestHistories = Machine.TestCase
TestHistories.settings = settings(
    max_examples=30,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def test_a_whole_run_is_its_events(bench: Bench) -> None:
    run_id, request_id, digest = bench.at_decision()
    bench.answer(request_id, digest)
    bench.answer(request_id, digest, "stop")
    bench.complete(run_id)
    check_rows(bench, run_id)
