"""Lists of runs: which ones match, in which order, and the rows of those that are looked at."""

import sqlite3
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import msgspec

from lockgate.model.records import ClaimView, Current, Record, Run
from lockgate.model.statuses import RunStatus
from lockgate.store.rows import made
from lockgate.store.statements import load

_RUNS = load("runs")
_PLAIN = Run.__struct_fields__[: Run.__struct_fields__.index("claim")]
_REQUEST = ("request_id", "request_kind", "request_status", "deadline_at", "default_choice", "inline")
_CLAIM = ClaimView.__struct_fields__
_CURRENT = Current.__struct_fields__

T = TypeVar("T")


class Term(Record, frozen=True, kw_only=True):
    """One condition. `field`: text (id, workflow or title), workflow, title, run, by, error; `text` is contained
    in it, ignoring the case of ASCII letters; with `whole` it is equal; `negated` inverts."""

    field: str
    text: str
    negated: bool = False
    whole: bool = False

    @property
    def pattern(self) -> str:
        escaped = self.text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        return escaped if self.whole else f"%{escaped}%"


class RunQuery(Record, frozen=True, kw_only=True):
    """Which runs, in which order. All terms must hold. `order`: created, updated, workflow, title, status,
    active, waiting, elapsed or steps. `before` is a run id: only runs created before it (a page's cursor)."""

    statuses: tuple[RunStatus, ...] = ()
    terms: tuple[Term, ...] = ()
    created_after: int | None = None
    created_before: int | None = None
    order: str = "created"
    descending: bool = True
    limit: int = 50
    offset: int = 0
    before: str | None = None


class Page(Record, Generic[T], frozen=True, kw_only=True):
    """A window of rows; `next` is the cursor of the page after it, null at the end."""

    rows: tuple[T, ...]
    next: str | None = None


def runs(connection: sqlite3.Connection, query: RunQuery, *, now_ms: int = 0) -> Page[Run]:
    """One page of runs. Its cost is the page's, but for terms and orders without an index."""
    ids = _page_ids(connection, msgspec.structs.replace(query, limit=query.limit + 1), now_ms)
    found = runs_by_id(connection, ids[: query.limit])
    return Page(rows=found, next=ids[query.limit - 1] if len(ids) > query.limit > 0 else None)


def run_ids(connection: sqlite3.Connection, query: RunQuery, *, now_ms: int = 0) -> list[str]:
    """The ids of all runs that match, in order; limit and offset of the query do not count."""
    whole = msgspec.structs.replace(query, limit=-1, offset=0)
    if whole == RunQuery(limit=-1):
        return _decoded(connection.execute(_RUNS["all_ids"]).fetchone()[0])
    return _matching(connection, whole, now_ms)


def runs_by_id(connection: sqlite3.Connection, ids: Sequence[str]) -> tuple[Run, ...]:
    """The runs of these ids, in their order; a run that is gone is left out."""
    rows = connection.execute(_RUNS["by_ids"], {"ids": msgspec.json.encode(ids).decode()}).fetchall()
    return tuple(_run(row) for row in rows)


def open_runs(connection: sqlite3.Connection, limit: int = 2000) -> tuple[Run, ...]:
    """The newest runs that are not finished."""
    rows = connection.execute(_RUNS["ids_open"], {"limit": limit}).fetchall()
    return runs_by_id(connection, [row[0] for row in rows])


def counts(connection: sqlite3.Connection) -> dict[RunStatus, int]:
    """How many runs have each status: 6 ms for 100,000 runs, so once, and then by what the events add."""
    found = {RunStatus(status): number for status, number in connection.execute(_RUNS["counts"]).fetchall()}
    return {status: found.get(status, 0) for status in RunStatus}


def _page_ids(connection: sqlite3.Connection, query: RunQuery, now_ms: int) -> list[str]:
    """The ids of a page; the common ones have an index of their own."""
    named: dict[str, Any] = {"limit": query.limit, "offset": query.offset, **_place(connection, query)}
    plain = (
        query.order == "created" and query.descending and (query.created_after, query.created_before) == (None, None)
    )
    workflow = _only_workflow(query)
    if not plain:
        return _matching(connection, query, now_ms)
    if not query.statuses and not query.terms:
        statement = "ids_newest" if query.before is None else "ids_before"
    elif workflow is not None:
        statement, named["workflow"] = "ids_newest_of_workflow", workflow
    elif query.before is None and len(query.statuses) == 1 and not query.terms:
        statement, named["status"] = "ids_newest_of_status", query.statuses[0]
    else:
        return _matching(connection, query, now_ms)
    return [row[0] for row in connection.execute(_RUNS[statement], named).fetchall()]


def _place(connection: sqlite3.Connection, query: RunQuery) -> dict[str, Any]:
    """Where the page's cursor stands; nothing comes before a run that is gone."""
    if query.before is None:
        return {"before_at": None, "before_place": None}
    place = connection.execute(_RUNS["place"], {"run_id": query.before}).fetchone() or (0, 0)
    return {"before_at": place[0], "before_place": place[1]}


def _only_workflow(query: RunQuery) -> str | None:
    """The one workflow that is asked for, where nothing else is."""
    if len(query.terms) != 1 or query.statuses or query.before is not None:
        return None
    term = query.terms[0]
    return term.text if term.field == "workflow" and term.whole and not term.negated else None


def _matching(connection: sqlite3.Connection, query: RunQuery, now_ms: int) -> list[str]:
    terms = [{"field": t.field, "pattern": t.pattern, "negated": int(t.negated)} for t in query.terms]
    named = {
        "terms": msgspec.json.encode(terms).decode(),
        "statuses": msgspec.json.encode(query.statuses).decode() if query.statuses else None,
        "created_after": query.created_after,
        "created_before": query.created_before,
        "order": query.order,
        "descending": query.descending,
        "now": now_ms,
        "limit": query.limit,
        "offset": query.offset,
        **_place(connection, query),
    }
    newest = query.order == "created" and query.descending
    statement = "ids_newest_matching" if newest else "ids_matching"
    return _decoded(connection.execute(_RUNS[statement], named).fetchone()[0])


def _decoded(array: str) -> list[str]:
    return msgspec.json.decode(array, type=list[str])


def _run(row: Sequence[Any]) -> Run:
    plain, rest = row[: len(_PLAIN)], row[len(_PLAIN) :]
    fields: dict[str, Any] = dict(zip(_PLAIN, plain, strict=True))
    request, rest = rest[: len(_REQUEST)], rest[len(_REQUEST) :]
    claim, rest = rest[: len(_CLAIM)], rest[len(_CLAIM) :]
    current, choices = rest[: len(_CURRENT)], rest[len(_CURRENT)]
    fields.update(zip(_REQUEST, request, strict=True))
    fields["paused"], fields["inline"] = bool(fields["paused"]), bool(fields["inline"])
    fields["claim"] = dict(zip(_CLAIM, claim, strict=True)) if claim[0] is not None else None
    fields["current"] = dict(zip(_CURRENT, current, strict=True)) if current[0] is not None else None
    fields["default_label"] = _label(choices, fields["default_choice"])
    return made(Run, fields)


class _Offered(msgspec.Struct):
    key: str
    label: str


def _label(choices: bytes | None, key: str | None) -> str | None:
    """What the default is called; its key where the choices are damaged, which takes no run from the list."""
    if choices is None or key is None:
        return None
    try:
        known = msgspec.json.decode(choices, type=list[_Offered])
    except msgspec.MsgspecError:
        return key
    return next((choice.label for choice in known if choice.key == key), key)
