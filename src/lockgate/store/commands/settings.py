"""changeSettings: a JSON Patch on a run's live settings, checked against its rules and its schema."""

from typing import Any

import msgspec

from lockgate.flow import transitions as t
from lockgate.flow.head import RunHead
from lockgate.flow.patches import MAX_PATCH_BYTES, apply_patch
from lockgate.model.encoding import checked, sha256, stored
from lockgate.model.errors import PayloadError, Refused
from lockgate.model.records import Actor, Receipt, Value
from lockgate.store.commits import Committed
from lockgate.store.contracts import check_settings
from lockgate.store.openfile import Transaction
from lockgate.store.receipts import Wish, command_run
from lockgate.store.statements import load

_VALUES = load("values")


def change_settings(
    tx: Transaction,
    run_id: str,
    patch: Any,
    *,
    actor: Actor,
    key: str,
    expected_change: int | None = None,
    source: str = "command",
) -> Receipt:
    """Applies the patch to the settings as they are in this transaction; `expected_change` refuses any others.

    Raises PayloadError for a patch that is none. Running attempts keep what they saw; later ones see the change.
    """
    content = checked(patch, limit=MAX_PATCH_BYTES, root="$patch")
    values = [Value(hash=sha256(content), content=content)]
    arguments = {"patch": values[0].hash, "expected_change": expected_change}
    wish = Wish(command="changeSettings", key=key, target=run_id, actor=actor, arguments=arguments)

    def transition(head: RunHead) -> t.ChangeSettings:
        settings, spec = head.settings, head.graph.settings
        if settings is None or spec is None:
            raise Refused("no_settings", f"the workflow {head.run.workflow!r} declares no settings")
        before = tx.connection.execute(_VALUES["value"], {"hash": settings.current_hash}).fetchone()[0]
        after = _patched(before, patch, spec.rules, actor)
        check_settings(spec.schema, after)
        values.append(_value(after))
        return t.ChangeSettings(
            expected_change=settings.change_number if expected_change is None else expected_change,
            patch_hash=values[0].hash,
            before_hash=settings.current_hash,
            after_hash=values[1].hash,
            source=source,
        )

    def answer(done: Committed) -> Receipt:
        outcome = "accepted" if done.changed else "adopted"
        return wish.receipt(tx, outcome, run_id=run_id, revision=done.head.run.revision, details=done.results[0])

    return command_run(tx, wish, transition, values, answer)


def _patched(before: bytes, patch: Any, rules: Any, actor: Actor) -> Any:
    try:
        return apply_patch(msgspec.json.decode(before), patch, rules=rules, actor=actor.kind)
    except PayloadError as problem:
        raise Refused("invalid_patch", problem.message, path=problem.path, limit=problem.limit) from problem


def _value(settings: Any) -> Value:
    content = stored(settings)
    return Value(hash=sha256(content), content=content)
