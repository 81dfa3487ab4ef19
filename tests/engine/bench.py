"""A real store file and one claim after the other, so that a test reads as the story of a run."""

import itertools
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lockgate.engine.checking import described
from lockgate.engine.runner import run
from lockgate.flow.authoring.workflow import Workflow
from lockgate.flow.definition import Definition
from lockgate.flow.transitions import AnyProposal
from lockgate.model.encoding import checked
from lockgate.model.records import (
    Actor,
    AttemptRow,
    CheckpointState,
    ClaimToken,
    Continuation,
    EventView,
    Human,
    Receipt,
    Reply,
    RequestView,
    Run,
    RunDetail,
    Value,
)
from lockgate.model.statuses import ActorKind, OwnerKind
from lockgate.store import claims, commits, fitting, reads
from lockgate.store.clock import SystemClock
from lockgate.store.commands import answers, controls, starts
from lockgate.store.openfile import OpenFile, Transaction, open_file

T = TypeVar("T")
USER = Actor(kind=ActorKind.USER, id="tester")
HOST = Actor(kind=ActorKind.HOST, id="host")


class Holder:
    """The engine's view of one claimed run; `lists` are the proposals that were made, in order."""

    def __init__(self, file: OpenFile, claim: ClaimToken) -> None:
        self._file, self._claim = file, claim
        self.lists: list[tuple[str, ...]] = []
        self.sent: list[int] = []
        self.before_commit: Callable[[Sequence[AnyProposal]], None] = lambda proposals: None

    async def ready(self, sources: Mapping[str, str]) -> Continuation:
        return self._file.write(lambda tx: claims.ready(tx, self._claim, sources), SystemClock())

    async def commit_transition(self, proposals: Sequence[AnyProposal], values: Sequence[Value] = ()) -> Reply:
        self.before_commit(proposals)
        self.lists.append(tuple(type(proposal).__name__ for proposal in proposals))
        self.sent.append(len(values))
        parts = self._file.read(lambda c: fitting.offered(c, self._claim.run_id, proposals, values))
        looked = fitting.look(parts)
        return self._file.write(
            lambda tx: commits.commit_proposals(tx, self._claim, proposals, values, looked), SystemClock()
        )

    async def read_value(self, hash: str) -> bytes:
        return self._file.read(lambda connection: reads.value(connection, hash))

    async def read_checkpoint(self, request_id: str) -> CheckpointState:
        raise NotImplementedError


class Bench:
    """Starts one run, lets engines work on it, and says what became of it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = directory / "store" / "state.sqlite"
        self.file = open_file(self.path, SystemClock(), create=True)
        self.run_id = ""
        self.holder: Holder | None = None
        self.output: list[tuple[str, bytes]] = []
        self._workflow: Workflow | None = None
        self._keys = (f"key-{number}" for number in itertools.count())

    def close(self) -> None:
        self.file.close()

    def start(self, workflow: Workflow, input: Any = None) -> Receipt:
        about = described(workflow, caller=self.directory)
        definition = Definition(
            workflow=about.name,
            workflow_ref=about.reference,
            project_dir=str(self.directory),
            document=about.document,
            sources={},
        )
        new = starts.NewRun(
            definition=definition, input=checked(input), title=None, started_by="tester", started_by_uid=0
        )
        self._workflow = workflow
        receipt = self.write(lambda tx: starts.start(tx, new, actor=USER, key=next(self._keys)))
        self.run_id = receipt.run_id or ""
        return receipt

    def claim(self) -> Holder:
        owner = claims.Owner(kind=OwnerKind.PROCESS, id="bench")
        claimed = self.write(lambda tx: claims.claim(tx, self.run_id, owner))
        self._claim = claimed.claim
        self.holder = Holder(self.file, claimed.claim)
        return self.holder

    async def work(self, holder: Holder | None = None, **options: Any) -> str:
        """One engine works on the run as long as it can; the reason why it stopped."""
        assert self._workflow is not None
        options = {
            "project_dir": self.directory,
            "sink": lambda *piece: self.output.append(piece),
            "own_groups": True,
            **options,
        }
        return await run(self._workflow, holder or self.claim(), sources={}, **options)

    async def go(self, workflow: Workflow, input: Any = None, **options: Any) -> str:
        self.start(workflow, input)
        return await self.work(**options)

    # --- commands ------------------------------------------------------------------------------------------

    def answer(self, choice: str, text: str | None = None) -> Receipt:
        request = self.request
        return self.write(
            lambda tx: answers.answer(
                tx,
                request.request_id,
                choice,
                text=text,
                digest=request.digest,
                human=Human.for_test(),
                key=next(self._keys),
            )
        )

    def submit(self, output: Any) -> Receipt:
        request_id = self.request.request_id
        submission = self.read(lambda connection: answers.check_submission(connection, request_id, output))
        return self.write(lambda tx: answers.submit(tx, submission, actor=USER, key=next(self._keys)))

    def pause(self) -> None:
        self.write(lambda tx: controls.pause(tx, self.run_id, actor=USER, key=next(self._keys)))

    def resume(self) -> None:
        self.write(lambda tx: controls.resume(tx, self.run_id, actor=USER, key=next(self._keys)))

    def cancel(self) -> None:
        self.write(lambda tx: controls.cancel(tx, self.run_id, actor=USER, key=next(self._keys)))

    def resolve(self, happened: bool, output: Any = None) -> None:
        effect_id = self.detail.effects[0].effect_id
        content = checked(output) if happened else None
        self.write(
            lambda tx: controls.resolve_effect(
                tx, effect_id, happened=happened, output=content, human=Human.for_test(), key=next(self._keys)
            )
        )

    def release(self) -> None:
        self.write(lambda tx: claims.release(tx, self._claim))

    def lose(self, *, counted: bool = False) -> None:
        self.write(
            lambda tx: claims.lose(
                tx,
                self.run_id,
                self._claim.generation,
                cause="exit",
                counted=counted,
                progressed=True,
                actor=HOST,
            )
        )

    # --- what became of it ---------------------------------------------------------------------------------

    def read(self, fn: Callable[[sqlite3.Connection], T]) -> T:
        return self.file.read(fn)

    def write(self, fn: Callable[[Transaction], T]) -> T:
        return self.file.write(fn, SystemClock())

    @property
    def run(self) -> Run:
        return self.read(lambda connection: reads.runs_by_id(connection, [self.run_id]))[0]

    @property
    def detail(self) -> RunDetail:
        return self.read(lambda connection: reads.run(connection, self.run_id))

    @property
    def attempts(self) -> tuple[AttemptRow, ...]:
        return tuple(sorted(self.detail.attempts, key=lambda attempt: attempt.ordinal))

    @property
    def events(self) -> tuple[EventView, ...]:
        return self.read(lambda connection: reads.events(connection, self.run_id))

    @property
    def types(self) -> list[str]:
        """The event types since the run's first start, without its claims and releases."""
        aside = {"run_queued", "run_claimed", "run_started", "run_resumed", "run_interrupted", "run_parked"}
        return [event.type for event in self.events if event.type not in aside]

    @property
    def request(self) -> RequestView:
        return self.read(lambda connection: reads.pending_requests(connection))[0]

    @property
    def result(self) -> Any:
        """The run's output."""
        return self.value(self.detail.row.output_hash)

    def value(self, hash: str | None) -> Any:
        assert hash is not None
        return msgspec.json.decode(self.read(lambda connection: reads.value(connection, hash)))
