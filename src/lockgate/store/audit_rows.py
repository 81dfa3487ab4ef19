"""Every stored row of a run against the row that its events make, column by column."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

import msgspec

from lockgate.flow.fold import PRIMARY_KEYS, UNFOLDED, Fold
from lockgate.model import records as r
from lockgate.store.audit_chain import Differs
from lockgate.store.statements import load

_KEEPING = load("keeping")

TABLES: dict[type[Any], tuple[str, LiteralString]] = {
    r.RunRow: ("runs", _KEEPING["run_rows"]),
    r.QueueRow: ("run_queue", _KEEPING["queue_rows"]),
    r.SourceRow: ("run_sources", _KEEPING["source_rows"]),
    r.AttemptRow: ("node_attempts", _KEEPING["attempt_rows"]),
    r.IntervalRow: ("attempt_active_intervals", _KEEPING["interval_rows"]),
    r.RequestRow: ("requests", _KEEPING["request_rows"]),
    r.DecisionRow: ("human_decisions", _KEEPING["decision_rows"]),
    r.SubmissionRow: ("submissions", _KEEPING["submission_rows"]),
    r.ResolutionRow: ("human_decision_resolutions", _KEEPING["resolution_rows"]),
    r.EffectRow: ("effects", _KEEPING["effect_rows"]),
    r.EffectAttemptRow: ("effect_attempts", _KEEPING["effect_attempt_rows"]),
    r.UpdateRow: ("workflow_updates", _KEEPING["update_rows"]),
    r.SettingsRow: ("workflow_settings", _KEEPING["settings_rows"]),
    r.SettingsChangeRow: ("workflow_setting_changes", _KEEPING["setting_change_rows"]),
}
"""Every kind of row that the fold makes, its table, and the statement that reads a run's rows of it."""

_KEYS: dict[type[Any], tuple[str, ...]] = {**PRIMARY_KEYS, r.RunRow: ("run_id",), r.QueueRow: ("run_id",)}
_BESIDE: dict[type[Any], frozenset[str]] = {r.QueueRow: UNFOLDED}


def compare(connection: sqlite3.Connection, run_id: str, folded: Fold | None) -> int:
    """How many rows of the run agree with the fold (None: a pruned run, which has none). Raises Differs."""
    count = 0
    for kind, (table, statement) in TABLES.items():
        expected = _expected(kind, folded)
        for values in connection.execute(statement, {"run_id": run_id}).fetchall():
            _compare(kind, table, dict(zip(kind.__struct_fields__, values, strict=True)), expected)
            count += 1
        for key in expected:
            raise Differs(table, _shown(key), None, None, "a row")
    return count


def _expected(kind: type[Any], folded: Fold | None) -> dict[tuple[Any, ...], Any]:
    if folded is None or folded.head is None:
        return {}
    if kind is r.RunRow:
        return {(folded.head.run.run_id,): folded.head.run}
    if kind is r.QueueRow:
        return {(folded.head.queue.run_id,): folded.head.queue}
    return dict(folded.tables[kind])


def _compare(kind: type[Any], table: str, stored: Mapping[str, Any], expected: dict[tuple[Any, ...], Any]) -> None:
    key = tuple(stored[name] for name in _KEYS[kind])
    row = expected.pop(key, None)
    if row is None:
        raise Differs(table, _shown(key), None, "a row", None)
    facts = msgspec.structs.asdict(row)
    for name, value in stored.items():
        if name not in _BESIDE.get(kind, frozenset()) and value != facts[name]:
            raise Differs(table, _shown(key), name, value, facts[name])


def _shown(key: Sequence[Any]) -> str:
    return " ".join(str(part) for part in key)
