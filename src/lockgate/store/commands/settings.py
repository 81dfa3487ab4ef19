"""changeSettings: a JSON Patch on a run's live settings, checked against its rules and its schema.

The patch is applied before the transaction, since it may take long; inside it, the law takes the result only if
the settings are still those that it was applied to. Who was overtaken applies it anew, `MOST_TRIES` times.
"""

import sqlite3
from typing import Any

import msgspec

from lockgate.flow import transitions as t
from lockgate.flow.head import RunHead
from lockgate.flow.patches import MAX_PATCH_BYTES, apply_patch
from lockgate.flow.schemas import meet
from lockgate.flow.settings import declared
from lockgate.model import ids
from lockgate.model.encoding import checked, sha256, stored
from lockgate.model.errors import LockgateError, NotFound, PayloadError, Refused
from lockgate.model.records import Actor, Human, Receipt, Record, Value
from lockgate.store import heads
from lockgate.store.commits import Committed
from lockgate.store.openfile import Transaction
from lockgate.store.receipts import Wish, command_run, speaker
from lockgate.store.statements import load

_VALUES = load("values")
MOST_TRIES = 8
_MOST_DIGITS = 9


class Patched(Record, frozen=True, kw_only=True):
    """A patch as it was applied to the settings after `change`; `problem` says why it could not be.

    `scope` is as it was given, `mount` and `invocation` are what it came to.
    """

    run_id: str
    scope: str
    patch: Value
    mount: str = ids.ROOT_MOUNT
    invocation: int = 1
    change: int = 0
    before_hash: str = ""
    after: Value | None = None
    problem: Any = None


def patch_settings(
    connection: sqlite3.Connection, run_id: str, patch: Any, *, actor: Actor | Human, scope: str = ids.ROOT_MOUNT
) -> Patched:
    """Applies a patch to the settings as they are now, for `change_settings`. Raises PayloadError for no JSON.

    `scope` is MOUNT or MOUNT#INVOCATION; without a number it is the invocation that goes on.
    """
    content = checked(patch, limit=MAX_PATCH_BYTES, root="$patch")
    given = Value(hash=sha256(content), content=content)
    try:
        return _patched(connection, run_id, scope, patch, given, speaker(actor))
    except LockgateError as problem:
        # Told inside the transaction, after the key was looked up: a repeated command gets its receipt again.
        return Patched(run_id=run_id, scope=scope, patch=given, problem=problem)


def change_settings(
    tx: Transaction,
    *,
    patched: Patched,
    actor: Actor | Human,
    key: str,
    expected_change: int | None = None,
    source: str = "command",
) -> Receipt:
    """Commits a patched settings value; `expected_change` refuses any settings but those.

    Running attempts keep what they saw; later ones see the change.
    """
    arguments = {"scope": patched.scope, "patch": patched.patch.hash, "expected_change": expected_change}
    wish = Wish(command="changeSettings", key=key, target=patched.run_id, actor=speaker(actor), arguments=arguments)
    values = [patched.patch] if patched.after is None else [patched.patch, patched.after]

    def transition(head: RunHead) -> t.ChangeSettings:
        if patched.problem is not None:
            raise patched.problem
        assert patched.after is not None
        return t.ChangeSettings(
            mount=patched.mount,
            invocation=patched.invocation,
            expected_change=patched.change if expected_change is None else expected_change,
            patch_hash=patched.patch.hash,
            before_hash=patched.before_hash,
            after_hash=patched.after.hash,
            source=source,
        )

    def answer(done: Committed) -> Receipt:
        outcome = "accepted" if done.changed else "adopted"
        details = done.results[0]
        return wish.receipt(tx, outcome, run_id=patched.run_id, revision=done.head.run.revision, details=details)

    return command_run(tx, wish, transition, values, answer)


def is_overtaken(receipt: Receipt, expected_change: int | None) -> bool:
    """Whether another change came between patching and committing, and the patch is to be applied anew: also where
    that was the very change which is expected."""
    return receipt.reason == "stale" and expected_change in (None, receipt.details["change"])


def _patched(
    connection: sqlite3.Connection, run_id: str, scope: str, patch: Any, given: Value, actor: Actor
) -> Patched:
    head = heads.head(connection, run_id)
    settings = declared(head, *_named(scope))
    spec = head.graph.settings_of(settings.mount_path)
    assert spec is not None
    row = connection.execute(_VALUES["value"], {"hash": settings.current_hash}).fetchone()
    if row is None:
        raise NotFound("value", settings.current_hash)
    try:
        after = apply_patch(msgspec.json.decode(row[0]), patch, rules=spec.rules, actor=actor.kind)
    except PayloadError as problem:
        raise Refused("invalid_patch", problem.message, path=problem.path, limit=problem.limit) from problem
    meet(spec.schema, after, "invalid_settings")
    content = stored(after)
    return Patched(
        run_id=run_id,
        scope=scope,
        patch=given,
        mount=settings.mount_path,
        invocation=settings.invocation,
        change=settings.change_number,
        before_hash=settings.current_hash,
        after=Value(hash=sha256(content), content=content),
    )


def _named(scope: str) -> tuple[str, int | None]:
    """The mount and the invocation, if one is said, of MOUNT or MOUNT#INVOCATION."""
    mount, hash, number = scope.partition("#")
    if not hash:
        return mount, None
    if not (number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS and int(number)):
        raise Refused("invalid_scope", f"a scope is MOUNT or MOUNT#INVOCATION from 1, got {scope[:80]!r}")
    return mount, int(number)
