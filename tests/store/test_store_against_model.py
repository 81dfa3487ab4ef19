"""A real store agrees with the plain model of the law, whatever is asked in whatever order, and whatever crashes.

The rules and the model are those of the law's own test; only here every proposal and command goes through a file:
by two connections in turn, under a clock that jumps and machines that reboot, and with crashes before and after
COMMIT. After a crash the connection is dropped without a close, another process's copy of the files is recovered,
and what was asked is asked again under the same key.
"""

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from lockgate.flow import transitions as t
from lockgate.flow.fold import PRIMARY_KEYS
from lockgate.flow.graph import Graph
from lockgate.flow.head import RunHead
from lockgate.model import records as r
from lockgate.model.encoding import sha256
from lockgate.model.errors import ClaimLost, NotFound, Refused
from lockgate.model.events import Event
from lockgate.model.ids import ROOT_MOUNT
from lockgate.model.statuses import BlockCode
from lockgate.store import claims, commands, commits, heads, reads
from lockgate.store.audit import audit
from lockgate.store.audit_rows import TABLES
from lockgate.store.openfile import OpenFile, Transaction, open_file
from lockgate.store.rows import read_rows
from tests.flow.driver import CHOICES, GRAPH, HUMAN, USER, Driver, pace
from tests.flow.test_law_against_model import LawMachine

from . import conftest
from .conftest import HOST, Bench, change_settings, definition

assert CHOICES == conftest.CHOICES
TEXTS = ("null", "result", "{}", *(pace(number) for number in (1, 2, 3)))
VALUES = tuple(r.Value(hash=sha256(text.encode()), content=text.encode()) for text in TEXTS)


class HereAndNow(Bench):
    """The bench's waits, in a transaction that is open."""

    def __init__(self, tx: Transaction) -> None:
        self.tx = tx

    def propose(self, claim: r.ClaimToken, *proposals: t.AnyProposal, values: tuple[r.Value, ...] = ()) -> r.Reply:
        return commits.commit_proposals(self.tx, claim, proposals, values)


class Folded:
    """The stored rows, in the shape in which the law's driver keeps its fold."""

    def __init__(self, tables: dict[type, dict[tuple[Any, ...], Any]]) -> None:
        self.tables = tables


