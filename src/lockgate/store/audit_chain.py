"""The hash chain of a run, linked again from the stored columns alone."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from lockgate.model.encoding import stored
from lockgate.model.events import PAYLOADS, Event, link
from lockgate.model.records import Actor, Record
from lockgate.store.statements import load

_KEEPING = load("keeping")


class Difference(Record, frozen=True, kw_only=True):
    """Something stored that is not what the events say. `column` is null where a whole row is missing or extra;
    `stored` is null where nothing is stored, `expected` where nothing should be."""

    table: str
    key: str
    column: str | None
    stored: Any
    expected: Any


class Differs(Exception):
    """Ends an audit at the first difference."""

    def __init__(self, table: str, key: str, column: str | None, stored: Any, expected: Any) -> None:
        super().__init__(table, key, column)
        self.difference = Difference(table=table, key=key, column=column, stored=stored, expected=expected)


def chain(connection: sqlite3.Connection, run_id: str) -> Iterator[Event]:
    """The run's events, each only once it has been found to follow the one before. Raises Differs.

    A tombstone stands alone: the chain before it is known by the head that it names.
    """
    seq, prev, at, newest = 0, None, 0, 0
    for row in connection.execute(_KEEPING["chain_of_run"], {"run_id": run_id}):
        event = _tombstone(run_id, row) if seq == 0 and row[2] == "run_pruned" else _link(run_id, row, seq + 1, prev)
        if row[0] <= newest or event.at < at:
            column, found, least = ("event_seq", row[0], newest + 1) if row[0] <= newest else ("at", event.at, at)
            raise Differs("events", f"{run_id} {event.seq}", column, found, f"at least {least}")
        seq, prev, at, newest = event.seq, event.hash, event.at, row[0]
        yield event


def _link(run_id: str, row: Sequence[Any], expected_seq: int, expected_prev: str | None) -> Event:
    _, seq, type, at, actor, attempt_id, payload, prev, hash = row
    place = f"{run_id} {seq}"
    if seq != expected_seq:
        raise Differs("events", f"{run_id} {expected_seq}", None, None, f"seq {expected_seq}, seq {seq} follows")
    if prev != expected_prev:
        raise Differs("events", place, "prev_hash", prev, expected_prev)
    said = _plain(place, "payload", payload)
    by = _plain(place, "actor", actor)
    found = link(prev=prev, run_id=run_id, seq=seq, type=type, at=at, actor=by, attempt_id=attempt_id, payload=said)
    if found != hash:
        raise Differs("events", place, "hash", hash, found)
    return _event(run_id, row, said, by)


def _event(run_id: str, row: Sequence[Any], said: Any, by: Any) -> Event:
    """The event as a record; a chain that holds may still carry what no version of Lockgate writes."""
    _, seq, type, at, _, attempt_id, _, prev, hash = row
    place = f"{run_id} {seq}"
    if type not in PAYLOADS:
        raise Differs("events", place, "type", type, "a known event type")
    try:
        payload = msgspec.convert(said, PAYLOADS[type])
        actor = msgspec.convert(by, Actor)
    except msgspec.ValidationError as problem:
        raise Differs("events", place, "payload", str(problem), f"the facts of {type}") from problem
    return Event(
        run_id=run_id,
        seq=seq,
        type=type,
        at=at,
        actor=actor,
        attempt_id=attempt_id,
        payload=payload,
        prev_hash=prev,
        hash=hash,
    )


def _plain(place: str, column: str, text: Any) -> Any:
    """The value of a stored JSON text, which must be the one text that stands for it: no spaces, no second keys."""
    try:
        value = msgspec.json.decode(text)
        same = stored(value) == text.encode()
    except (msgspec.DecodeError, RecursionError, UnicodeError, AttributeError, TypeError) as problem:
        raise Differs("events", place, column, _short(text), "JSON") from problem
    if not same:
        raise Differs("events", place, column, _short(text), _short(stored(value).decode()))
    return value


def _tombstone(run_id: str, row: Sequence[Any]) -> Event:
    said = _plain(f"{run_id} {row[1]}", "payload", row[6])
    if not isinstance(said, dict):
        raise Differs("events", f"{run_id} {row[1]}", "payload", _short(row[6]), "the facts of run_pruned")
    last = said.get("last_seq")
    return _link(run_id, row, last + 1 if isinstance(last, int) else 1, said.get("chain_head"))


def _short(text: Any) -> str:
    return str(text)[:200]
