"""Stored values: which ones a run refers to, and whether each still is what its hash says."""

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from lockgate.model.encoding import sha256
from lockgate.model.events import Event
from lockgate.store.audit_chain import Differs
from lockgate.store.statements import load

_KEEPING = load("keeping")
_OTHER_HASHES = frozenset({"token_hash", "prev_hash"})


def names_value(field: str) -> bool:
    """Whether a column, or a fact of an event, names a stored value: every `*_hash` but token and chain."""
    return field.endswith("_hash") and field not in _OTHER_HASHES


def values_of_event(event: Event) -> Iterator[tuple[str, str]]:
    """(place, hash) of every value that the event names, however deep in its payload."""
    place = f"events {event.run_id} {event.seq}"
    for hash in hashes_in(msgspec.to_builtins(event.payload)):
        yield place, hash


def values_of_row(kind: type[Any], row: Any) -> Iterator[tuple[str, str]]:
    """(place, hash) of every value that a row names."""
    for name in kind.__struct_fields__:
        hash = getattr(row, name) if names_value(name) else None
        if hash is not None:
            yield f"{kind.__name__.removesuffix('Row').lower()} {name}", hash


def check_values(connection: sqlite3.Connection, named: Mapping[str, str]) -> int:
    """How many values are stored whole under the hash of their bytes; `named` is hash -> who names it.

    Raises Differs for the first that is missing or that is other bytes.
    """
    for hash, place in named.items():
        row = connection.execute(_KEEPING["whole_value"], {"hash": hash}).fetchone()
        if row is None:
            raise Differs("blobs", hash, None, None, f"the value named by {place}")
        found = sha256(row[0])
        if found != hash:
            raise Differs("blobs", hash, "content", f"bytes with SHA-256 {found}", f"the bytes named by {place}")
    return len(named)


def hashes_in(value: Any) -> Iterator[str]:
    """The hash of every stored value that a JSON value names, however deep."""
    if isinstance(value, dict):
        for name, item in value.items():
            if isinstance(item, str):
                if names_value(name):
                    yield item
            elif item is not None:
                yield from hashes_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from hashes_in(item)
