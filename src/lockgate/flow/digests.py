"""The digests that bind an answer to what was seen: SHA-256 over RFC 8785, to be recomputed by anybody.

What is decided on, shown and offered enters by its hash. Of a presentation and its choices, and of a subject of at
most 64 KiB, that is the SHA-256 of its RFC 8785 form; of a larger subject, of its bytes as they are stored.
"""

from typing import TYPE_CHECKING, Any

from lockgate.model.encoding import digest
from lockgate.model.records import Policy
from lockgate.model.statuses import RequestKind

if TYPE_CHECKING:
    from lockgate.flow.transitions import DecisionAsk

DECISION_SCHEMA = "lockgate.decision-request.v1"
REQUEST_SCHEMA = "lockgate.request.v1"


def decision_digest(
    *,
    run_id: str,
    workflow: str,
    node: str,
    attempt_id: str,
    ask: "DecisionAsk",
    deadline_at: int | None,
    policy: Policy | None,
    started_by: str,
) -> str:
    """Everything that a person decides on: any difference in it makes an old answer stale."""
    return digest(
        {
            "schema": DECISION_SCHEMA,
            "run_id": run_id,
            "workflow": workflow,
            "node": node,
            "attempt_id": attempt_id,
            "audience": ask.audience,
            "title": ask.title,
            "subject_hash": ask.subject_hash,
            "presentation_hash": ask.presentation_hash,
            "choices_hash": ask.choices_hash,
            "seconds": ask.seconds,
            "deadline_at": deadline_at,
            "default": ask.default,
            "policy": policy_facts(policy),
            "started_by": started_by,
        }
    )


def request_digest(
    *, run_id: str, workflow: str, node: str, attempt_id: str, kind: RequestKind, contract_hash: str
) -> str:
    """An ordinary request: its contract holds the text and the schema."""
    return digest(
        {
            "schema": REQUEST_SCHEMA,
            "run_id": run_id,
            "workflow": workflow,
            "node": node,
            "attempt_id": attempt_id,
            "kind": str(kind),
            "contract_hash": contract_hash,
        }
    )


def policy_facts(policy: Policy | None) -> dict[str, Any] | None:
    if policy is None:
        return None
    users = list(policy.users) if policy.users is not None else None
    return {"audience": policy.audience, "users": users, "self_approval": policy.self_approval}
