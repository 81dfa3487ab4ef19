"""Live settings replayed: every change follows the one before it, and its patch makes what it says."""

import sqlite3
from itertools import pairwise
from typing import Any

import msgspec

from lockgate.flow.fold import Fold
from lockgate.flow.graph import Graph
from lockgate.flow.patches import apply_patch
from lockgate.model import records as r
from lockgate.model.encoding import sha256, stored
from lockgate.model.errors import LockgateError
from lockgate.store.audit_chain import Differs
from lockgate.store.statements import load

_KEEPING = load("keeping")
_TABLE = "workflow_setting_changes"


def check_settings(connection: sqlite3.Connection, folded: Fold) -> None:
    """Every scope from its first value to its present one. The values exist. Raises Differs."""
    rows: Any = folded.tables[r.SettingsChangeRow].values()
    for scope in folded.tables[r.SettingsRow].values():
        assert isinstance(scope, r.SettingsRow)
        changes = sorted(
            (row for row in rows if row.scope_id == scope.scope_id), key=lambda change: change.change_number
        )
        numbers = [change.change_number for change in changes]
        if numbers != list(range(1, scope.change_number + 1)):
            raise Differs("workflow_settings", scope.scope_id, "change_number", scope.change_number, len(numbers))
        hashes = [scope.initial_hash, *(change.after_hash for change in changes)]
        for change, (before, _) in zip(changes, pairwise(hashes), strict=True):
            if change.before_hash != before:
                raise Differs(_TABLE, change.change_id, "before_hash", change.before_hash, before)
            _replay(connection, folded.graph, scope.mount_path, change)
        if hashes[-1] != scope.current_hash:
            raise Differs("workflow_settings", scope.scope_id, "current_hash", scope.current_hash, hashes[-1])


def _replay(connection: sqlite3.Connection, graph: Graph, mount: str, change: r.SettingsChangeRow) -> None:
    before, patch = (_value(connection, hash) for hash in (change.before_hash, change.patch_hash))
    declared = graph.settings_of(mount)
    rules = declared.rules if declared is not None else ()
    try:
        after = apply_patch(before, patch, rules=rules, actor=change.actor_kind)
    except LockgateError as problem:
        raise Differs(
            _TABLE, change.change_id, "patch_hash", problem.message, "a patch that could be made"
        ) from problem
    made = sha256(stored(after))
    if made != change.after_hash:
        raise Differs(_TABLE, change.change_id, "after_hash", change.after_hash, made)


def _value(connection: sqlite3.Connection, hash: str) -> Any:
    row = connection.execute(_KEEPING["whole_value"], {"hash": hash}).fetchone()
    if row is None:
        raise Differs("blobs", hash, None, None, "a stored value")
    return msgspec.json.decode(row[0])
