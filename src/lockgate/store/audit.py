"""The audit of one run: its hash chain, its values, and every row of it against what its events say.

It trusts nothing but the events, and those only as far as their chain holds. What it cannot see by itself is a
file that its owner rewrote whole, chain included: only a receipt that was kept elsewhere shows that.
"""

import sqlite3
from typing import Any

import msgspec

from lockgate.flow.fold import Fold
from lockgate.flow.graph import Graph, decode
from lockgate.model import events as ev
from lockgate.model import records as r
from lockgate.model.encoding import sha256
from lockgate.model.errors import LockgateError, NotFound
from lockgate.store.audit_chain import Difference, Differs, chain
from lockgate.store.audit_decisions import check_requests
from lockgate.store.audit_rows import compare
from lockgate.store.audit_values import check_values, values_of_event, values_of_row
from lockgate.store.statements import load

_KEEPING = load("keeping")
LIMIT = (
    "A file that its owner rewrote whole, chain included, passes: it is found only against a receipt that was kept "
    "elsewhere (lockgate audit RUN --receipt FILE)."
)
"""What an audit cannot find; printed with every result."""

PRUNED_LIMIT = (
    "Of a pruned run only the places and hashes of its decisions are left: whatever else a kept receipt says, such as "
    "the choice, is compared with nothing."
)
"""What it cannot find in what is left of a pruned run."""


class DecisionReceipt(r.Record, frozen=True, kw_only=True):
    """One human decision as it can be kept elsewhere: where its event stands in the chain, and what it says.

    `choice` is null where the request was withdrawn. `digest` is that of the request which was decided.
    """

    run_id: str
    seq: int
    hash: str
    decision_id: str
    node: str
    title: str
    digest: str
    choice: str | None
    actor: r.Actor
    channel: str | None
    at: int
    provenance: str


class Audit(r.Record, frozen=True, kw_only=True):
    """What was looked at, and the first thing that differs (None: everything agrees).

    `seq` and `chain_head` name the run's newest event: kept elsewhere they are a receipt of all that came before.
    """

    run_id: str
    is_pruned: bool
    seq: int
    chain_head: str
    events: int
    rows: int
    values: int
    receipts: tuple[DecisionReceipt, ...]
    difference: Difference | None


class _Found:
    """What an audit has seen so far; it stays where the first difference ends it."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.is_pruned = False
        self.seq = 0
        self.head = ev.NO_CHAIN
        self.events = 0
        self.rows = 0
        self.values = 0
        self.receipts: list[DecisionReceipt] = []


def audited_run_id(connection: sqlite3.Connection, given: str) -> str:
    """The run that is meant: a pruned one by its whole id only, any other as everywhere. Raises NotFound."""
    from lockgate.store.reads.lookup import resolve_run_id

    try:
        return resolve_run_id(connection, given)
    except NotFound:
        if connection.execute(_KEEPING["has_events"], {"run_id": given}).fetchone() is None:
            raise
        return given


def audit(connection: sqlite3.Connection, run_id: str) -> Audit:
    """Audits a run in the read transaction that is open. Raises NotFound for a run that left no event."""
    found = _Found(run_id)
    difference: Difference | None = None
    try:
        _audit(connection, found)
    except Differs as differs:
        difference = differs.difference
    return Audit(
        run_id=run_id,
        is_pruned=found.is_pruned,
        seq=found.seq,
        chain_head=found.head,
        events=found.events,
        rows=found.rows,
        values=found.values,
        receipts=tuple(found.receipts),
        difference=difference,
    )


def _audit(connection: sqlite3.Connection, found: _Found) -> None:
    run_id = found.run_id
    folded: Fold | None = None
    values: dict[str, str] = {}
    for event in chain(connection, run_id):
        found.events, found.seq, found.head = found.events + 1, event.seq, event.hash
        for place, hash in values_of_event(event):
            values.setdefault(hash, place)
        if isinstance(event.payload, ev.RunPruned):
            found.is_pruned = True
            continue
        folded = folded or Fold(_graph(connection, event))
        _fold(folded, event)
        _keep_receipt(found, folded, event)
    if folded is None and not found.is_pruned:
        raise _missing_events(connection, run_id)
    found.rows = compare(connection, run_id, folded)
    if folded is not None:
        _name_values(folded, values)
    found.values = check_values(connection, values)
    if folded is None:
        return
    check_requests(connection, folded)
    if folded.tables[r.SettingsChangeRow]:
        # The patch library is loaded only where something was ever patched.
        from lockgate.store.audit_settings import check_settings

        check_settings(connection, folded)


def _name_values(folded: Fold, values: dict[str, str]) -> None:
    assert folded.head is not None
    rows = [folded.head.run, *(row for table in folded.tables.values() for row in table.values())]
    for row in rows:
        for place, hash in values_of_row(type(row), row):
            values.setdefault(hash, place)


def _missing_events(connection: sqlite3.Connection, run_id: str) -> Exception:
    if connection.execute(_KEEPING["run_rows"], {"run_id": run_id}).fetchone() is None:
        return NotFound("run", run_id)
    return Differs("events", f"{run_id} 1", "seq", None, 1)


def _graph(connection: sqlite3.Connection, first: ev.Event) -> Graph:
    """The graph that the run was born with; its document must still be what its digest says."""
    birth = first.payload.birth if isinstance(first.payload, ev.RunQueued) else None
    if birth is None:
        raise Differs("events", f"{first.run_id} {first.seq}", "payload", first.type, "the birth of the run")
    digest = birth.definition_digest
    row = connection.execute(_KEEPING["whole_definition"], {"digest": digest}).fetchone()
    if row is None:
        raise Differs("definitions", digest, None, None, "the definition of the run")
    document = bytes(row[0])
    if sha256(document) != digest:
        raise Differs("definitions", digest, "document", sha256(document), digest)
    return decode(digest, document)


def _fold(folded: Fold, event: ev.Event) -> None:
    try:
        folded.add(event)
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError, LockgateError) as problem:
        # The chain holds, yet the law never makes such a sequence: somebody else wrote it.
        place = f"{event.run_id} {event.seq}"
        raise Differs("events", place, "type", event.type, "an event that can follow") from problem


def _keep_receipt(found: _Found, folded: Fold, event: ev.Event) -> None:
    if not isinstance(event.payload, ev.RequestAnswered | ev.DecisionWithdrawn):
        return
    resolution = event.payload.resolution
    if resolution is None:
        return
    decision = folded.tables[r.DecisionRow].get((resolution.decision_id,))
    if not isinstance(decision, r.DecisionRow):
        raise Differs("events", f"{event.run_id} {event.seq}", "payload", resolution.decision_id, "a known decision")
    found.receipts.append(
        DecisionReceipt(
            run_id=event.run_id,
            seq=event.seq,
            hash=event.hash,
            decision_id=resolution.decision_id,
            node=decision.node_id,
            title=decision.title,
            digest=resolution.request_digest,
            choice=resolution.choice,
            actor=r.Actor(kind=resolution.actor_kind, id=resolution.actor_id),
            channel=resolution.channel,
            at=resolution.resolved_at,
            provenance=str(resolution.provenance),
        )
    )


# --- receipts that were kept elsewhere ---------------------------------------------------------------------


class KeptReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """What a receipt must say; all else that it says is compared with the decision's own receipt."""

    run_id: str
    seq: int
    hash: str
    said: dict[str, Any] = {}


