"""Who may answer: one row for each audience, set by a person; copied into each request when it is opened."""

import json
import sqlite3
from collections.abc import Sequence

import msgspec

from lockgate.model import ids
from lockgate.model.encoding import stored
from lockgate.model.errors import Refused
from lockgate.model.records import Human, Policy, Record
from lockgate.store.openfile import Transaction
from lockgate.store.statements import load

_KEEPING = load("keeping")
MOST_BYTES = 1_000
"""A policy is copied into each request's event, as a text within its JSON. The payload stays under 4 KiB, of which the
longest ids and title leave it this much."""


class PolicyView(Record, frozen=True, kw_only=True):
    """A policy in force, and who set it when."""

    policy: Policy
    set_by: str
    set_at: int


def set_policy(
    tx: Transaction, audience: str, *, users: Sequence[str] | None, self_approval: bool, human: Human
) -> PolicyView:
    """Sets the policy of an audience for requests that are opened from now on; `users` None is everybody.

    Raises Refused `invalid_id` or `invalid_input` before anything is written.
    """
    audience = ids.match(ids.NODE_ID, audience, "an audience")
    named = tuple(dict.fromkeys(users)) if users is not None else None
    if named is not None and (not named or not all(map(_is_name, named))):
        raise Refused("invalid_input", f"users: one login name or more, got {list(named)!r}"[:300], field="users")
    policy = Policy(audience=audience, users=named, self_approval=self_approval)
    size = len(stored(stored(policy).decode()))
    if size > MOST_BYTES:
        reason = f"users: with them the policy has at most {MOST_BYTES} bytes in a decision's event, got {size}"
        raise Refused("invalid_input", reason, field="users")
    tx.connection.execute(
        _KEEPING["set_policy"],
        {
            "audience": audience,
            "users": json.dumps(named) if named is not None else None,
            "self_approval": self_approval,
            "set_by": human.id,
            "set_at": tx.now.wall_ms,
        },
    )
    return PolicyView(policy=policy, set_by=human.id, set_at=tx.now.wall_ms)


def policies(connection: sqlite3.Connection) -> tuple[PolicyView, ...]:
    """Every policy, by audience. An audience without one may be answered by whoever can write the store."""
    return tuple(
        PolicyView(
            policy=Policy(
                audience=audience,
                users=msgspec.json.decode(users, type=tuple[str, ...]) if users is not None else None,
                self_approval=bool(self_approval),
            ),
            set_by=set_by,
            set_at=set_at,
        )
        for audience, users, self_approval, set_by, set_at in connection.execute(_KEEPING["policies"]).fetchall()
    )


def _is_name(text: str) -> bool:
    return 0 < len(text) <= 64 and text.isprintable() and not any(map(str.isspace, text))
