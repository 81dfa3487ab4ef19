"""The rows of a run from its events alone: replay reads it, audit compares the stored rows with it."""

from collections.abc import Iterable
from typing import Any

from lockgate.flow.enact import enact
from lockgate.flow.graph import Graph
from lockgate.flow.head import RunHead
from lockgate.model.events import Event
from lockgate.model.records import (
    AttemptRow,
    DecisionRow,
    EffectAttemptRow,
    EffectRow,
    IntervalRow,
    RequestRow,
    ResolutionRow,
    Row,
    SettingsChangeRow,
    SettingsRow,
    SourceRow,
    SubmissionRow,
    UpdateRow,
)

PRIMARY_KEYS: dict[type, tuple[str, ...]] = {
    AttemptRow: ("run_id", "ordinal"),
    IntervalRow: ("attempt_id", "interval_number"),
    RequestRow: ("request_id",),
    DecisionRow: ("decision_id",),
    ResolutionRow: ("decision_id",),
    SubmissionRow: ("submission_id",),
    EffectRow: ("effect_id",),
    EffectAttemptRow: ("effect_id", "attempt_number"),
    UpdateRow: ("update_id",),
    SourceRow: ("run_id",),
    SettingsRow: ("scope_id",),
    SettingsChangeRow: ("change_id",),
}
"""The primary key of each kind of row that a transition saves."""

UNFOLDED = frozenset(
    {"token_hash", "owner_kind", "owner_id", "host_epoch", "boot_id", "heartbeat_mono", "heartbeat_at"}
)
"""The columns of run_queue that are beside the events: claim token and lease."""


class Fold:
    """Rows grown event by event; `head` is the run's head after the last one (None before the first)."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.head: RunHead | None = None
        self.tables: dict[type, dict[tuple[Any, ...], Row]] = {kind: {} for kind in PRIMARY_KEYS}

    def add(self, event: Event) -> None:
        self.head, rows = enact(self.head, event, self.graph)
        for row in rows:
            kind = type(row)
            self.tables[kind][tuple(getattr(row, name) for name in PRIMARY_KEYS[kind])] = row


def fold(events: Iterable[Event], graph: Graph) -> Fold:
    """All of a run's events, in order of seq, as its rows."""
    folded = Fold(graph)
    for event in events:
        folded.add(event)
    return folded
