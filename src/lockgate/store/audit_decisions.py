"""What people were asked and what they said, recomputed from the facts: digests, ids, contracts, responses."""

import sqlite3
from typing import Any

import msgspec

from lockgate.flow.contracts import Contract
from lockgate.flow.fold import Fold
from lockgate.model import records as r
from lockgate.model.statuses import ActorKind, Intent, Provenance
from lockgate.store.asked import check_request, same, stored_value
from lockgate.store.audit_chain import Differs


def check_requests(connection: sqlite3.Connection, folded: Fold) -> None:
    """Every request of the run, and every decision with its response. The values exist. Raises Differs."""
    assert folded.head is not None
    run = folded.head.run
    decisions: Any = folded.tables[r.DecisionRow]
    resolutions: Any = folded.tables[r.ResolutionRow]
    for row in folded.tables[r.RequestRow].values():
        assert isinstance(row, r.RequestRow)
        contract = check_request(connection, run, row, decisions.get((row.request_id,)))
        resolution: r.ResolutionRow | None = resolutions.get((row.request_id,))
        if resolution is not None:
            _check_resolution(connection, row, contract, resolution)
            _check_allowed(run, row, contract, resolution)


def _check_resolution(
    connection: sqlite3.Connection, row: r.RequestRow, contract: Contract, resolution: r.ResolutionRow
) -> None:
    id = resolution.decision_id
    same("human_decision_resolutions", id, "request_digest", resolution.request_digest, row.digest)
    if resolution.response_hash is None:
        return
    if resolution.choice not in [choice.key for choice in contract.choices]:
        keys = ", ".join(choice.key for choice in contract.choices)
        raise Differs("human_decision_resolutions", id, "choice", resolution.choice, f"one of {keys}")
    response = msgspec.json.decode(stored_value(connection, resolution.response_hash))
    said = response.get("choice") if isinstance(response, dict) else None
    same("human_decision_resolutions", id, "choice", resolution.choice, said)
    same("requests", id, "output_hash", row.output_hash, resolution.response_hash)


def _check_allowed(run: r.RunRow, row: r.RequestRow, contract: Contract, resolution: r.ResolutionRow) -> None:
    """Whoever the record names as the person must have been one whom the request's own policy let decide."""
    if resolution.provenance is not Provenance.HUMAN:
        return
    id = resolution.decision_id
    same("human_decision_resolutions", id, "actor_kind", resolution.actor_kind, ActorKind.HUMAN)
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
