"""A real store on tmp_path, a clock moved by hand, and runs of a small graph that goes through every wait."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lockgate.flow import transitions as t
from lockgate.flow.choices import Choice, Default, TextInput
from lockgate.flow.contracts import for_checkpoint, for_decision
from lockgate.flow.definition import Definition
from lockgate.flow.graph import VERSION, Edge, EffectSpec, Graph, NodeSpec, SettingsSpec, Switch
from lockgate.flow.patches import SettingsRule
from lockgate.flow.presentation import Paragraph, Presentation
from lockgate.model.encoding import canonical, sha256, stored
from lockgate.model.ids import ROOT_MOUNT, attempt_id
from lockgate.model.records import Actor, ClaimToken, Continuation, Human, Now, Receipt, Reply, Value
from lockgate.model.statuses import ActorKind, Intent, NodeKind, Outcome, OwnerKind, Recovery, RequestKind, RunStatus
from lockgate.store import claims, commands, commits
from lockgate.store.claims import Owner
from lockgate.store.commands import NewRun
from lockgate.store.openfile import OpenFile, Transaction, open_file

BOOT = "boot-1"
START_MS = 1_764_424_800_000
USER = Actor(kind=ActorKind.USER, id="bo")
ADA = Human.for_test("ada")
HOST = Owner(kind=OwnerKind.HOST, id="host-1", host_epoch=1)
CHOICES = (
    Choice(key="go", label="Go on", intent=Intent.APPROVE),
    Choice(key="again", label="Once more", input=TextInput(name="why", prompt="Why?", max_length=40)),
    Choice(key="stop", label="Stop here", intent=Intent.REJECT),
)
SHOWN = Presentation("Release?", (Paragraph("All of it."),))


def graph(name: str = "sample") -> Graph:
    """work -> send (manual effect) -> ask (checkpoint) -> decide -> end, or back to work."""
    return Graph(
        version=VERSION,
        name=name,
        start="work",
        max_steps=10_100,
        nodes={
            "work": NodeSpec(kind=NodeKind.COMPUTE),
            "send": NodeSpec(kind=NodeKind.ACTION, effect=EffectSpec(type="send", recovery=Recovery.MANUAL)),
            "ask": NodeSpec(kind=NodeKind.CHECKPOINT, contract={"type": "object", "required": ["n"]}),
            "decide": NodeSpec(
                kind=NodeKind.HUMAN_DECISION,
                audience="operator",
                choices=CHOICES,
                default=Default(choice="stop", after_ms=60_000),
            ),
            "end": NodeSpec(kind=NodeKind.COMPUTE),
        },
        edges=(
            Edge(source="work", to="send"),
            Edge(source="send", to="ask"),
            Edge(source="ask", to="decide"),
            Edge(source="decide", switch=Switch(on="$.choice", cases={"go": "end", "again": "work", "stop": "end"})),
        ),
        settings=SettingsSpec(
            initial={"pace": 1}, schema=None, rules=(SettingsRule(path="/pace", replace=(ActorKind.USER,)),)
        ),
    )


def loop_graph(name: str = "loop") -> Graph:
    """work and back, for as many steps as one likes."""
    return Graph(
        version=VERSION,
        name=name,
        start="work",
        max_steps=1_000_000,
        nodes={"work": NodeSpec(kind=NodeKind.COMPUTE)},
        edges=(Edge(source="work", to="work"),),
    )


class HandClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.wall_ms = START_MS
        self.mono_ms = 1_000_000
        self.boot_id = BOOT

    def now(self) -> Now:
        return Now(wall_ms=self.wall_ms, boot_id=self.boot_id, mono_ms=self.mono_ms)

    def pass_ms(self, ms: int) -> None:
        self.wall_ms += ms
        self.mono_ms += ms


def value(content: Any) -> Value:
    encoded = stored(content)
    return Value(hash=sha256(encoded), content=encoded)


def definition(shape: Graph | None = None, ref: str = "/project/sample.py:sample") -> Definition:
    made = shape or graph()
    return Definition(
        workflow=made.name,
        workflow_ref=ref,
        project_dir="/project",
        document=msgspec.json.encode(made),
        sources={"/project/sample.py": "a" * 64},
    )


class Bench:
    """A store file under test with a clock by hand: starts runs and walks them, transaction by transaction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = HandClock()
        self.file: OpenFile = open_file(path, self.clock, create=True)
        # What is tested here does not depend on the disk; tests of durability say so themselves.
        self.file.connection.execute("PRAGMA synchronous=OFF")
        self.numbers = iter(range(1, 1_000_000))

    def write(self, fn: Any) -> Any:
        return self.file.write(fn, self.clock)

    def read(self, fn: Any) -> Any:
        return self.file.read(fn)

    def key(self) -> str:
        return f"key-{next(self.numbers)}"

    def new_attempt(self) -> str:
        return attempt_id(f"{next(self.numbers):032x}")

    def start(self, made: Definition | None = None, key: str | None = None, **more: Any) -> Receipt:
        facts = {"input": b"{}", "title": "A title", "started_by": "bo", "started_by_uid": 1000, **more}
        new = NewRun(definition=made or definition(), **facts)
        receipt: Receipt = self.write(lambda tx: commands.start(tx, new, actor=USER, key=key or self.key()))
        return receipt

    def run_id(self, **more: Any) -> str:
        receipt = self.start(**more)
        assert receipt.run_id is not None
        return receipt.run_id

    def claim(self, run_id: str, owner: Owner = HOST) -> ClaimToken:
        token: ClaimToken = self.write(lambda tx: claims.claim(tx, run_id, owner)).claim
        return token

    def ready(self, claim: ClaimToken, sources: dict[str, str] | None = None) -> Continuation:
        known = definition().sources if sources is None else sources
        continuation: Continuation = self.write(lambda tx: claims.ready(tx, claim, known))
        return continuation

    def propose(self, claim: ClaimToken, *proposals: t.AnyProposal, values: tuple[Value, ...] = ()) -> Reply:
        reply: Reply = self.write(lambda tx: commits.commit_proposals(tx, claim, proposals, values))
        return reply

    def begin(self, claim: ClaimToken, node: str) -> str:
        attempt = self.new_attempt()
        reply = self.propose(claim, t.StartAttempt(attempt_id=attempt, node_id=node))
        assert reply.outcome == "accepted", reply
        return attempt

    def finish(self, claim: ClaimToken, attempt: str, output: Any, switch: str | None = None) -> Reply:
        made = value(output)
        ended = t.FinishAttempt(attempt_id=attempt, outcome=Outcome.OK, output_hash=made.hash, switch_value=switch)
        return self.propose(claim, ended, values=(made,))

    def step(self, claim: ClaimToken, node: str, output: Any = None) -> Reply:
        return self.finish(claim, self.begin(claim, node), output)

    def ask(self, claim: ClaimToken, attempt: str) -> Reply:
        """The checkpoint's wait."""
        contract = for_checkpoint("Give me a number", {"type": "object", "required": ["n"]}).encoded()
        wait = t.WaitForInput(attempt_id=attempt, kind=RequestKind.CHECKPOINT, contract_hash=sha256(contract))
        return self.propose(claim, wait, values=(Value(hash=sha256(contract), content=contract),))

    def decide(self, claim: ClaimToken, attempt: str, seconds: int | None = 60) -> Reply:
        """The decision's wait, with its deadline."""
        parts = {
            "contract_hash": for_decision("Release it?", SHOWN, CHOICES).encoded(),
            "subject_hash": stored({"tag": "v1"}),
            "presentation_hash": canonical(msgspec.to_builtins(SHOWN)),
            "choices_hash": canonical(msgspec.to_builtins(CHOICES)),
        }
        hashes = {name: sha256(content) for name, content in parts.items()}
        ask = t.DecisionAsk(
            audience="operator",
            title="Release it?",
            subject_hash=hashes["subject_hash"],
            presentation_hash=hashes["presentation_hash"],
            choices_hash=hashes["choices_hash"],
            choices=CHOICES,
            seconds=seconds,
            default="stop" if seconds else None,
        )
        wait = t.WaitForInput(
            attempt_id=attempt, kind=RequestKind.DECISION, contract_hash=hashes["contract_hash"], ask=ask
        )
        values = tuple(Value(hash=sha256(content), content=content) for content in parts.values())
        return self.propose(claim, wait, values=values)

    def effect(self, claim: ClaimToken, attempt: str, settle: bool = True) -> str:
        reply = self.propose(claim, t.ReserveEffect(attempt_id=attempt, effect_type="send", recovery=Recovery.MANUAL))
        assert reply.outcome == "accepted", reply
        effect: str = reply.results[0]["effect_id"]
        if settle:
            from lockgate.model.statuses import EffectStatus

            done = t.SettleEffect(attempt_id=attempt, effect_id=effect, status=EffectStatus.APPLIED)
            assert self.propose(claim, done).outcome == "accepted"
        return effect

    def at_checkpoint(self, **more: Any) -> tuple[str, str]:
        """A run that waits at its checkpoint: (run id, request id)."""
        run_id = self.run_id(**more)
        claim = self.claim(run_id)
        self.ready(claim)
        self.step(claim, "work", 1)
        attempt = self.begin(claim, "send")
        self.effect(claim, attempt)
        self.finish(claim, attempt, 2)
        reply = self.ask(claim, self.begin(claim, "ask"))
        assert reply.outcome == "accepted", reply
        return run_id, reply.results[0]["request_id"]

    def at_decision(self, seconds: int | None = 60, **more: Any) -> tuple[str, str, str]:
        """A run that waits for a person: (run id, request id, digest)."""
        run_id, request_id = self.at_checkpoint(**more)
        checked = self.read(lambda connection: commands.check_submission(connection, request_id, {"n": 1}))
        self.write(lambda tx: commands.submit(tx, checked, actor=USER, key=self.key()))
        claim = self.claim(run_id)
        current = self.ready(claim).current
        assert current is not None
        self.finish(claim, current.attempt_id, {"n": 1})
        reply = self.decide(claim, self.begin(claim, "decide"), seconds)
        assert reply.outcome == "accepted", reply
        return run_id, reply.results[0]["request_id"], reply.results[0]["digest"]

    def answer(self, request_id: str, digest: str, choice: str = "go", **more: Any) -> Receipt:
        facts = {"text": None, "human": ADA, "key": self.key(), **more}
        receipt: Receipt = self.write(lambda tx: commands.answer(tx, request_id, choice, digest=digest, **facts))
        return receipt

    def complete(self, run_id: str) -> Reply:
        """From an accepted `go` to the end of the run."""
        claim = self.claim(run_id)
        current = self.ready(claim).current
        assert current is not None
        self.finish(claim, current.attempt_id, {"choice": "go"}, switch="go")
        self.step(claim, "end", "done")
        return self.propose(claim, t.Finish(status=RunStatus.COMPLETED, output_hash=value("done").hash))

    def close(self) -> None:
        self.file.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "state.sqlite")
    yield made
    made.close()


def change_settings(
    tx: Transaction, run_id: str, patch: Any, *, actor: Actor, key: str, scope: str = ROOT_MOUNT, **more: Any
) -> Receipt:
    """Patches and commits in one transaction, where nobody can come between."""
    patched = commands.patch_settings(tx.connection, run_id, patch, actor=actor, scope=scope)
    return commands.change_settings(tx, patched=patched, actor=actor, key=key, **more)


def written(tx: Transaction) -> int:
    """How many events the store has."""
    count: int = tx.connection.execute("SELECT count(*) FROM events").fetchone()[0]
    return count
