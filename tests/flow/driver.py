"""Drives the law in memory: a head, its events, and the facts read from the fold. No store, a clock by hand."""

from typing import Any

from lockgate.flow import law
from lockgate.flow import transitions as t
from lockgate.flow.choices import Choice, Default, TextInput
from lockgate.flow.fold import Fold, fold
from lockgate.flow.graph import VERSION, Edge, EffectSpec, Graph, NodeSpec, SettingsSpec, Switch
from lockgate.flow.head import Facts, RunHead
from lockgate.flow.patches import SettingsRule
from lockgate.model import ids
from lockgate.model.encoding import sha256
from lockgate.model.events import Birth, Event
from lockgate.model.records import (
    Actor,
    AttemptRow,
    ClaimView,
    Current,
    DecisionRow,
    EffectRow,
    Human,
    Now,
    Policy,
    RequestRow,
    ResolutionRow,
    Row,
    Run,
)
from lockgate.model.statuses import (
    ActorKind,
    AttemptStatus,
    BlockCode,
    EffectStatus,
    Intent,
    NodeKind,
    Outcome,
    OwnerKind,
    Recovery,
    RequestKind,
    RunStatus,
)

START = 1_764_424_800_000
CHOICES = (
    Choice(key="go", label="Go on", intent=Intent.APPROVE),
    Choice(
        key="again",
        label="Once more",
        input=TextInput(name="why", prompt="Why?", min_length=1, max_length=40),
    ),
    Choice(key="stop", label="Stop here", intent=Intent.REJECT),
)

GRAPH = Graph(
    version=VERSION,
    name="sample",
    start="work",
    max_steps=40,
    nodes={
        "work": NodeSpec(kind=NodeKind.COMPUTE),
        "safe": NodeSpec(
            kind=NodeKind.SHELL,
            effect=EffectSpec(type="build", recovery=Recovery.IDEMPOTENT),
            timeout_ms=60_000,
        ),
        "once": NodeSpec(kind=NodeKind.ACTION, effect=EffectSpec(type="send", recovery=Recovery.MANUAL)),
        "ask": NodeSpec(kind=NodeKind.CHECKPOINT, contract={"type": "object"}),
        "decide": NodeSpec(
            kind=NodeKind.HUMAN_DECISION,
            audience="operator",
            choices=CHOICES,
            default=Default(choice="stop", after_ms=60_000),
        ),
        "end": NodeSpec(kind=NodeKind.COMPUTE, timeout_computed=True),
    },
    edges=(
        Edge(source="work", to="safe"),
        Edge(source="safe", switch=Switch(on="$result.outcome", cases={"ok": "once", "failed": "work"})),
        Edge(source="once", to="ask"),
        Edge(source="ask", to="decide"),
        Edge(source="decide", switch=Switch(on="$.choice", cases={"go": "end", "again": "work", "stop": "end"})),
    ),
    settings=SettingsSpec(
        initial={"pace": 1},
        schema=None,
        rules=(SettingsRule(path="/pace", replace=(ActorKind.USER,)),),
        routes=("work",),
    ),
)
"""A loop over every kind of wait and effect: work -> safe -> once -> ask -> decide -> end, and back.

`work` is a route that must have seen the newest settings, and the timeout of `end` is computed.
"""

HUMAN = Human.for_test("ada")
USER = Actor(kind=ActorKind.USER, id="bo")
HOST = Actor(kind=ActorKind.HOST, id="host-1")
WORKER = Actor(kind=ActorKind.WORKER, id="worker-1")


def hashed(text: str) -> str:
    return sha256(text.encode())


def pace(number: int) -> str:
    """The settings, as they are stored."""
    return f'{{"pace":{number}}}'


