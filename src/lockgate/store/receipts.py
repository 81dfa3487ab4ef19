"""Commands and their keys: the same key and the same wish get the stored receipt again, another wish is refused."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from lockgate.flow import transitions as t
from lockgate.flow.graph import Graph
from lockgate.flow.head import RunHead
from lockgate.model import ids
from lockgate.model.encoding import chained, sha256, stored
from lockgate.model.errors import KeyConflict, NotFound, Refused
from lockgate.model.records import Actor, Human, Receipt, Record, Value
from lockgate.model.statuses import ActorKind
from lockgate.store import heads
from lockgate.store.commits import Committed, commit
from lockgate.store.openfile import Transaction
from lockgate.store.statements import load

_COMMANDS = load("commands")


class Wish(Record, frozen=True, kw_only=True):
    """A command as somebody asked for it. `arguments` holds values by hash; the fingerprint covers all but the key."""

    command: str
    key: str
    target: str
    actor: Actor
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        actor = {"kind": str(self.actor.kind), "id": self.actor.id}
        wish = {"command": self.command, "target": self.target, "arguments": self.arguments, "actor": actor}
        return sha256(chained(wish))

    def receipt(self, tx: Transaction, outcome: str, **fields: Any) -> Receipt:
        """A receipt of this command, at the transaction's time."""
        facts = {"run_id": None, "revision": None, "at": tx.now.wall_ms, **fields}
        return Receipt(outcome=outcome, command=self.command, key=self.key, **facts)


Decide = Callable[[], Receipt]


def speaker(actor: Actor | Human) -> Actor:
    """Who a command is from: a person that `human_here` found, or a user. Raises Refused `wrong_actor` for any
    other kind, which only the store itself may write."""
    if isinstance(actor, Human):
        return actor.actor
    if actor.kind != ActorKind.USER:
        raise Refused(
            "wrong_actor", f"a command is from a user or a Human, not from a {actor.kind}", kind=str(actor.kind)
        )
    return actor


def once(tx: Transaction, wish: Wish, decide: Decide) -> Receipt:
    """The stored receipt of this key, or what `decide` says, stored if it was taken.

    A refusal (Refused, NotFound) becomes a receipt that is not stored: nothing was written, the key stays free.
    """
    try:
        ids.match(ids.KEY, wish.key, "a key")
        ids.match(ids.ACTOR_ID, wish.actor.id, "an actor")
        found = _stored(tx.connection, wish)
        if found is not None:
            return found
        receipt = decide()
    except KeyConflict as conflict:
        return wish.receipt(tx, "conflict", reason="key_conflict", details=dict(conflict.details))
    except NotFound as missing:
        return wish.receipt(tx, "not_found", reason=missing.message, details=dict(missing.details))
    except Refused as refused:
        return _refusal(tx, wish, refused)
    _store(tx, wish, receipt)
    return receipt


def command_run(
    tx: Transaction,
    wish: Wish,
    transition: t.AnyCommand | Callable[[RunHead], t.AnyCommand],
    values: Sequence[Value] = (),
    answer: Callable[[Committed], Receipt] | None = None,
    graph: Graph | None = None,
) -> Receipt:
    """One command on the run that the wish targets, with its key: accepted, or adopted where all was so already.

    With heads.NO_GRAPH the run's definition need not be readable: for what asks no graph anything.
    """

    def decide() -> Receipt:
        head = heads.head(tx.connection, wish.target, graph)
        made = transition(head) if callable(transition) else transition
        done = commit(tx, head, (made,), wish.actor, values)
        if answer is not None:
            return answer(done)
        outcome = "accepted" if done.changed else "adopted"
        return wish.receipt(tx, outcome, run_id=wish.target, revision=done.head.run.revision)

    return once(tx, wish, decide)


def _refusal(tx: Transaction, wish: Wish, refused: Refused) -> Receipt:
    details = dict(refused.details)
    winner = details.pop("winner", None)
    outcome = "conflict" if refused.code in ("stale", "already_resolved") else "rejected"
    run_id = details.get("run_id")
    revision = None
    try:
        head = heads.head(tx.connection, wish.target, heads.NO_GRAPH)
        run_id, revision = head.run.run_id, head.run.revision
    except NotFound:
        pass
    return wish.receipt(
        tx,
        outcome,
        run_id=run_id,
        revision=revision,
        reason=refused.code,
        winner=winner,
        details={"message": refused.message, **details},
    )


def _stored(connection: sqlite3.Connection, wish: Wish) -> Receipt | None:
    row = connection.execute(_COMMANDS["command"], {"key": wish.key}).fetchone()
    if row is None:
        return None
    command, fingerprint, text = row
    if (command, fingerprint) != (wish.command, wish.fingerprint):
        raise KeyConflict(wish.key, command)
    receipt = msgspec.json.decode(text, type=Receipt)
    # A loser stays a loser: only what was taken is adopted.
    return msgspec.structs.replace(receipt, outcome="adopted") if receipt.outcome == "accepted" else receipt


def _store(tx: Transaction, wish: Wish, receipt: Receipt) -> None:
    tx.connection.execute(
        _COMMANDS["insert_command"],
        {
            "key": wish.key,
            "command": wish.command,
            "fingerprint": wish.fingerprint,
            "actor": stored(wish.actor).decode(),
            "run_id": receipt.run_id,
            "receipt": stored(receipt).decode(),
            "at": tx.now.wall_ms,
        },
    )