class StoreDriver(Driver):
    """Drives a run in a store as the law's driver does in memory; `crash` spoils the next transaction."""

    def __init__(self, graph: Graph = GRAPH) -> None:
        self.room = Path(tempfile.mkdtemp())
        self.clock = r.Now(wall_ms=conftest.START_MS, boot_id="boot-1", mono_ms=1_000_000)
        self.graph, self.made, self.policy, self.has_child = graph, 0, None, False
        self.crash: str | None = None
        self.crashes = 0
        self.token: r.ClaimToken | None = None
        self.dropped: list[OpenFile] = []
        self.path = self.room / "0.sqlite"
        self.files = [self.opened(create=True), self.opened()]
        self.known: list[Event] = []
        self.seen: dict[Any, Any] = {}
        made = commands.NewRun(
            definition=definition(graph), input=b"{}", title="A title", started_by="bo", started_by_uid=1000
        )
        receipt = self.write(lambda tx: commands.start(tx, made, actor=USER, key="start"))
        assert receipt.run_id is not None
        self.run_id: str = receipt.run_id

    def now(self) -> r.Now:
        """The driver is the clock of its own store."""
        return self.clock

    # --- the files ---------------------------------------------------------------------------------------

    def opened(self, create: bool = False) -> OpenFile:
        file = open_file(self.path, self, create=create)
        # These crashes lose no page that was written: syncing would only cost time.
        file.connection.execute("PRAGMA synchronous=OFF")
        return file

    def read(self, fn: Callable[..., Any]) -> Any:
        return self.files[0].read(fn)

    def write(self, fn: Callable[[Transaction], Any]) -> Any:
        """In one transaction, unless a crash is due: then the answer is what the repetition says."""
        self.seen.clear()
        crash, self.crash = self.crash, None
        if crash == "before":
            file = self.files[0]
            tx = file.begin(self)
            with contextlib.suppress(Refused, ClaimLost, NotFound):
                fn(tx)
            self.recover()
        elif crash == "after":
            first = self.files[0].write(fn, self)
            self.recover()
            try:
                again = self.files[0].write(fn, self)
            except ClaimLost:
                # The first try ended the claim: release and block are not done twice either.
                return first
            return self.the_same(first, again)
        return self.files[0].write(fn, self)

    def the_same(self, first: Any, again: Any) -> Any:
        """A command whose answer was lost gets it again; a proposal is not done twice."""
        if isinstance(first, r.Receipt):
            adopted = "adopted" if first.outcome == "accepted" else first.outcome
            if first.outcome in ("accepted", "conflict"):
                assert (again.outcome, again.revision, again.winner) == (adopted, first.revision, first.winner)
        return first

    def recover(self) -> None:
        """The machine goes down and comes up: what was written is found by another process, from the log."""
        self.crashes += 1
        path = self.room / f"{self.crashes}.sqlite"
        script = 'cp "$1" "$2" && cp "$1-wal" "$2-wal"'
        subprocess.run(["sh", "-c", script, "sh", str(self.path), str(path)], check=True)
        self.dropped += self.files
        self.path = path
        self.files = [self.opened(), self.opened()]

    def close(self) -> None:
        for file in (*self.files, *self.dropped):
            file.roll_back()
            file.close()
        shutil.rmtree(self.room)

    # --- what the machine looks at -----------------------------------------------------------------------

    def look(self, what: Any, fn: Callable[..., Any]) -> Any:
        """Read anew after every transaction."""
        if what not in self.seen:
            self.seen[what] = self.read(fn)
        return self.seen[what]

    @property
    def head(self) -> RunHead:  # type: ignore[override]
        found: RunHead = self.look("head", lambda connection: heads.head(connection, self.run_id))
        return found

    @property
    def events(self) -> list[Event]:  # type: ignore[override]
        seen = len(self.known)
        if self.head.run.revision > seen:
            self.known += self.read(lambda connection: reads.trace(connection, self.run_id, after=seen, limit=1_000))
        return self.known

    @property
    def folded(self) -> Folded:  # type: ignore[override]
        return Folded({kind: {_key(row): row for row in self.rows(kind)} for kind in PRIMARY_KEYS})

    def rows(self, kind: type) -> list[Any]:
        named = {"run_id": self.run_id}
        statement = TABLES[kind][1]
        rows = self.look(kind, lambda connection: connection.execute(statement, named).fetchall())
        return list(read_rows(kind, rows))

    # --- what is asked -----------------------------------------------------------------------------------

    def key(self) -> str:
        self.made += 1
        return f"key-{self.made}"

    def command(self, fn: Callable[[Transaction], r.Receipt]) -> dict[str, Any]:
        """The law's result, or its refusal, from a receipt."""
        receipt = self.write(fn)
        if receipt.outcome in ("accepted", "adopted"):
            return {"outcome": receipt.outcome}
        if receipt.outcome == "conflict" and receipt.reason != "stale":
            return {"outcome": receipt.reason, "winner": receipt.winner}
        raise Refused(receipt.reason or receipt.outcome, str(receipt))

    def held(self, fn: Callable[[Transaction, r.ClaimToken], Any]) -> Any:
        """By the newest claim, which may have ended long ago."""
        token = self.token
        if token is None:
            raise Refused("no_claim", "there was never a claim")
        try:
            return self.write(lambda tx: fn(tx, token))
        except ClaimLost as lost:
            raise Refused("claim_lost", lost.message) from lost

    def apply(self, transition: Any, actor: Any = USER) -> dict[str, Any]:
        key = self.key()
        match transition:
            case t.Pause():
                return self.command(lambda tx: commands.pause(tx, self.run_id, actor=USER, key=key))
            case t.Resume():
                return self.command(lambda tx: commands.resume(tx, self.run_id, actor=USER, key=key))
            case t.Cancel():
                return self.command(lambda tx: commands.cancel(tx, self.run_id, actor=USER, key=key))
            case t.ResolveEffect(effect_id=id, happened=happened, human=human):
                return self.command(
                    lambda tx: commands.resolve_effect(
                        tx, id, happened=happened, output=b"result", human=human, key=key
                    )
                )
            case t.Release():
                return {"head": self.held(lambda tx, token: claims.release(tx, token))}
            case _:
                return self.proposed(
                    self.held(lambda tx, token: HereAndNow(tx).propose(token, transition, values=VALUES))
                )

    def proposed(self, reply: r.Reply) -> dict[str, Any]:
        if reply.outcome != "accepted":
            raise Refused(reply.code or reply.outcome, str(reply.message))
        return reply.results[0]

    def claim(self) -> "StoreDriver":
        def take(tx: Transaction) -> r.ClaimToken:
            return claims.claim(tx, self.run_id, HOST).claim

        # A claim whose answer was lost is lost with its token: nobody asks for it again.
        if self.crash == "after":
            self.crash = "before"
        self.token = self.write(take)
        return self

    def ready(self) -> "StoreDriver":
        if self.crash == "after":
            self.crash = "before"
        self.held(lambda tx, token: claims.ready(tx, token, definition().sources))
        return self

    def wait(self, node: str) -> "StoreDriver":
        attempt = self.begin(node)

        def ask(tx: Transaction, token: r.ClaimToken) -> r.Reply:
            here = HereAndNow(tx)
            return here.decide(token, attempt) if node == "decide" else here.ask(token, attempt)

        self.proposed(self.held(ask))
        return self

    def submit(self, *, output: str = "{}") -> dict[str, Any]:
        request, key = self.pending.request_id, self.key()
        checked = self.read(lambda connection: commands.check_submission(connection, request, {"n": 1}))
        return self.command(lambda tx: commands.submit(tx, checked, actor=USER, key=key))

    def answer(
        self,
        choice: str = "go",
        *,
        request: r.RequestRow | None = None,
        digest: str | None = None,
        human: r.Human = HUMAN,
    ) -> dict[str, Any]:
        asked, key = request or self.pending, self.key()
        text = "because" if choice == "again" else None
        facts: dict[str, Any] = {"text": text, "digest": digest or asked.digest, "human": human, "key": key}
        return self.command(lambda tx: commands.answer(tx, asked.request_id, choice, **facts))

    def expire(self) -> dict[str, Any]:
        request = self.pending.request_id
        return self.command(lambda tx: commands.expire(tx, request))

    def change_settings(self, number: int, expected: int, scope: str = ROOT_MOUNT) -> dict[str, Any]:
        patch, key = [{"op": "replace", "path": "/pace", "value": number}], self.key()
        facts: dict[str, Any] = {"actor": USER, "key": key, "expected_change": expected, "scope": scope}
        return self.command(lambda tx: change_settings(tx, self.run_id, patch, **facts))

    def restart(self, expected: int) -> dict[str, Any]:
        key = self.key()
        facts: dict[str, Any] = {"started_by": "bo", "started_by_uid": 1000, "actor": USER, "key": key}
        facts["expected_revision"] = expected
        told = self.command(lambda tx: commands.restart(tx, self.run_id, definition(GRAPH), **facts))
        self.has_child = True
        return told

    def block(self) -> dict[str, Any]:
        code, why = BlockCode.SOURCE_CHANGED, "changed"
        return {"head": self.held(lambda tx, token: claims.block(tx, token, code, why, HOST.actor))}

    def lose(self, *, counted: bool = True, progressed: bool = True, cause: str = "signal") -> "StoreDriver":
        facts: dict[str, Any] = {"cause": cause, "counted": counted, "progressed": progressed, "actor": HOST.actor}

        def end(tx: Transaction) -> Any:
            return claims.lose(tx, self.run_id, self.token.generation if self.token else 0, **facts)

        if self.crash == "after":
            self.crash = "before"
        if self.write(end) is None:
            raise Refused("no_claim", "it has ended already")
        return self


