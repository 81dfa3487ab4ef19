"""Records to columns and back: a row is read as `table.*`, in the order of its record's fields.

A status comes out of SQLite as plain text and is checked on its way into its record: a value that the record's
type does not know is an error here, not somewhere on a screen.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString, TypeVar

import msgspec

from lockgate.model import records as r
from lockgate.store.statements import load

R = TypeVar("R", bound=r.Record)

_BOOLEANS: dict[type, tuple[str, ...]] = {r.RunRow: ("paused",)}


def width(kind: type[r.Record]) -> int:
    """How many columns a row of this kind has."""
    return len(kind.__struct_fields__)


def read_row(kind: type[R], values: Sequence[Any]) -> R:
    """The record of exactly these columns. A row that no version writes is a msgspec.ValidationError that names it:
    StoreDamaged, once it leaves the store."""
    fields: dict[str, Any] = dict(zip(kind.__struct_fields__, values, strict=True))
    for name in _BOOLEANS.get(kind, ()):
        fields[name] = bool(fields[name])
    return made(kind, fields)


def made(kind: type[R], fields: Mapping[str, Any]) -> R:
    """A record of these fields, the first of which tells which row it was."""
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as problem:
        raise msgspec.ValidationError(f"{kind.__name__} {next(iter(fields.values()))!r}: {problem}") from problem


def read_rows(kind: type[R], rows: Sequence[Sequence[Any]]) -> tuple[R, ...]:
    return tuple(read_row(kind, row) for row in rows)


def only_row(cursor: sqlite3.Cursor, table: str) -> Sequence[Any]:
    """The row of a table that has exactly one in every store. Without it: msgspec.ValidationError, as above."""
    row: Sequence[Any] | None = cursor.fetchone()
    if row is None:
        raise msgspec.ValidationError(f"{table} has no row, and every store has one")
    return row


class Columns:
    """Takes records off one wide row, from left to right."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values
        self._at = 0

    def take(self, kind: type[R]) -> R:
        begin, self._at = self._at, self._at + width(kind)
        return read_row(kind, self._values[begin : self._at])

    def take_or_none(self, kind: type[R]) -> R | None:
        """None where an outer join found nothing: the first column of every record's row is never null."""
        if self._values[self._at] is None:
            self._at += width(kind)
            return None
        return self.take(kind)

    def rest(self) -> Sequence[Any]:
        return self._values[self._at :]


_attempts, _requests, _effects, _runs = load("attempts"), load("requests"), load("effects"), load("runs")
_settings = load("settings")

SAVES: dict[type, LiteralString] = {
    r.UpdateRow: _attempts["save_update"],
    r.RequestRow: _requests["save_request"],
    r.DecisionRow: _requests["save_decision"],
    r.ResolutionRow: _requests["save_resolution"],
    r.SubmissionRow: _requests["save_submission"],
    r.EffectRow: _effects["save_effect"],
    r.EffectAttemptRow: _effects["save_effect_attempt"],
    r.SourceRow: _runs["save_sources"],
    r.SettingsRow: _settings["save_settings"],
    r.SettingsChangeRow: _settings["save_change"],
}
"""The one statement that saves each kind of row whole, by its primary key; attempts and intervals have two."""


def save_row(connection: sqlite3.Connection, row: r.Row, known: r.AttemptRow | None) -> None:
    """Saves a row; `known` is the run's active attempt so far, so that a new one is told from a changed one.

    An upsert would do for attempts too, but first prepares a new entry for each of their indexes.
    """
    columns = msgspec.structs.asdict(row)
    if isinstance(row, r.AttemptRow):
        _insert_or_change(connection, known is None or known.ordinal != row.ordinal, "attempt", columns)
    elif isinstance(row, r.IntervalRow):
        _insert_or_change(connection, row.ended_at is None, "interval", columns)
    else:
        connection.execute(SAVES[type(row)], columns)


_PAIRS = {
    "attempt": (_attempts["insert_attempt"], _attempts["change_attempt"]),
    "interval": (_attempts["open_interval"], _attempts["close_interval"]),
}


def _insert_or_change(connection: sqlite3.Connection, is_new: bool, what: str, columns: dict[str, Any]) -> None:
    insert, change = _PAIRS[what]
    if is_new:
        connection.execute(insert, columns)
    elif connection.execute(change, columns).rowcount != 1:
        raise msgspec.ValidationError(f"the {what} of {columns['attempt_id']} is not the one that was read")