class Driver:
    """One run. Every call applies one transition and remembers its events; refusals change nothing."""

    def __init__(self, graph: Graph = GRAPH, run_id: str = "20251129T140000Z-sample-0a1b2c3d") -> None:
        self.graph = graph
        self.clock = Now(wall_ms=START, boot_id="boot-1", mono_ms=1_000_000)
        self.made = 0
        self.policy: Policy | None = None
        self.has_child = False
        birth = Birth(
            workflow=graph.name,
            definition_digest=hashed("definition"),
            workflow_ref="/tmp/sample.py:sample",
            project_dir="/tmp",
            title="A title",
            input_hash=hashed("{}"),
            sources_hash=hashed("sources"),
            started_by="bo",
            started_by_uid=1000,
            parent_run_id=None,
            parent_revision=None,
            root_run_id=run_id,
            restart_number=0,
            settings_hash=hashed(pace(1)),
        )
        outcome = law.start(t.Start(run_id=run_id, birth=birth), graph, now=self.clock, actor=USER)
        self.head: RunHead = outcome.head
        self.events: list[Event] = list(outcome.events)
        self.folded: Fold = fold(self.events, graph)

    @property
    def time(self) -> int:
        """The run's own time, which never goes back: its deadline is judged by it."""
        return max(self.clock.wall_ms, self.head.run.last_at)

    def tick(self, ms: int) -> "Driver":
        """Both clocks go on."""
        now = self.clock
        self.clock = Now(wall_ms=now.wall_ms + ms, boot_id=now.boot_id, mono_ms=now.mono_ms + ms)
        return self

    def jump(self, ms: int) -> "Driver":
        """Only the wall clock changes."""
        now = self.clock
        self.clock = Now(wall_ms=now.wall_ms + ms, boot_id=now.boot_id, mono_ms=now.mono_ms)
        return self

    def reboot(self, boot_id: str) -> "Driver":
        self.clock = Now(wall_ms=self.clock.wall_ms + 60_000, boot_id=boot_id, mono_ms=5_000)
        return self

    def apply(self, transition: Any, actor: Actor = USER) -> dict[str, Any]:
        """Raises what the law raises; the driver is then as it was."""
        outcome = law.apply(self.head, transition, now=self.clock, actor=actor, facts=self.facts(transition))
        for event in outcome.events:
            self.folded.add(event)
        self.head = outcome.head
        self.events.extend(outcome.events)
        return outcome.result

    def rows(self, kind: type) -> list[Any]:
        return list(self.folded.tables[kind].values())

    def facts(self, transition: Any) -> Facts:
        if isinstance(transition, t.StartAttempt):
            return self._attempt_facts(transition.node_id)
        if isinstance(transition, t.Answer | t.Submit | t.Expire):
            return self._request_facts(transition.request_id)
        if isinstance(transition, t.ResolveEffect):
            found = [row for row in self.rows(EffectRow) if row.effect_id == transition.effect_id]
            return Facts(effect=found[0] if found else None)
        if isinstance(transition, t.WaitForInput):
            return Facts(policy=self.policy)
        if isinstance(transition, t.CheckRestart):
            open_ones = (EffectStatus.APPLYING, EffectStatus.AMBIGUOUS)
            return Facts(unsettled_effects=sum(row.status in open_ones for row in self.rows(EffectRow)))
        return Facts()

    def _attempt_facts(self, node: str) -> Facts:
        attempts: list[AttemptRow] = self.rows(AttemptRow)
        mine = [row for row in attempts if row.node_id == node]
        finished = sum(row.step_index is not None for row in mine)
        return Facts(
            attempt_number=max((row.attempt_number for row in mine), default=0),
            next_visit=1 + finished,
        )

    def _request_facts(self, request_id: str) -> Facts:
        def one(kind: type, name: str) -> Row | None:
            return next((row for row in self.rows(kind) if getattr(row, name) == request_id), None)

        request, decision = one(RequestRow, "request_id"), one(DecisionRow, "decision_id")
        resolution = one(ResolutionRow, "decision_id")
        assert request is None or isinstance(request, RequestRow)
        assert decision is None or isinstance(decision, DecisionRow)
        assert resolution is None or isinstance(resolution, ResolutionRow)
        return Facts(request=request, decision=decision, resolution=resolution)

    # --- the usual moves ---------------------------------------------------------------------------------

    def claim(self) -> "Driver":
        self.made += 1
        self.apply(
            t.Claim(
                token_hash=hashed(f"token-{self.made}"), owner_kind=OwnerKind.HOST, owner_id="host-1", host_epoch=1
            ),
            HOST,
        )
        return self

    def ready(self) -> "Driver":
        self.apply(t.Ready(), WORKER)
        return self

    def run_up(self) -> "Driver":
        return self.claim().tick(5).ready()

    def begin(self, node: str) -> str:
        self.made += 1
        attempt_id = f"attempt-{self.made:032x}"
        timeout = self.graph.node(node).timeout_ms
        self.apply(t.StartAttempt(attempt_id=attempt_id, node_id=node, timeout_ms=timeout), WORKER)
        return attempt_id

    def done(self, attempt_id: str, *, switch: str | None = None, output: str = "null") -> "Driver":
        self.apply(
            t.FinishAttempt(attempt_id=attempt_id, outcome=Outcome.OK, output_hash=hashed(output), switch_value=switch),
            WORKER,
        )
        return self

    def step(self, node: str, *, switch: str | None = None) -> "Driver":
        attempt_id = self.begin(node)
        self.tick(10)
        return self.done(attempt_id, switch=switch)

    def reserve(self, attempt_id: str, node: str) -> dict[str, Any]:
        spec = self.graph.node(node).effect
        assert spec is not None
        return self.apply(t.ReserveEffect(attempt_id=attempt_id, effect_type=spec.type, recovery=spec.recovery), WORKER)

    def settle(self, attempt_id: str, effect_id: str, status: EffectStatus) -> "Driver":
        self.apply(
            t.SettleEffect(attempt_id=attempt_id, effect_id=effect_id, status=status, result_hash=hashed("result")),
            WORKER,
        )
        return self

    def effect_step(self, node: str, *, switch: str | None = None) -> "Driver":
        attempt_id = self.begin(node)
        got = self.reserve(attempt_id, node)
        if got["answer"] != "adopted":
            self.settle(attempt_id, got["effect_id"], EffectStatus.APPLIED)
        return self.done(attempt_id, switch=switch, output="result")

    def to_checkpoint(self) -> "Driver":
        """From the start to the pending checkpoint."""
        self.run_up().step("work").effect_step("safe", switch="ok").effect_step("once")
        return self.wait("ask")

    def to_decision(self) -> "Driver":
        """From the start to the pending human decision."""
        self.to_checkpoint().submit()
        self.tick(100).run_up()
        self.done(self.active, output="{}")
        return self.wait("decide")

    def wait(self, node: str) -> "Driver":
        attempt_id = self.begin(node)
        self.tick(3)
        ask = None
        kind = RequestKind.CHECKPOINT
        if node == "decide":
            kind = RequestKind.DECISION
            ask = t.DecisionAsk(
                audience="operator",
                title="Publish?",
                subject_hash=hashed("subject"),
                presentation_hash=hashed("presentation"),
                choices_hash=hashed("choices"),
                choices=CHOICES,
                seconds=60,
                default="stop",
            )
        self.apply(t.WaitForInput(attempt_id=attempt_id, kind=kind, contract_hash=hashed("contract"), ask=ask), WORKER)
        return self

    def publish(self, attempt_id: str) -> dict[str, Any]:
        self.made += 1
        update = t.PublishUpdate(
            attempt_id=attempt_id,
            update_id=f"update-{self.made:032x}",
            update_type="progress",
            update_key="overall",
            data_hash=hashed("{}"),
        )
        return self.apply(update, WORKER)

    def change_settings(self, number: int, expected: int, scope: str = ids.ROOT_MOUNT) -> dict[str, Any]:
        """A person sets the pace of a scope, having seen its settings at change `expected`."""
        mount, _, invocation = scope.partition("#")
        going = [each.settings for each in self.head.scopes if each.mount == mount]
        change = t.ChangeSettings(
            mount=mount,
            invocation=int(invocation or 1),
            expected_change=expected,
            patch_hash=hashed("patch"),
            before_hash=going[0].current_hash if going and going[0] else hashed(pace(1)),
            after_hash=hashed(pace(number)),
            source="test",
        )
        return self.apply(change)

    def restart(self, expected: int) -> dict[str, Any]:
        return self.apply(t.CheckRestart(expected_revision=expected))

    def block(self) -> dict[str, Any]:
        return self.apply(t.Block(code=BlockCode.SOURCE_CHANGED, detail="changed"), HOST)

    @property
    def active(self) -> str:
        assert self.head.attempt is not None
        return self.head.attempt.attempt_id

    @property
    def pending(self) -> RequestRow:
        assert self.head.request is not None
        return self.head.request

    def submit(self, *, output: str = "{}") -> dict[str, Any]:
        self.made += 1
        return self.apply(
            t.Submit(
                request_id=self.pending.request_id,
                contract_hash=hashed("contract"),
                output_hash=hashed(output),
                submission_id=f"submission-{self.made}",
                source="user",
            )
        )

    def answer(
        self, choice: str = "go", *, request: RequestRow | None = None, digest: str | None = None, human: Human = HUMAN
    ) -> dict[str, Any]:
        self.made += 1
        request = request or self.pending
        return self.apply(
            t.Answer(
                human=human,
                request_id=request.request_id,
                digest=digest or request.digest,
                choice=choice,
                response_hash=hashed(choice),
                submission_id=f"submission-{self.made}",
            ),
            human.actor,
        )

    def expire(self) -> dict[str, Any]:
        self.made += 1
        return self.apply(
            t.Expire(
                request_id=self.pending.request_id,
                response_hash=hashed("stop"),
                submission_id=f"submission-{self.made}",
            ),
            Actor(kind=ActorKind.POLICY, id="timeout"),
        )

    def lose(self, *, counted: bool = True, progressed: bool = True, cause: str = "signal") -> "Driver":
        self.apply(t.Lose(cause=cause, counted=counted, progressed=progressed, signal=9), HOST)
        return self

    def finish(self, status: RunStatus = RunStatus.COMPLETED) -> "Driver":
        last = self.head.last
        output = last.output_hash if last is not None and status is RunStatus.COMPLETED else None
        self.apply(t.Finish(status=status, output_hash=output), WORKER)
        return self

    def view(self) -> Run:
        """The run as lists show it."""
        return view(self.head)


