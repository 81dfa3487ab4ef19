"""Ids as people type them: whole, or a unique prefix, or a run that has exactly one of what is meant."""

import re
import sqlite3
from collections.abc import Sequence

import msgspec

from lockgate.model.errors import NotFound
from lockgate.model.records import Receipt
from lockgate.store.statements import load

_RUNS, _REQUESTS, _EFFECTS, _COMMANDS = load("runs"), load("requests"), load("effects"), load("commands")
_HEX = re.compile(r"[0-9a-f]{4,40}")
_PREFIXES = ("request-", "decision-")
_SHOWN = 5


def resolve_run_id(connection: sqlite3.Connection, given: str) -> str:
    """A whole run id, or a unique prefix (at least 4) of a short id. Raises NotFound with candidates."""
    if _is_text(given) and connection.execute(_RUNS["exists"], {"run_id": given}).fetchone() is not None:
        return given
    if not 4 <= len(given) <= 8 or not _is_text(given):
        raise NotFound("run", given)
    named = {"low": given, "high": given + "\U0010ffff", "limit": _SHOWN}
    found = [row[0] for row in connection.execute(_RUNS["ids_of_short"], named).fetchall()]
    return _only("run", given, found)


def resolve_request_id(connection: sqlite3.Connection, given: str) -> str:
    """A whole request or decision id, a unique prefix of its hex, or a run with exactly one pending request."""
    if _is_text(given) and connection.execute(_REQUESTS["request"], {"request_id": given}).fetchone() is not None:
        return given
    found = _by_hex(connection, given)
    if not found:
        run_id = _run_or_none(connection, given)
        if run_id is None:
            raise NotFound("request", given)
        found = [row[0] for row in connection.execute(_REQUESTS["pending_of_run"], {"run_id": run_id}).fetchall()]
    return _only("request", given, found)


def resolve_effect_id(connection: sqlite3.Connection, given: str) -> str:
    """A whole effect id, a unique prefix of its hex, or a run with exactly one ambiguous effect."""
    if _is_text(given) and connection.execute(_EFFECTS["effect"], {"effect_id": given}).fetchone() is not None:
        return given
    found: list[str] = []
    hex = given.removeprefix("effect-")
    if _HEX.fullmatch(hex):
        named = {"low": f"effect-{hex}", "high": f"effect-{hex}g", "limit": _SHOWN}
        found = [row[0] for row in connection.execute(_EFFECTS["ids_like"], named).fetchall()]
    if not found:
        run_id = _run_or_none(connection, given)
        if run_id is None:
            raise NotFound("effect", given)
        found = [row[0] for row in connection.execute(_EFFECTS["ambiguous_of_run"], {"run_id": run_id}).fetchall()]
    return _only("effect", given, found)


def receipt(connection: sqlite3.Connection, key: str) -> Receipt | None:
    """The stored reply to the command that used this key."""
    row = connection.execute(_COMMANDS["command"], {"key": key}).fetchone()
    return msgspec.json.decode(row[2], type=Receipt) if row is not None else None


def _by_hex(connection: sqlite3.Connection, given: str) -> list[str]:
    kinds = [prefix for prefix in _PREFIXES if given.startswith(prefix)] or list(_PREFIXES)
    hex = given.removeprefix(kinds[0]) if len(kinds) == 1 else given
    if _HEX.fullmatch(hex) is None:
        return []
    found: list[str] = []
    for prefix in kinds:
        named = {"low": f"{prefix}{hex}", "high": f"{prefix}{hex}g", "limit": _SHOWN}
        found += [row[0] for row in connection.execute(_REQUESTS["ids_like"], named).fetchall()]
    return found


def _is_text(given: str) -> bool:
    """Whether it can be asked for at all: bytes that are no UTF-8 come from a command line as lone surrogates."""
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return True


def _run_or_none(connection: sqlite3.Connection, given: str) -> str | None:
    """The run, or None where there is none; several are an error that names them."""
    try:
        return resolve_run_id(connection, given)
    except NotFound as missing:
        if missing.details["candidates"]:
            raise
        return None


def _only(what: str, given: str, found: Sequence[str]) -> str:
    if len(found) != 1:
        raise NotFound(what, given, found)
    return found[0]
