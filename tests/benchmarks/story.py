"""Runs as the law would have made them, in memory: every event and row comes out of `law.start` and `law.apply`.

Nothing here knows how a row follows from an event. The clock is moved by hand, so that a history may lie in the past.
"""

import secrets
from typing import Any

import msgspec

from lockgate.flow import law
from lockgate.flow import transitions as t
from lockgate.flow.choices import Choice
from lockgate.flow.contracts import for_decision
from lockgate.flow.fold import PRIMARY_KEYS
from lockgate.flow.graph import VERSION, Edge, Graph, NodeSpec, Switch
from lockgate.flow.head import Facts, RunHead
from lockgate.flow.presentation import Paragraph, Presentation
from lockgate.model import ids
from lockgate.model.encoding import canonical, sha256, stored
from lockgate.model.events import Birth, Event
from lockgate.model.records import Actor, DecisionRow, Human, Now, RequestRow, Row
from lockgate.model.statuses import ActorKind, Intent, NodeKind, Outcome, OwnerKind, RequestKind, RunStatus

BOOT = "00000000-0000-4000-8000-000000000000"
HOST = Actor(kind=ActorKind.HOST, id="host-of-the-fixture")
WORKER = Actor(kind=ActorKind.WORKER, id="host-of-the-fixture")
USER = Actor(kind=ActorKind.USER, id="ada")
ADA = Human(id="ada", uid=1000, host="desk", tty="/dev/pts/1")
CHOICES = (
    Choice(key="go", label="Go on", intent=Intent.APPROVE),
    Choice(key="stop", label="Stop here", intent=Intent.REJECT),
)
SHOWN = Presentation("Ship what was built?", (Paragraph("Everything is green."),))


def shape(name: str) -> Graph:
    """fetch -> build -> test, over again where build says so, then a person, then the end."""
    return Graph(
        version=VERSION,
        name=name,
        start="fetch",
        max_steps=1_000_000,
        nodes={
            "fetch": NodeSpec(kind=NodeKind.COMPUTE),
            "build": NodeSpec(kind=NodeKind.COMPUTE),
            "test": NodeSpec(kind=NodeKind.COMPUTE),
            "ask": NodeSpec(kind=NodeKind.HUMAN_DECISION, audience="operator", choices=CHOICES),
            "end": NodeSpec(kind=NodeKind.COMPUTE),
        },
        edges=(
            Edge(source="fetch", to="build"),
            Edge(source="build", switch=Switch(on="$.next", cases={"again": "fetch", "test": "test", "ask": "ask"})),
            Edge(source="ask", switch=Switch(on="$.choice", cases={"go": "end", "stop": "end"})),
        ),
    )


class Values:
    """The stored values that the runs of one store name."""

    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}

    def keep(self, value: Any) -> str:
        return self.keep_bytes(stored(value))

    def keep_bytes(self, content: bytes) -> str:
        name = sha256(content)
        self.content[name] = content
        return name


