"""Claims on runs: taken, made ready, given back, lost, blocked. The host and `execute()` are their holders."""

import secrets
import sqlite3
from collections.abc import Iterable, Mapping

import msgspec

from lockgate.flow import transitions as t
from lockgate.flow.claims import LONGEST_RETRY_MS
from lockgate.flow.head import RunHead
from lockgate.flow.mounts import mount_of
from lockgate.flow.sources import changed
from lockgate.model.encoding import sha256
from lockgate.model.errors import Refused, SourceChanged
from lockgate.model.records import (
    Actor,
    AttemptRow,
    ClaimToken,
    Continuation,
    CurrentAttempt,
    HeadState,
    Record,
    RunRow,
    StepRef,
)
from lockgate.model.statuses import ActorKind, BlockCode, OwnerKind
from lockgate.store import heads
from lockgate.store.commits import commit, held_head, proposer
from lockgate.store.openfile import Transaction, apart
from lockgate.store.reads.owners import host_state
from lockgate.store.reads.values import sources_of
from lockgate.store.rows import read_row
from lockgate.store.statements import load

_ATTEMPTS, _HOSTS, _RUNS, _VALUES = load("attempts"), load("hosts"), load("runs"), load("values")

_DAMAGED = (*heads.UNREADABLE, Refused)
"""A run that is claimable by its rows, and is not by the law, is damaged as well."""


class Owner(Record, frozen=True, kw_only=True):
    """Who claims: a host for its workers (with its epoch), or one process that executes by itself."""

    kind: OwnerKind
    id: str
    host_epoch: int | None = None

    @property
    def actor(self) -> Actor:
        kind = ActorKind.HOST if self.kind is OwnerKind.HOST else ActorKind.WORKER
        return Actor(kind=kind, id=self.id)


class Claimed(Record, frozen=True, kw_only=True):
    """A run that was claimed, its accepted sources, and the secret that lets its holder propose."""

    claim: ClaimToken
    run: RunRow
    sources: dict[str, str]


def claim(tx: Transaction, run_id: str, owner: Owner) -> Claimed:
    """Claims one named run. Raises NotFound, or Refused `not_claimable` or `not_yet`."""
    return _claim(tx, heads.head(tx.connection, run_id), owner)


def _claim(tx: Transaction, head: RunHead, owner: Owner) -> Claimed:
    token = secrets.token_hex(32)
    done = commit(tx, head, (_wish(owner, token),), owner.actor)
    generation = done.head.queue.generation
    claim = ClaimToken(run_id=head.run.run_id, generation=generation, token=token)
    return Claimed(claim=claim, run=done.head.run, sources=sources_of(tx.connection, head.run.run_id))


def _wish(owner: Owner, token: str) -> t.Claim:
    return t.Claim(
        token_hash=sha256(token.encode()),
        owner_kind=owner.kind,
        owner_id=owner.id,
        host_epoch=owner.host_epoch,
    )


def claim_next(
    tx: Transaction, owner: Owner, exclude: Iterable[str] = (), unreadable: dict[str, str] | None = None
) -> Claimed | None:
    """Claims the next run for a host: answered ones first, then by availability; never an inline one.

    A damaged run must not hold up the others. One whose definition cannot be read is blocked `load_failed`; one
    whose rows cannot be read can be written by nobody: it is left alone, and noted in `unreadable` with the reason.
    Raises Refused `host_replaced` for a host that another one has taken over from: only one may start workers.
    """
    host = host_state(tx.connection)
    if (host.host_id, host.epoch) != (owner.id, owner.host_epoch):
        raise Refused("host_replaced", f"another host has taken over from {owner.id}", host_id=owner.id)
    left_out = list(exclude)
    while (run_id := _next(tx, left_out)) is not None:
        try:
            with apart(tx):
                return claim(tx, run_id, owner)
        except _DAMAGED as problem:
            left_out.append(run_id)
            if not _block_unloadable(tx, run_id, owner, str(problem)) and unreadable is not None:
                unreadable[run_id] = str(problem)
    return None


def _block_unloadable(tx: Transaction, run_id: str, owner: Owner, detail: str) -> bool:
    """Blocks a run whose rows are sound though its definition is not; whether they are."""
    block = t.Block(code=BlockCode.LOAD_FAILED, detail=detail)
    try:
        with apart(tx):
            head = heads.head(tx.connection, run_id, heads.NO_GRAPH)
            commit(tx, head, (_wish(owner, secrets.token_hex(32)), block), owner.actor)
    except _DAMAGED:
        return False
    return True


def _next(tx: Transaction, exclude: list[str]) -> str | None:
    exclusion = msgspec.json.encode(exclude).decode()
    named = {"now": tx.now.wall_ms, "longest": LONGEST_RETRY_MS, "exclude": exclusion}
    for statement in ("next_answered", "next_queued"):
        row = tx.connection.execute(_HOSTS[statement], named).fetchone()
        if row is not None:
            return str(row[0])
    return None


