"""What people were asked and what they said, recomputed from the facts: digests, ids, contracts, responses."""

import sqlite3
from typing import Any

import msgspec

from lockgate.flow.contracts import Contract, read_contract
from lockgate.flow.digests import decision_digest, request_digest
from lockgate.flow.fold import Fold
from lockgate.flow.transitions import DecisionAsk
from lockgate.model import ids
from lockgate.model import records as r
from lockgate.model.encoding import sha256, stored
from lockgate.model.statuses import ActorKind, Intent, Provenance
from lockgate.store.audit_chain import Differs
from lockgate.store.statements import load

_KEEPING = load("keeping")


def check_requests(connection: sqlite3.Connection, folded: Fold) -> None:
    """Every request of the run, and every decision with its response. The values exist. Raises Differs."""
    assert folded.head is not None
    run = folded.head.run
    decisions: Any = folded.tables[r.DecisionRow]
    resolutions: Any = folded.tables[r.ResolutionRow]
    for row in folded.tables[r.RequestRow].values():
        assert isinstance(row, r.RequestRow)
        contract = _contract(connection, row)
        decision: r.DecisionRow | None = decisions.get((row.request_id,))
        if decision is None:
            _check_plain(run, row)
            continue
        _check_decision(run, row, decision, contract)
        resolution: r.ResolutionRow | None = resolutions.get((row.request_id,))
        if resolution is not None:
            _check_resolution(connection, row, contract, resolution)
            _check_allowed(run, row, contract, resolution)


def _check_plain(run: r.RunRow, row: r.RequestRow) -> None:
    digest = request_digest(
        run_id=run.run_id,
        workflow=run.workflow,
        node=row.node_id,
        attempt_id=row.attempt_id,
        kind=row.kind,
        contract_hash=row.contract_hash,
    )
    _same("requests", row.request_id, "digest", row.digest, digest)
    _same("requests", row.request_id, "request_id", row.request_id, ids.request_id(run.run_id, row.attempt_id))


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
    _same("human_decisions", id, "request_digest", decision.request_digest, digest)
    _same("requests", id, "digest", row.digest, digest)
    made = ids.decision_id(run.run_id, decision.node_id, decision.attempt_id, digest)
    _same("human_decisions", id, "decision_id", id, made)
    # The person read the contract; the digest binds the presentation and the choices: they must be the same.
    _same("human_decisions", id, "title", decision.title, contract.title)
    shown = {"presentation_hash": contract.presentation, "choices_hash": contract.choices}
    for column, value in shown.items():
        _same("human_decisions", id, column, getattr(decision, column), sha256(stored(msgspec.to_builtins(value))))


def _check_resolution(
    connection: sqlite3.Connection, row: r.RequestRow, contract: Contract, resolution: r.ResolutionRow
) -> None:
    id = resolution.decision_id
    _same("human_decision_resolutions", id, "request_digest", resolution.request_digest, row.digest)
    if resolution.response_hash is None:
        return
    if resolution.choice not in [choice.key for choice in contract.choices]:
        keys = ", ".join(choice.key for choice in contract.choices)
        raise Differs("human_decision_resolutions", id, "choice", resolution.choice, f"one of {keys}")
    response = msgspec.json.decode(_value(connection, resolution.response_hash))
    said = response.get("choice") if isinstance(response, dict) else None
    _same("human_decision_resolutions", id, "choice", resolution.choice, said)
    _same("requests", id, "output_hash", row.output_hash, resolution.response_hash)


def _check_allowed(run: r.RunRow, row: r.RequestRow, contract: Contract, resolution: r.ResolutionRow) -> None:
    """Whoever the record names as the person must have been one whom the request's own policy let decide."""
    if resolution.provenance is not Provenance.HUMAN:
        return
    id = resolution.decision_id
    _same("human_decision_resolutions", id, "actor_kind", resolution.actor_kind, ActorKind.HUMAN)
    if row.policy is None:
        return
    policy = msgspec.json.decode(row.policy, type=r.Policy)
    if policy.users is not None and resolution.actor_id not in policy.users:
        expected = f"one of {', '.join(policy.users)}"
        raise Differs("human_decision_resolutions", id, "actor_id", resolution.actor_id, expected)
    approves = any(choice.key == resolution.choice and choice.intent is Intent.APPROVE for choice in contract.choices)
    if approves and not policy.self_approval and resolution.actor_id == run.started_by:
        expected = f"anybody but {run.started_by}, who started the run"
        raise Differs("human_decision_resolutions", id, "actor_id", resolution.actor_id, expected)


def _contract(connection: sqlite3.Connection, row: r.RequestRow) -> Contract:
    try:
        return read_contract(_value(connection, row.contract_hash))
    except msgspec.MsgspecError as problem:
        raise Differs("requests", row.request_id, "contract_hash", str(problem), "a contract") from problem


def _value(connection: sqlite3.Connection, hash: str) -> bytes:
    row = connection.execute(_KEEPING["whole_value"], {"hash": hash}).fetchone()
    if row is None:
        raise Differs("blobs", hash, None, None, "a stored value")
    return bytes(row[0])


def _same(table: str, key: str, column: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise Differs(table, key, column, found, expected)
