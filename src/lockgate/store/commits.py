"""The one way to change a run: read its head, ask the law, write rows and events, and close under guard.

A list of transitions is all or nothing: the law decides all of them, each on the head that the earlier ones made,
before anything is written, so that a refusal leaves nothing to undo. The closing UPDATE repeats what was read in
its WHERE.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import product
from operator import attrgetter
from typing import Any

import msgspec

from lockgate.flow import law
from lockgate.flow import transitions as t
from lockgate.flow.graph import Graph
from lockgate.flow.head import RunHead
from lockgate.model.encoding import sha256, stored
from lockgate.model.errors import ClaimLost, NotFound, Refused
from lockgate.model.events import Event
from lockgate.model.records import Actor, AttemptRow, ClaimToken, HeadState, Record, Reply, Row, RunRow, Value
from lockgate.model.statuses import ActorKind
from lockgate.store import heads
from lockgate.store.asked import refuse_other_contract
from lockgate.store.fitting import Looked, require_fit
from lockgate.store.openfile import Transaction
from lockgate.store.rows import save_row
from lockgate.store.statements import load

_RUNS, _EVENTS, _VALUES = load("runs"), load("events"), load("values")

_WAYS = product(
    (None, t.FinishAttempt), (None, t.StartAttempt), (None, t.SetTimeout), (None, t.WaitForInput, t.ReserveEffect)
)
_LISTS = {tuple(kind for kind in way if kind is not None) for way in _WAYS} | {(t.FinishAttempt, t.Finish)}
"""The proposals that may go together, in this order; any one may come alone."""
_outcome_of = attrgetter(
    "status", "paused", "output_hash", "error_hash", "error_code", "error_summary", "started_at", "finished_at"
)


class Committed(Record, frozen=True, kw_only=True):
    """What a list of transitions did; `changed` is false where all was so already."""

    head: RunHead
    results: tuple[dict[str, Any], ...]
    changed: bool


def commit(
    tx: Transaction,
    before: RunHead,
    transitions: Sequence[t.AnyProposal | t.AnyCommand],
    actor: Actor,
    values: Iterable[Value] = (),
) -> Committed:
    """Applies the transitions to the head that this transaction read. Raises Refused, and then changed nothing."""
    outcomes = _decide(tx, before, transitions, actor)
    head = outcomes[-1].head
    changed = head.run.revision != before.run.revision
    if changed:
        known = before.attempt
        for outcome in outcomes:
            write(tx, outcome.rows, outcome.events, known)
            known = outcome.head.attempt
        save_values(tx.connection, values)
        close(tx.connection, before, head)
    return Committed(head=head, results=tuple(outcome.result for outcome in outcomes), changed=changed)


def _decide(
    tx: Transaction, head: RunHead, transitions: Sequence[t.AnyProposal | t.AnyCommand], actor: Actor
) -> list[law.Outcome]:
    outcomes: list[law.Outcome] = []
    for transition in transitions:
        facts = heads.facts(transition, tx.connection, head)
        outcomes.append(law.apply(head, transition, now=tx.now, actor=actor, facts=facts))
        head = outcomes[-1].head
    return outcomes


def write(tx: Transaction, rows: Iterable[Row], events: Iterable[Event], known: AttemptRow | None = None) -> None:
    """Writes what one transition did; `known` is the active attempt before it."""
    for row in rows:
        save_row(tx.connection, row, known)
    for event in events:
        cursor = tx.connection.execute(_EVENTS["insert_event"], _columns(event))
        assert cursor.lastrowid is not None
        tx.event_seqs.append(cursor.lastrowid)


def insert(connection: sqlite3.Connection, head: RunHead) -> None:
    """The rows of a new run. Its id is the primary key, which refuses a second."""
    connection.execute(_RUNS["insert_run"], msgspec.structs.asdict(head.run))
    connection.execute(_RUNS["insert_queue"], msgspec.structs.asdict(head.queue))


def save_values(connection: sqlite3.Connection, values: Iterable[Value]) -> None:
    for value in values:
        connection.execute(_VALUES["save_value"], {"hash": value.hash, "content": value.content})


def close(connection: sqlite3.Connection, before: RunHead, after: RunHead) -> None:
    """The closing UPDATEs: each must change exactly the row that was read."""
    run, queue = after.run, after.queue
    statement = "close_run" if _is_steady(before.run, run) else "close_changed_run"
    guard = {
        "read_revision": before.run.revision,
        "read_generation": before.queue.generation,
        "read_token_hash": before.queue.token_hash,
    }
    _exactly_one(connection.execute(_RUNS[statement], {**msgspec.structs.asdict(run), **guard}), run.run_id)
    if queue != before.queue:
        _exactly_one(connection.execute(_RUNS["close_queue"], {**msgspec.structs.asdict(queue), **guard}), run.run_id)


def commit_proposals(
    tx: Transaction,
    claim: ClaimToken,
    proposals: Sequence[t.AnyProposal],
    values: Sequence[Value] = (),
    looked: Looked | None = None,
) -> Reply:
    """One proposal of a claim's holder: one to four transitions, all or nothing, or the reason why not.

    `looked` tells whether the output of a first finishAttempt meets the schema that its node has for it.
    A refused list that began with finishAttempt is proposed again by the proposer as finishAttempt alone.
    """
    try:
        head = held_head(tx.connection, claim)
    except ClaimLost as lost:
        return _not_held(tx.connection, claim, lost)
    try:
        _check_order(proposals)
        _check_values(tx.connection, proposals, values)
        require_fit(head, proposals, looked)
        done = commit(tx, head, proposals, proposer(head), values)
    except Refused as refused:
        outcome = "paused" if refused.code == "paused" else "refused"
        return Reply(outcome=outcome, head=head.state, code=refused.code, message=refused.message)
    return Reply(outcome="accepted", head=done.head.state, results=done.results)


def held_head(connection: sqlite3.Connection, claim: ClaimToken, graph: Graph | None = None) -> RunHead:
    """The head of a claimed run. Raises ClaimLost unless exactly this claim holds it."""
    try:
        head = heads.head(connection, claim.run_id, graph)
    except NotFound:
        raise ClaimLost(claim.run_id, "no_claim") from None
    law.check_claim(head, token_hash=sha256(claim.token.encode()), generation=claim.generation)
    return head


def proposer(head: RunHead) -> Actor:
    """Who speaks under the head's claim."""
    return Actor(kind=ActorKind.WORKER, id=head.queue.owner_id or "worker")


