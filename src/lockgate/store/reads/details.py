"""One run with what it owns, and windows of its attempts."""

import sqlite3
from collections.abc import Sequence
from typing import LiteralString, TypeVar

from lockgate.model import records as r
from lockgate.model.errors import NotFound
from lockgate.store.reads.runs import runs_by_id
from lockgate.store.reads.settings import newest_settings
from lockgate.store.reads.values import sources_of
from lockgate.store.rows import read_row, read_rows
from lockgate.store.statements import load

R = TypeVar("R", bound=r.Record)

ANCESTORS = 100
"""How many restarts are followed back."""

UPDATES = 256
"""How many updates of a run are looked at, newest first."""

_RUNS, _ATTEMPTS, _REQUESTS, _EFFECTS, _HOSTS = (load(n) for n in ("runs", "attempts", "requests", "effects", "hosts"))


def run(connection: sqlite3.Connection, run_id: str, *, attempts_limit: int = 100) -> r.RunDetail:
    """A run with its newest attempts, requests, effects and updates, each oldest first. Raises NotFound."""
    row = connection.execute(_RUNS["row"], {"run_id": run_id}).fetchone()
    if row is None:
        raise NotFound("run", run_id)
    shown = runs_by_id(connection, [run_id])[0]
    named = {"run_id": run_id, "limit": attempts_limit}
    tried = _newest(connection, r.AttemptRow, _ATTEMPTS["last_attempts"], named)
    child = connection.execute(_RUNS["child"], {"run_id": run_id}).fetchall()
    return r.RunDetail(
        run=shown,
        row=read_row(r.RunRow, row),
        claim=shown.claim,
        worker=_worker(connection, run_id),
        sources=sources_of(connection, run_id),
        attempts=tried,
        intervals=intervals(connection, run_id, tried[0].ordinal, tried[-1].ordinal) if tried else (),
        requests=_newest(connection, r.RequestRow, _REQUESTS["of_run"], named),
        resolutions=_newest(connection, r.ResolutionRow, _REQUESTS["resolutions_of_run"], named),
        effects=_newest(connection, r.EffectRow, _EFFECTS["of_run"], named),
        updates=_updates(connection, tried),
        children=tuple(found[0] for found in child),
        settings=newest_settings(connection, run_id),
        earlier=_earlier(connection, run_id),
    )


def attempts(
    connection: sqlite3.Connection, run_id: str, *, after: int = 0, limit: int = 100
) -> tuple[r.AttemptRow, ...]:
    """A window of attempts after the ordinal `after`, in their order."""
    named = {"run_id": run_id, "after": after, "limit": limit}
    return read_rows(r.AttemptRow, connection.execute(_ATTEMPTS["attempts"], named).fetchall())


def intervals(connection: sqlite3.Connection, run_id: str, first: int, last: int) -> tuple[r.IntervalRow, ...]:
    """The working intervals of the attempts whose ordinals lie in first..last."""
    named = {"run_id": run_id, "first": first, "last": last}
    return read_rows(r.IntervalRow, connection.execute(_ATTEMPTS["intervals"], named).fetchall())


def updates(
    connection: sqlite3.Connection, run_id: str, attempt_id: str, *, limit: int = 100
) -> tuple[r.UpdateRow, ...]:
    """The newest updates of an attempt, every one that was published, in their order."""
    return _newest(
        connection,
        r.UpdateRow,
        _ATTEMPTS["newest_updates"],
        {"run_id": run_id, "attempt_id": attempt_id, "limit": limit},
    )


def usual_durations(connection: sqlite3.Connection, workflow: str, node_id: str, limit: int = 200) -> list[int]:
    """Working times in ms of at most `limit` ok attempts of a node, from as many of its workflow's newest runs.

    Run by run, newest first: an index over the attempts of all runs would be paid for by every step.
    """
    newest = {"workflow": workflow, "limit": limit, "offset": 0}
    found: list[int] = []
    for (run_id,) in connection.execute(_RUNS["ids_newest_of_workflow"], newest).fetchall():
        named = {"run_id": run_id, "node_id": node_id, "limit": limit - len(found)}
        found.extend(row[0] for row in connection.execute(_ATTEMPTS["durations"], named))
        if len(found) >= limit:
            break
    return found


def _newest(
    connection: sqlite3.Connection, kind: type[R], statement: LiteralString, named: dict[str, object]
) -> tuple[R, ...]:
    return read_rows(kind, connection.execute(statement, named).fetchall())[::-1]


def _updates(connection: sqlite3.Connection, tried: Sequence[r.AttemptRow]) -> tuple[r.UpdateRow, ...]:
    """The newest update of each (attempt, type, key), oldest first, among the newest that were published."""
    newest: dict[tuple[str, str, str], r.UpdateRow] = {}
    for attempt in reversed(tried):
        named = {"run_id": attempt.run_id, "attempt_id": attempt.attempt_id, "limit": UPDATES - len(newest)}
        for update in read_rows(r.UpdateRow, connection.execute(_ATTEMPTS["newest_updates"], named).fetchall()):
            newest.setdefault((update.attempt_id, update.update_type, update.update_key), update)
        if len(newest) >= UPDATES:
            break
    return tuple(newest.values())[::-1]


def _earlier(connection: sqlite3.Connection, run_id: str) -> tuple[r.EarlierOutcome, ...]:
    rows = connection.execute(_RUNS["ancestors"], {"run_id": run_id, "limit": ANCESTORS}).fetchall()
    return read_rows(r.EarlierOutcome, rows)


def _worker(connection: sqlite3.Connection, run_id: str) -> r.WorkerView | None:
    row = connection.execute(_HOSTS["newest_worker"], {"run_id": run_id}).fetchone()
    return read_row(r.WorkerView, row) if row is not None else None
