"""The big store: many runs with a valid chain, made through the law and written in bulk.

The mix is that of a store in use: nearly all runs are over, some failed, a few wait for a person, one is very long.
"""

import gc
import os
import random
import secrets
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from lockgate.flow import transitions as t
from lockgate.flow.graph import Graph
from lockgate.model import ids
from lockgate.model.encoding import sha256, stored
from lockgate.model.events import Birth, Event
from lockgate.model.records import Actor
from lockgate.store.anchor import Anchor
from lockgate.store.audit_rows import TABLES
from lockgate.store.clock import SystemClock
from lockgate.store.openfile import open_file
from lockgate.store.statements import load
from tests.benchmarks.story import USER, Story, Values, shape

RUNS, EVENTS = 100_000, 1_000_000
LONG_STEPS = 5_000
WAITING = 12
WORKFLOWS = ("release", "nightly", "import-orders", "reconcile", "report", "backup", "cleanup", "mirror")
NEWEST = "NEWEST"
"""Short, so that no column cuts it."""
_BATCH = 2_000
_APART_MS = 30_000
_RUNS, _VALUES = load("runs"), load("values")
_FAST = ("PRAGMA journal_mode=MEMORY", "PRAGMA synchronous=OFF", "PRAGMA cache_size=-262144")


@dataclass(frozen=True)
class Made:
    """What was written, and how long it took."""

    runs: int
    events: int
    seconds: float


def make(
    path: Path,
    *,
    runs: int = RUNS,
    waiting: int = WAITING,
    long_steps: int = LONG_STEPS,
    deadline_s: int | None = None,
) -> Made:
    """A new store with `runs` runs of about ten events each; the newest is titled NEWEST.

    `waiting` of them wait for a person, until `deadline_s` after they asked; one has `long_steps` steps.
    """
    began = time.monotonic()
    file = open_file(path, SystemClock(), create=True)
    try:
        for pragma in _FAST:
            file.connection.execute(pragma)
        gc.disable()
        written = _write(file.connection, _stories(runs, waiting, long_steps, deadline_s))
        file.connection.execute("PRAGMA journal_mode=WAL")
        # The log was taken away by nobody but this connection.
        file.anchor = Anchor(str(path))
    finally:
        gc.enable()
        file.close()
    _sync(path)
    return Made(runs, written, time.monotonic() - began)