def ready(tx: Transaction, claim: ClaimToken, sources: Mapping[str, str]) -> Continuation:
    """The worker has loaded the definition from `sources` (path -> SHA-256); what it continues from.

    Raises ClaimLost, SourceChanged (nothing was written; the holder blocks the run), Refused `paused`.
    """
    head = held_head(tx.connection, claim)
    differing = changed(sources_of(tx.connection, claim.run_id), sources)
    if differing:
        raise SourceChanged(differing)
    done = commit(tx, head, (t.Ready(),), proposer(head))
    named = {"run_id": claim.run_id, "generation": claim.generation, "at": tx.now.wall_ms}
    tx.connection.execute(_HOSTS["worker_ready"], named)
    return _continuation(tx.connection, done.head)


def release(tx: Transaction, claim: ClaimToken, actor: Actor | None = None) -> HeadState:
    """Gives a claim back between nodes: the run parks if it is paused, else it is queued. Raises ClaimLost."""
    head = held_head(tx.connection, claim, heads.NO_GRAPH)
    return commit(tx, head, (t.Release(),), actor or proposer(head)).head.state


def lose(
    tx: Transaction,
    run_id: str,
    generation: int,
    *,
    cause: str,
    counted: bool,
    progressed: bool,
    actor: Actor,
    exit_code: int | None = None,
    signal: int | None = None,
) -> HeadState | None:
    """Ends a claim without its holder's word; None where that claim has ended already."""
    head = heads.head(tx.connection, run_id, heads.NO_GRAPH)
    if not head.holds_claim or head.queue.generation != generation:
        return None
    wish = t.Lose(cause=cause, counted=counted, progressed=progressed, exit_code=exit_code, signal=signal)
    return commit(tx, head, (wish,), actor).head.state


def block(
    tx: Transaction,
    claim: ClaimToken,
    code: BlockCode,
    detail: str | None,
    actor: Actor | None = None,
    *,
    graph_changed: bool = False,
) -> HeadState:
    """Parks a launch that found something which will not mend itself. Raises ClaimLost."""
    head = held_head(tx.connection, claim, heads.NO_GRAPH)
    wish = t.Block(code=code, detail=detail, graph_changed=graph_changed)
    return commit(tx, head, (wish,), actor or proposer(head)).head.state


def _continuation(connection: sqlite3.Connection, head: RunHead) -> Continuation:
    run_id = head.run.run_id
    newest = connection.execute(_ATTEMPTS["last_step"], {"run_id": run_id}).fetchone()
    results = []
    # One look into the index for each node of the graph: the cost follows the graph, not the history.
    for node in head.graph.nodes:
        row = connection.execute(_ATTEMPTS["latest_of_node"], {"run_id": run_id, "node_id": node}).fetchone()
        if row is not None:
            results.append(_step(read_row(AttemptRow, row)))
    return Continuation(
        run_id=run_id,
        workflow=head.run.workflow,
        definition_digest=head.run.definition_digest,
        input_hash=head.run.input_hash,
        head=head.state,
        steps=head.run.steps,
        last=_step(read_row(AttemptRow, newest)) if newest is not None else None,
        results=tuple(results),
        current=_current(head),
        before=_before(connection, head),
    )


def _before(connection: sqlite3.Connection, head: RunHead) -> dict[str, int]:
    """How often the nodes of the includes that go on were visited in earlier invocations."""
    inside = {scope.mount for scope in head.scopes[1:] if scope.invocation > 1}
    found: dict[str, int] = {}
    for node in head.graph.nodes if inside else ():
        if (mount := mount_of(node)) in inside:
            named = {"run_id": head.run.run_id, "node_id": node, "mount": mount}
            row = connection.execute(_ATTEMPTS["visits_before"], named).fetchone()
            if row is not None:
                found[node] = row[0]
    return found


def _current(head: RunHead) -> CurrentAttempt | None:
    attempt, request = head.attempt, head.request
    if attempt is None or request is None or request.output_hash is None or not head.is_answered:
        return None
    return CurrentAttempt(
        attempt_id=attempt.attempt_id,
        node_id=attempt.node_id,
        ordinal=attempt.ordinal,
        visit=attempt.visit,
        attempt_number=attempt.attempt_number,
        request_id=request.request_id,
        output_hash=request.output_hash,
        timeout_ms=attempt.timeout_ms or None,
        active_ms=attempt.active_ms,
        settings_hash=attempt.settings_hash,
    )


def _step(attempt: AttemptRow) -> StepRef:
    assert attempt.outcome is not None
    assert attempt.step_index is not None
    return StepRef(
        node_id=attempt.node_id,
        outcome=attempt.outcome,
        output_hash=attempt.output_hash,
        error_hash=attempt.error_hash,
        error_summary=attempt.error_summary,
        switch_value=attempt.switch_value,
        visit=attempt.visit,
        ordinal=attempt.ordinal,
        step_index=attempt.step_index,
    )
