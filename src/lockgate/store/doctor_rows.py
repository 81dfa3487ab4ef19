"""What must hold between the rows of a sound store: the table of situations, and what follows from the law."""

import sqlite3
import time
from collections.abc import Iterator
from typing import LiteralString

from lockgate.model.records import Record
from lockgate.store.audit import Audit, audit
from lockgate.store.statements import load

_INVARIANTS, _KEEPING = load("invariants"), load("keeping")
MOST_SHOWN = 5
SAMPLE_EVENTS = 20_000
_ASIDE = "Change nothing by hand: make a copy with lockgate backup, then compare it with an older one."


class Finding(Record, frozen=True, kw_only=True):
    """Something that is not as it should be: what, where, and what can safely be done about it."""

    code: str
    what: str
    where: str
    action: str


class Sample(Record, frozen=True, kw_only=True):
    """How many runs were compared with their events, of how many."""

    runs: int
    of: int
    events: int


RULES: tuple[tuple[str, LiteralString, str], ...] = (
    ("illegal_situation", _INVARIANTS["illegal_situation"], "a run stands in no legal situation"),
    ("loose_head", _INVARIANTS["loose_head"], "a run's head is not its newest event"),
    ("stray_events", _INVARIANTS["stray_events"], "there are events of a run that is not there"),
    ("event_numbers", _INVARIANTS["event_numbers"], "event numbers would be used again"),
    ("pending_request", _INVARIANTS["pending_request"], "no waiting attempt belongs to a pending request"),
    ("accepted_request", _INVARIANTS["accepted_request"], "a settled request has no accepted answer"),
    ("second_winner", _INVARIANTS["second_winner"], "a request has an accepted answer that did not win"),
    ("decision_request", _INVARIANTS["decision_request"], "a decision and its request do not belong together"),
    ("resolution", _INVARIANTS["resolution"], "a decision's resolution does not fit its request"),
    ("active_clock", _INVARIANTS["active_clock"], "a working clock runs though nobody works"),
    ("working_time", _INVARIANTS["working_time"], "an attempt's working time is not the sum of its intervals"),
    ("run_sums", _INVARIANTS["run_sums"], "a run's steps or working time are not those of its attempts"),
    ("unsure_effect", _INVARIANTS["unsure_effect"], "an effect's state does not fit its run"),
    ("blocked_effect", _INVARIANTS["blocked_effect"], "a run asks about an effect though none is unsure"),
    ("effect_tries", _INVARIANTS["effect_tries"], "an effect's tries are not as many as it counts"),
    ("claim_epoch", _INVARIANTS["claim_epoch"], "a claim is held by a host that the store has not seen"),
    ("worker", _INVARIANTS["worker"], "a launch does not belong to its run's claims"),
    ("command", _INVARIANTS["command"], "a command and its receipt do not belong together"),
    ("policy", _INVARIANTS["policy"], "a policy cannot be read, so that no decision of its audience can be opened"),
    ("lineage", _INVARIANTS["lineage"], "a restart does not belong to its parent"),
    ("missing_value", _INVARIANTS["missing_value"], "a hash names a value that is not stored"),
)
"""Every invariant: its code, the statement that finds what breaks it, and what that is called."""


def broken_rules(connection: sqlite3.Connection) -> Iterator[Finding]:
    """What breaks the invariants, the first few places of each."""
    for code, statement, what in RULES:
        rows = connection.execute(statement, {"limit": MOST_SHOWN + 1}).fetchall()
        for place, detail in rows[:MOST_SHOWN]:
            yield Finding(code=code, what=f"{what}: {detail}", where=str(place), action=_ASIDE)
        if len(rows) > MOST_SHOWN:
            yield Finding(code=code, what=f"{what}: there are more of these", where="the store", action=_ASIDE)


def differing_runs(
    connection: sqlite3.Connection, findings: list[Finding], *, every: bool, seconds: float | None = None
) -> Sample:
    """Audits runs and adds what differs: unfinished ones first, then the newest, until enough events were read."""
    total = connection.execute(_KEEPING["run_count"]).fetchone()[0]
    runs = events = 0
    began = time.monotonic()
    for (run_id,) in connection.execute(_KEEPING["runs_to_audit"]):
        if not every and (events >= SAMPLE_EVENTS or (seconds is not None and time.monotonic() - began > seconds)):
            break
        found = audit(connection, run_id)
        runs, events = runs + 1, events + found.events
        _note_difference(findings, found)
    return Sample(runs=runs, of=total, events=events)


def differing_tombstones(
    connection: sqlite3.Connection, findings: list[Finding], *, seconds: float | None = None
) -> tuple[int, int]:
    """Audits what is left of pruned runs, for so long at most; how many were looked at, of how many."""
    gone = [row[0] for row in connection.execute(_KEEPING["tombstones"]).fetchall()]
    began = time.monotonic()
    for looked_at, run_id in enumerate(gone):
        if seconds is not None and time.monotonic() - began > seconds:
            return looked_at, len(gone)
        _note_difference(findings, audit(connection, run_id))
    return len(gone), len(gone)


def _note_difference(findings: list[Finding], found: Audit) -> None:
    differs = found.difference
    if differs is None or len(findings) >= MOST_SHOWN:
        return
    place = f"{differs.table} {differs.key}{f' {differs.column}' if differs.column else ''}"
    what = f"stored {_short(differs.stored)}, its events say {_short(differs.expected)}"
    action = f"lockgate audit {found.run_id}"
    findings.append(Finding(code="rows_differ", what=f"{place}: {what}", where=found.run_id, action=action))


def _short(value: object) -> str:
    return "nothing" if value is None else repr(value)[:80]
