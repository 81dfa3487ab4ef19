"""Trace events, in windows of a run's seq or of the store's event_seq."""

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from lockgate.model.events import PAYLOADS, Event
from lockgate.model.records import Actor, EventView
from lockgate.store.statements import load

_EVENTS = load("events")


def events(connection: sqlite3.Connection, run_id: str, *, after: int = 0, limit: int = 500) -> tuple[EventView, ...]:
    """A run's events with seq above `after`, in order; an unknown run has none."""
    return _views(connection, "of_run", {"run_id": run_id, "after": after, "limit": limit})


def last_events(connection: sqlite3.Connection, run_id: str, *, limit: int = 200) -> tuple[EventView, ...]:
    """A run's newest events, in order."""
    return _views(connection, "last_of_run", {"run_id": run_id, "limit": limit})[::-1]


def marks(connection: sqlite3.Connection, run_id: str, *, after: int = 0, limit: int = 500) -> tuple[EventView, ...]:
    """A run's newest events above `after` that change how its time is drawn: pauses, losses, unclear effects."""
    return _views(connection, "marks_of_run", {"run_id": run_id, "after": after, "limit": limit})[::-1]


def event(connection: sqlite3.Connection, run_id: str, seq: int) -> EventView | None:
    """One event of a run."""
    found = _views(connection, "event", {"run_id": run_id, "seq": seq})
    return found[0] if found else None


def events_after(connection: sqlite3.Connection, after: int, limit: int = 500) -> list[tuple[int, str, str]]:
    """(event_seq, run_id, type) of the store's events above `after`, in order: which runs changed."""
    return connection.execute(_EVENTS["after"], {"after": after, "limit": limit}).fetchall()


def latest_event_seq(connection: sqlite3.Connection) -> int:
    """The newest event of the store, 0 in an empty one."""
    return connection.execute(_EVENTS["newest_seq"]).fetchone()[0] or 0


def trace(connection: sqlite3.Connection, run_id: str, *, after: int = 0, limit: int = 500) -> tuple[Event, ...]:
    """A run's events as the law made them, for fold and audit."""
    named = {"run_id": run_id, "after": after, "limit": limit}
    return tuple(_event(row) for row in connection.execute(_EVENTS["of_run"], named).fetchall())


def _views(connection: sqlite3.Connection, name: str, named: dict[str, Any]) -> tuple[EventView, ...]:
    return tuple(_view(row) for row in connection.execute(_EVENTS[name], named).fetchall())


def _view(row: Sequence[Any]) -> EventView:
    event_seq, run_id, seq, type, at, actor, attempt_id, node, payload, _, hash = row
    return EventView(
        event_seq=event_seq,
        run_id=run_id,
        seq=seq,
        type=type,
        at=at,
        actor=msgspec.json.decode(actor, type=Actor),
        attempt_id=attempt_id,
        node=node,
        payload=msgspec.json.decode(payload),
        hash=hash,
    )


def _event(row: Sequence[Any]) -> Event:
    _, run_id, seq, type, at, actor, attempt_id, _, payload, prev_hash, hash = row
    return Event(
        run_id=run_id,
        seq=seq,
        type=type,
        at=at,
        actor=msgspec.json.decode(actor, type=Actor),
        attempt_id=attempt_id,
        payload=msgspec.json.decode(payload, type=PAYLOADS[type]),
        prev_hash=prev_hash,
        hash=hash,
    )