def _sync(path: Path) -> None:
    """Onto the disk, as every store is before anybody relies on it; no connection is open now."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# --- the runs ---------------------------------------------------------------------------------------------------


def _stories(runs: int, waiting: int, long_steps: int, deadline_s: int | None) -> Iterator[Story]:
    """Oldest first; the same runs for the same numbers, but for random ids and the date."""
    dice = random.Random(42)
    values = Values()
    graphs = {name: shape(name) for name in WORKFLOWS}
    start = time.time_ns() // 1_000_000 - runs * _APART_MS
    waits = set(range(max(0, runs - 3 * waiting), runs, 3)) if waiting < runs else set(range(runs))
    for number in range(runs):
        title = NEWEST if number == runs - 1 else f"{WORKFLOWS[number % 7]} of batch {number:06d}"
        values.content.clear()
        story = _born(graphs[WORKFLOWS[number % len(WORKFLOWS)]], title, start + number * _APART_MS, number, values)
        if number == runs // 2 and long_steps:
            _long(story, long_steps)
        elif number in waits:
            _waits(story, number, deadline_s)
        else:
            _over(story, number, dice)
        yield story


def _born(graph: Graph, title: str, at_ms: int, number: int, values: Values) -> Story:
    stamp = datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")
    run_id = ids.run_id(stamp, graph.name, secrets.token_hex(4))
    birth = Birth(
        workflow=graph.name,
        definition_digest=sha256(_document(graph)),
        workflow_ref=f"/srv/project/.lockgate/workflows/{graph.name}.py:{graph.name}",
        project_dir="/srv/project",
        title=title,
        input_hash=values.keep({"batch": number}),
        sources_hash=values.keep({f"/srv/project/.lockgate/workflows/{graph.name}.py": "0" * 64}),
        started_by=USER.id,
        started_by_uid=1000,
        parent_run_id=None,
        parent_revision=None,
        root_run_id=run_id,
        restart_number=0,
    )
    return Story(run_id, birth, graph, at_ms, values)


def _document(graph: Graph) -> bytes:
    return stored(msgspec.to_builtins(graph))


def _over(story: Story, number: int, dice: random.Random) -> None:
    """A run that has ended: most completed, one in 25 failed, one in 50 by way of a person, one in 100 cancelled."""
    story.tick(dice.randrange(3, 400))
    story.claim()
    story.tick(80)
    story.step("fetch", {"files": number % 97}, dice.randrange(20, 2_000))
    kind = dice.randrange(100)
    if kind < 4:
        story.fail("build", f"batch {number} has no header", dice.randrange(20, 2_000))
    elif kind < 5:
        story.begin("build")
        story.tick(dice.randrange(100))
        story.apply(t.Cancel(), USER)
    elif kind < 7:
        story.step("build", {"next": "ask"}, dice.randrange(20, 9_000), "ask")
        story.ask({"batch": number})
        story.tick(dice.randrange(1_000, 900_000))
        story.answer("go" if kind == 5 else "stop")
    else:
        story.step("build", {"next": "test"}, dice.randrange(20, 9_000), "test")
        story.step("test", {"passed": number}, dice.randrange(20, 5_000))
        story.complete()


def _waits(story: Story, number: int, deadline_s: int | None) -> None:
    story.claim()
    story.step("fetch", {"files": number % 97}, 700)
    story.step("build", {"next": "ask"}, 1_200, "ask")
    story.ask({"batch": number}, deadline_s)


def _long(story: Story, steps: int) -> None:
    """A run that goes round many times."""
    story.claim()
    for _ in range(steps // 2 - 1):
        story.step("fetch", {"files": 1}, 20)
        story.step("build", {"next": "again"}, 30, "again")
    story.step("fetch", {"files": 2}, 20)
    story.step("build", {"next": "test"}, 30, "test")
    story.step("test", {"passed": 1}, 40)
    story.complete()


# --- into the store ---------------------------------------------------------------------------------------------


def _write(connection: sqlite3.Connection, stories: Iterator[Story]) -> int:
    """Writes the runs, many to a transaction; how many events they had."""
    for name in WORKFLOWS:
        document = _document(shape(name))
        row = {"digest": sha256(document), "name": name, "document": document}
        connection.execute(_RUNS["save_definition"], row)
    events = 0
    batch = _Batch()
    for story in stories:
        events += batch.add(story)
        if batch.is_full:
            batch.write(connection)
            batch = _Batch()
    batch.write(connection)
    return events


def _insert(kind: type[Any]) -> str:
    """A table of a run has exactly the fields of its record, in their order."""
    places = ", ".join("?" * len(kind.__struct_fields__))
    return f"INSERT INTO {TABLES[kind][0]} VALUES ({places})"


_INSERTS = {kind: _insert(kind) for kind in TABLES}


class _Batch:
    """Rows of many runs by their statement, so that each statement runs over all of them at once."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self._values: dict[str, dict[str, Any]] = {}
        self._events: list[tuple[Any, ...]] = []
        self._runs = 0

    @property
    def is_full(self) -> bool:
        return self._runs >= _BATCH or len(self._events) >= 10 * _BATCH

    def add(self, story: Story) -> int:
        self._runs += 1
        for row in (story.head.run, story.head.queue, *story.rows.values()):
            self._rows.setdefault(_INSERTS[type(row)], []).append(msgspec.structs.astuple(row))
        for name, content in story.values.content.items():
            self._values[name] = {"hash": name, "content": content}
        self._events += [_columns(event) for event in story.events]
        return len(story.events)

    def write(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        for statement, rows in self._rows.items():
            connection.executemany(statement, rows)
        connection.executemany(_VALUES["save_value"], list(self._values.values()))
        connection.executemany(_INSERT_EVENT, self._events)
        connection.execute("COMMIT")


_INSERT_EVENT = "INSERT INTO events VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def _columns(event: Event) -> tuple[Any, ...]:
    payload = stored(event.payload).decode()
    actor = _actor(event.actor)
    attempt = event.attempt_id
    return event.run_id, event.seq, event.type, event.at, actor, attempt, payload, event.prev_hash, event.hash


@cache
def _actor(actor: Actor) -> str:
    return stored(actor).decode()