def _key(row: Any) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in PRIMARY_KEYS[type(row)])


class StoreMachine(LawMachine):
    driver: StoreDriver
    looked = 0

    def new_driver(self) -> Driver:
        return StoreDriver()

    def teardown(self) -> None:
        if not hasattr(self, "driver"):
            return
        found = self.driver.read(lambda connection: audit(connection, self.driver.run_id))
        self.driver.close()
        assert found.difference is None, found.difference

    @invariant()
    def the_events_alone_give_the_rows(self) -> None:
        """Once for every state of the run: reading all of it costs what all the rest does."""
        if self.looked != len(self.driver.events):
            self.looked = len(self.driver.events)
            super().the_events_alone_give_the_rows()

    def the_chain_holds_and_time_never_goes_back(self) -> None:
        """The audit at the end looks at the chain."""

    @rule(when=st.sampled_from(["before", "after"]))
    def the_next_transaction_meets_a_crash(self, when: str) -> None:
        self.driver.crash = when

    @rule()
    def the_other_connection_takes_its_turn(self) -> None:
        self.driver.files.reverse()


class LongStoreMachine(StoreMachine):
    pass


OFTEN = settings(max_examples=50, stateful_step_count=35, deadline=None, suppress_health_check=list(HealthCheck))
StoreMachine.TestCase.settings = OFTEN
LongStoreMachine.TestCase.settings = settings(OFTEN, max_examples=2_000)
TestStoreAgainstModel = StoreMachine.TestCase
TestStoreAgainstModelForLong = pytest.mark.slow(pytest.mark.timeout(1_800)(LongStoreMachine.TestCase))
