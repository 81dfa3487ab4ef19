"""Whether a request still is what its digest says: the one check of what a person decides on.

An audit makes it for every request, and an answer makes it before it is taken: text that was changed behind the
store's back must not be decided on under a genuine fingerprint.
"""

import sqlite3
from typing import Any

import msgspec

from lockgate.flow.contracts import Contract, read_contract
from lockgate.flow.digests import decision_digest, request_digest
from lockgate.flow.transitions import DecisionAsk
from lockgate.model import ids
from lockgate.model import records as r
from lockgate.model.encoding import sha256, stored
from lockgate.model.errors import Refused
from lockgate.model.statuses import RequestKind
from lockgate.store.audit_chain import Differs
from lockgate.store.statements import load

_KEEPING = load("keeping")


def check_request(
    connection: sqlite3.Connection, run: r.RunRow, row: r.RequestRow, decision: r.DecisionRow | None
) -> Contract:
    """The contract that was shown, digest and ids recomputed from the stored facts. Raises Differs."""
    contract = _contract(connection, row)
    if decision is None:
        _check_plain(run, row)
    else:
        _check_decision(run, row, decision, contract)
    return contract


def refuse_altered(
    connection: sqlite3.Connection, run: r.RunRow, row: r.RequestRow, decision: r.DecisionRow | None
) -> None:
    """Raises Refused `altered` where what people were shown is not what the digest was made of."""
    try:
        check_request(connection, run, row, decision)
    except Differs as differs:
        found = differs.difference
        place = f"{found.table}.{found.column}" if found.column else found.table
        raise Refused(
            "altered",
            f"{row.request_id} is not what it was when it was asked ({place} differs): lockgate audit says more",
            table=found.table,
            column=found.column,
        ) from differs


def refuse_other_contract(content: bytes, kind: RequestKind, ask: DecisionAsk | None) -> None:
    """Raises Refused `wrong_contract` for what is no contract of this kind, or says other than what the ask hashes."""
    try:
        contract = read_contract(content)
    except msgspec.MsgspecError as problem:
        raise Refused("wrong_contract", f"what the wait names is no contract: {problem}") from problem
    if contract.kind is not kind:
        raise Refused("wrong_contract", f"the contract is one for {contract.kind}, not for {kind}")
    if ask is None:
        return
    hashes = (_hash(contract.presentation), _hash(contract.choices))
    if contract.title != ask.title or hashes != (ask.presentation_hash, ask.choices_hash):
        raise Refused("wrong_contract", "the contract's title, presentation or choices are not those of the ask")


def _check_plain(run: r.RunRow, row: r.RequestRow) -> None:
    digest = request_digest(
        run_id=run.run_id,
        workflow=run.workflow,
        node=row.node_id,
        attempt_id=row.attempt_id,
        kind=row.kind,
        contract_hash=row.contract_hash,
    )
    same("requests", row.request_id, "digest", row.digest, digest)
    same("requests", row.request_id, "request_id", row.request_id, ids.request_id(run.run_id, row.attempt_id))


def _check_decision(run: r.RunRow, row: r.RequestRow, decision: r.DecisionRow, contract: Contract) -> None:
    id = decision.decision_id
    ask = DecisionAsk(
        audience=decision.audience,
        title=decision.title,
        subject_hash=decision.subject_hash,
        presentation_hash=decision.presentation_hash,
        choices_hash=decision.choices_hash,
        choices=contract.choices,
        seconds=(decision.deadline_at - decision.created_at) // 1000 if decision.deadline_at is not None else None,
        default=decision.default_choice,
    )
    digest = decision_digest(
        run_id=run.run_id,
        workflow=run.workflow,
        node=decision.node_id,
        attempt_id=decision.attempt_id,
        ask=ask,
        deadline_at=decision.deadline_at,
        policy=msgspec.json.decode(row.policy, type=r.Policy) if row.policy is not None else None,
        started_by=run.started_by,
    )
    same("human_decisions", id, "request_digest", decision.request_digest, digest)
    same("requests", id, "digest", row.digest, digest)
    for name in ("run_id", "attempt_id", "node_id", "deadline_at"):
        same("requests", id, name, getattr(row, name), getattr(decision, name))
    made = ids.decision_id(run.run_id, decision.node_id, decision.attempt_id, digest)
    same("human_decisions", id, "decision_id", id, made)
    # The person read the contract; the digest binds the presentation and the choices: they must be the same.
    same("human_decisions", id, "title", decision.title, contract.title)
    same("human_decisions", id, "presentation_hash", decision.presentation_hash, _hash(contract.presentation))
    same("human_decisions", id, "choices_hash", decision.choices_hash, _hash(contract.choices))


def _contract(connection: sqlite3.Connection, row: r.RequestRow) -> Contract:
    content = stored_value(connection, row.contract_hash)
    same("blobs", row.contract_hash, "content", sha256(content), row.contract_hash)
    try:
        return read_contract(content)
    except msgspec.MsgspecError as problem:
        raise Differs("requests", row.request_id, "contract_hash", str(problem), "a contract") from problem


def stored_value(connection: sqlite3.Connection, hash: str) -> bytes:
    row = connection.execute(_KEEPING["whole_value"], {"hash": hash}).fetchone()
    if row is None:
        raise Differs("blobs", hash, None, None, "a stored value")
    return bytes(row[0])


def same(table: str, key: str, column: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise Differs(table, key, column, found, expected)


def _hash(shown: Any) -> str:
    return sha256(stored(msgspec.to_builtins(shown)))