def _not_held(connection: sqlite3.Connection, claim: ClaimToken, lost: ClaimLost) -> Reply:
    try:
        state = heads.head(connection, claim.run_id).state
    except NotFound:
        state = HeadState(revision=0, paused=False, cancelled=False)
    outcome = "cancelled" if lost.reason == "cancelled" else "claim_lost"
    return Reply(outcome=outcome, head=state, code=lost.reason, message=lost.message)


def _check_order(proposals: Sequence[t.AnyProposal]) -> None:
    if len(proposals) != 1 and (not proposals or tuple(map(type, proposals)) not in _LISTS):
        names = " ".join(type(proposal).__name__ for proposal in proposals)
        raise Refused("wrong_order", f"these proposals do not go together: {names or 'none'}")


def _check_values(connection: sqlite3.Connection, proposals: Sequence[t.AnyProposal], values: Sequence[Value]) -> None:
    """Every hash that a proposal names must be a stored value, or one that comes with it."""
    given = {value.hash for value in values}
    for proposal in proposals:
        _check_named(connection, proposal, given)
        if isinstance(proposal, t.WaitForInput):
            if proposal.ask is not None:
                _check_named(connection, proposal.ask, given)
            content = _content(connection, proposal.contract_hash, values)
            refuse_other_contract(content, proposal.kind, proposal.ask)


def _check_named(connection: sqlite3.Connection, proposal: msgspec.Struct, given: set[str]) -> None:
    for name in _hash_fields(type(proposal)):
        hash = getattr(proposal, name)
        if hash is None or hash in given:
            continue
        if connection.execute(_VALUES["has_value"], {"hash": hash}).fetchone() is None:
            raise Refused("value_missing", f"{name} names the value {hash[:12]}, which is not stored", name=name)


def _content(connection: sqlite3.Connection, hash: str, values: Sequence[Value]) -> bytes:
    """A value that comes with the proposals, or is stored already."""
    for value in values:
        if value.hash == hash:
            return value.content
    return bytes(connection.execute(_VALUES["value"], {"hash": hash}).fetchone()[0])


@cache
def _hash_fields(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields by which a proposal names values."""
    return tuple(name for name in kind.__struct_fields__ if name.endswith("_hash"))


def _columns(event: Event) -> dict[str, Any]:
    return {
        "run_id": event.run_id,
        "seq": event.seq,
        "type": event.type,
        "at": event.at,
        "actor": _told(event.actor),
        "attempt_id": event.attempt_id,
        "payload": stored(event.payload).decode(),
        "prev_hash": event.prev_hash,
        "hash": event.hash,
    }


@lru_cache(maxsize=256)
def _told(actor: Actor) -> str:
    return stored(actor).decode()


def _is_steady(before: RunRow, after: RunRow) -> bool:
    """Whether no indexed or rarely changed column differs: naming one would rewrite its index for nothing."""
    return _outcome_of(before) == _outcome_of(after)


def _exactly_one(cursor: sqlite3.Cursor, run_id: str) -> None:
    if cursor.rowcount != 1:
        raise msgspec.ValidationError(f"{cursor.rowcount} rows of {run_id} are as they were read")