def check_receipt(connection: sqlite3.Connection, kept: KeptReceipt, audited: Audit) -> Difference | None:
    """What the store no longer says as the receipt does; None where it stands in the chain.

    Of a pruned run only the tombstone is left: it names the places and hashes of its decisions, and nothing else that
    a receipt says.
    """
    place = f"{kept.run_id} {kept.seq}"
    row = connection.execute(_KEEPING["link_of_run"], {"run_id": kept.run_id, "seq": kept.seq}).fetchone()
    if row is None and audited.is_pruned:
        return _check_tombstone(connection, kept)
    if row is None or row[1] != kept.hash:
        stored = row[1] if row is not None else None
        return Difference(table="events", key=place, column="hash", stored=stored, expected=kept.hash)
    own = next((receipt for receipt in audited.receipts if receipt.seq == kept.seq), None)
    facts = msgspec.to_builtins(own) if own is not None else {}
    for name in DecisionReceipt.__struct_fields__[3:]:
        # The place and the hash bind the event; this shows that the kept receipt tells it as it is.
        if name in kept.said and kept.said[name] != facts.get(name) and audited.difference is None:
            return Difference(table="receipt", key=place, column=name, stored=facts.get(name), expected=kept.said[name])
    return None


def _check_tombstone(connection: sqlite3.Connection, kept: KeptReceipt) -> Difference | None:
    seq, payload, _ = connection.execute(_KEEPING["tombstone"], {"run_id": kept.run_id}).fetchone()
    pruned = msgspec.json.decode(payload, type=ev.RunPruned)
    if (kept.seq, kept.hash) in [(pruned.last_seq, pruned.chain_head), *_receipts(connection, pruned)]:
        return None
    return Difference(
        table="events", key=f"{kept.run_id} {seq}", column="payload", stored="no such receipt", expected=kept.hash
    )


def _receipts(connection: sqlite3.Connection, pruned: ev.RunPruned) -> list[tuple[int, str]]:
    if pruned.receipts_hash is None:
        return list(zip(pruned.receipt_seqs or [], pruned.receipt_hashes, strict=False))
    row = connection.execute(_KEEPING["whole_value"], {"hash": pruned.receipts_hash}).fetchone()
    return msgspec.json.decode(row[0], type=list[tuple[int, str]]) if row is not None else []
