"""Stored values by hash, definitions, and what the store is."""

import sqlite3

import msgspec

from lockgate.model.errors import NotFound
from lockgate.model.records import Record
from lockgate.store.rows import only_row
from lockgate.store.statements import load

_VALUES, _RUNS, _META = load("values"), load("runs"), load("meta")


class StoreFacts(Record, frozen=True, kw_only=True):
    """What a store says of itself; `size` is that of the main file in bytes."""

    store_id: str
    shared_group: str | None
    created_at: int
    version: int
    size: int


def value(connection: sqlite3.Connection, hash: str) -> bytes:
    """A stored value. Raises NotFound."""
    row = connection.execute(_VALUES["value"], {"hash": hash}).fetchone()
    if row is None:
        raise NotFound("value", hash)
    return bytes(row[0])


def value_part(connection: sqlite3.Connection, hash: str, *, offset: int = 0, limit: int = 65536) -> tuple[bytes, int]:
    """At most `limit` bytes of a value from `offset`, and the size of the whole. Raises NotFound."""
    named = {"hash": hash, "first": offset + 1, "count": limit}
    row = connection.execute(_VALUES["value_part"], named).fetchone()
    if row is None:
        raise NotFound("value", hash)
    return bytes(row[0]), row[1]


def definition(connection: sqlite3.Connection, digest: str) -> bytes:
    """The document of a definition. Raises NotFound."""
    row = connection.execute(_RUNS["definition"], {"digest": digest}).fetchone()
    if row is None:
        raise NotFound("definition", digest)
    return bytes(row[0])


def store_facts(connection: sqlite3.Connection) -> StoreFacts:
    """Identity, schema version and size of the store."""
    store_id, shared_group, created_at = only_row(connection.execute(_META["meta"]), "meta")
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    return StoreFacts(
        store_id=store_id, shared_group=shared_group, created_at=created_at, version=version, size=pages * page_size
    )


def sources_of(connection: sqlite3.Connection, run_id: str) -> dict[str, str]:
    """The accepted sources of a run, path -> SHA-256."""
    row = connection.execute(_RUNS["sources"], {"run_id": run_id}).fetchone()
    content = connection.execute(_VALUES["value"], {"hash": row[0]}).fetchone() if row is not None else None
    return msgspec.json.decode(content[0], type=dict[str, str]) if content is not None else {}