class Story:
    """One run: its head, its events in order, and its rows as they are in the end."""

    def __init__(self, run_id: str, birth: Birth, graph: Graph, at_ms: int, values: Values) -> None:
        self.clock = Now(wall_ms=at_ms, boot_id=BOOT, mono_ms=at_ms)
        self.values = values
        self.events: list[Event] = []
        self.rows: dict[tuple[Any, ...], Row] = {}
        self._visits: dict[str, int] = {}
        born = law.start(t.Start(run_id=run_id, birth=birth), graph, now=self.clock, actor=USER)
        self.head: RunHead = born.head
        self._take(born)

    # --- what happens ---------------------------------------------------------------------------------------

    def claim(self) -> None:
        wish = t.Claim(token_hash=sha256(b"token"), owner_kind=OwnerKind.HOST, owner_id=HOST.id, host_epoch=1)
        self.apply(wish, HOST)
        self.apply(t.Ready(), WORKER)

    def begin(self, node: str) -> str:
        """Starts an attempt; its id."""
        number = self._visits[node] = self._visits.get(node, 0) + 1
        attempt = ids.attempt_id(secrets.token_hex(16))
        facts = Facts(attempt_number=number - 1, next_visit=number)
        self.apply(t.StartAttempt(attempt_id=attempt, node_id=node), WORKER, facts)
        return attempt

    def step(self, node: str, output: Any, ms: int, switch: str | None = None) -> None:
        """An attempt of `ms` milliseconds that ends well."""
        attempt = self.begin(node)
        self.tick(ms)
        output_hash = self.values.keep(output)
        ended = t.FinishAttempt(attempt_id=attempt, outcome=Outcome.OK, output_hash=output_hash, switch_value=switch)
        self.apply(ended, WORKER)

    def fail(self, node: str, error: str, ms: int) -> None:
        """An attempt that fails, and the run with it."""
        attempt = self.begin(node)
        self.tick(ms)
        error_hash = self.values.keep({"type": "ValueError", "message": error})
        summary = f"ValueError: {error}"
        ended = t.FinishAttempt(
            attempt_id=attempt, outcome=Outcome.FAILED, error_hash=error_hash, error_summary=summary
        )
        self.apply(ended, WORKER)
        self.apply(t.Finish(status=RunStatus.FAILED, error_hash=error_hash, error_summary=summary), WORKER)

    def complete(self) -> None:
        last = self.head.last
        assert last is not None
        self.apply(t.Finish(status=RunStatus.COMPLETED, output_hash=last.output_hash), WORKER)

    def ask(self, subject: Any, seconds: int | None = None) -> None:
        """The run waits for a person, at most `seconds`; nothing holds it any more."""
        attempt = self.begin("ask")
        ask = t.DecisionAsk(
            audience="operator",
            title="Ship it?",
            subject_hash=self.values.keep(subject),
            presentation_hash=self.values.keep_bytes(canonical(msgspec.to_builtins(SHOWN))),
            choices_hash=self.values.keep_bytes(canonical(msgspec.to_builtins(CHOICES))),
            choices=CHOICES,
            seconds=seconds,
            default="stop" if seconds is not None else None,
        )
        contract = self.values.keep_bytes(for_decision("Ship it?", SHOWN, CHOICES).encoded())
        self.apply(
            t.WaitForInput(attempt_id=attempt, kind=RequestKind.DECISION, contract_hash=contract, ask=ask), WORKER
        )

    def answer(self, choice: str) -> None:
        """Ada answers, a worker takes it up, and the run ends."""
        request, decision = self._only(RequestRow), self._only(DecisionRow)
        response = self.values.keep({"choice": choice})
        wish = t.Answer(
            human=ADA,
            request_id=request.request_id,
            digest=request.digest,
            choice=choice,
            response_hash=response,
            submission_id=ids.submission_id(request.request_id, "key"),
        )
        self.apply(wish, ADA.actor, Facts(request=request, decision=decision))
        self.tick(40)
        self.claim()
        ended = t.FinishAttempt(
            attempt_id=request.attempt_id, outcome=Outcome.OK, output_hash=response, switch_value=choice
        )
        self.apply(ended, WORKER)
        self.step("end", {"shipped": choice == "go"}, 5)
        self.complete()

    # --- how --------------------------------------------------------------------------------------------------

    def apply(self, transition: t.AnyProposal | t.AnyCommand, actor: Actor, facts: Facts | None = None) -> None:
        outcome = law.apply(self.head, transition, now=self.clock, actor=actor, facts=facts or law.NO_FACTS)
        self.head = outcome.head
        self._take(outcome)

    def tick(self, ms: int) -> None:
        now = self.clock
        self.clock = Now(wall_ms=now.wall_ms + ms, boot_id=now.boot_id, mono_ms=now.mono_ms + ms)

    def _take(self, outcome: law.Outcome) -> None:
        self.events += outcome.events
        for row in outcome.rows:
            kind = type(row)
            self.rows[(kind, *(getattr(row, name) for name in PRIMARY_KEYS[kind]))] = row

    def _only(self, kind: type[Any]) -> Any:
        return next(row for row in self.rows.values() if type(row) is kind)