def view(head: RunHead) -> Run:
    run, queue, attempt, request = head.run, head.queue, head.attempt, head.request
    claim = None
    if queue.token_hash is not None:
        assert queue.owner_kind is not None
        assert queue.owner_id is not None
        assert queue.boot_id is not None
        assert queue.heartbeat_mono is not None
        assert queue.heartbeat_at is not None
        claim = ClaimView(
            owner_kind=queue.owner_kind,
            owner_id=queue.owner_id,
            host_epoch=queue.host_epoch,
            boot_id=queue.boot_id,
            heartbeat_mono=queue.heartbeat_mono,
            heartbeat_at=queue.heartbeat_at,
        )
    current = None
    if attempt is not None:
        current = Current(
            node=attempt.node_id,
            attempt_id=attempt.attempt_id,
            number=attempt.attempt_number,
            kind=attempt.kind,
            status=AttemptStatus(attempt.status),
            started_at=attempt.started_at,
        )
    return Run(
        run_id=run.run_id,
        workflow=run.workflow,
        title=run.title,
        status=run.status,
        queue=queue.status,
        paused=run.paused,
        error_code=queue.error_code or run.error_code,
        error_summary=run.error_summary,
        revision=run.revision,
        started_by=run.started_by,
        created_at=run.created_at,
        updated_at=run.last_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        active_ms=run.active_ms,
        waiting_ms=run.waiting_ms,
        clock=run.clock,
        clock_since=run.clock_since,
        steps=run.steps,
        losses=queue.losses,
        available_at=queue.available_at,
        claim=claim,
        current=current,
        request_id=request.request_id if request else None,
        request_kind=request.kind if request else None,
        request_status=request.status if request else None,
        deadline_at=request.deadline_at if request else None,
        default_choice=head.decision.default_choice if head.decision else None,
        default_label=None,
    )
