"""What the law decides on, read inside the transaction: the head of a run, and the facts of one transition."""

import sqlite3
from collections.abc import Callable
from typing import Any, LiteralString, TypeVar

import msgspec

from lockgate.flow import transitions as t
from lockgate.flow.graph import Graph
from lockgate.flow.head import Facts, LastStep, RunHead, Scope
from lockgate.model import ids
from lockgate.model import records as r
from lockgate.model.errors import DefinitionError, NotFound, StoreDamaged
from lockgate.model.statuses import NodeKind, Outcome
from lockgate.store.graphs import graph_of
from lockgate.store.reads.requests import policy
from lockgate.store.rows import Columns, read_row
from lockgate.store.statements import load

R = TypeVar("R", bound=r.Record)

_RUNS, _ATTEMPTS, _REQUESTS, _EFFECTS = load("runs"), load("attempts"), load("requests"), load("effects")
_SETTINGS = load("settings")
NO_FACTS = Facts()

_ASKING = frozenset({NodeKind.AGENT, NodeKind.CHECKPOINT, NodeKind.HUMAN_DECISION})
_ACTING = frozenset({NodeKind.ACTION, NodeKind.SHELL})


UNREADABLE = (DefinitionError, NotFound, StoreDamaged, msgspec.MsgspecError, sqlite3.IntegrityError)
"""What reading a run, or changing it, raises where its rows or its definition are damaged."""

NO_GRAPH = Graph(version=0, name="", start="", max_steps=0, nodes={}, edges=())


def head(connection: sqlite3.Connection, run_id: str, graph: Graph | None = None) -> RunHead:
    """The head of a run. Raises NotFound.

    One query, and one more for what only some nodes and workflows have: a request, an effect, settings, an include
    that the run is in. Most steps have none of them, and outer joins for all would cost as much again.

    With NO_GRAPH its definition need not be readable: for a claim that ends and for commands that ask no graph.
    """
    row = connection.execute(_RUNS["head"], {"run_id": run_id}).fetchone()
    if row is None:
        raise NotFound("run", run_id)
    columns = Columns(row)
    run, queue = columns.take(r.RunRow), columns.take(r.QueueRow)
    attempt, interval = columns.take_or_none(r.AttemptRow), columns.take_or_none(r.IntervalRow)
    graph = graph or graph_of(connection, run.definition_digest)
    last = _last_step(*columns.rest())
    request, decision = _asked_by(connection, attempt)
    effect, effect_attempt = _done_by(connection, attempt)
    return RunHead(
        run=run,
        queue=queue,
        graph=graph,
        attempt=attempt,
        interval=interval,
        request=request,
        decision=decision,
        effect=effect,
        effect_attempt=effect_attempt,
        scopes=_scopes(connection, graph, run_id, last),
        last=last,
    )


def _scopes(connection: sqlite3.Connection, graph: Graph, run_id: str, last: LastStep | None) -> tuple[Scope, ...]:
    """The invocations that go on; which they are follows from the last step."""
    settings = None
    if graph.settings is not None:
        settings = _one(connection, r.SettingsRow, _SETTINGS["root_settings"], {"run_id": run_id})
    root = Scope(mount=ids.ROOT_MOUNT, invocation=1, steps=0, settings=settings)
    if last is None or not graph.mounts:
        return (root,)
    return (root, *(_scope(connection, run_id, mount) for mount in graph.open_after(last.node_id, last.outcome)))


def _scope(connection: sqlite3.Connection, run_id: str, mount: str) -> Scope:
    row = connection.execute(_ATTEMPTS["entered"], {"run_id": run_id, "mount": mount}).fetchone()
    if row is None:
        raise msgspec.ValidationError(f"the run {run_id} is in {mount!r}, and no step of it went in")
    columns = Columns(row)
    settings = columns.take_or_none(r.SettingsRow)
    invocation, steps = columns.rest()
    return Scope(mount=mount, invocation=invocation, steps=steps, settings=settings)


def _asked_by(
    connection: sqlite3.Connection, attempt: r.AttemptRow | None
) -> tuple[r.RequestRow | None, r.DecisionRow | None]:
    if attempt is None or attempt.kind not in _ASKING:
        return None, None
    row = connection.execute(_REQUESTS["asked_by"], {"attempt_id": attempt.attempt_id}).fetchone()
    if row is None:
        return None, None
    columns = Columns(row)
    return columns.take(r.RequestRow), columns.take_or_none(r.DecisionRow)


def _done_by(
    connection: sqlite3.Connection, attempt: r.AttemptRow | None
) -> tuple[r.EffectRow | None, r.EffectAttemptRow | None]:
    if attempt is None or attempt.kind not in _ACTING:
        return None, None
    named = {"run_id": attempt.run_id, "node_id": attempt.node_id, "visit": attempt.visit}
    row = connection.execute(_EFFECTS["done_by"], named).fetchone()
    if row is None:
        return None, None
    columns = Columns(row)
    return columns.take(r.EffectRow), columns.take_or_none(r.EffectAttemptRow)


def _last_step(
    ordinal: int | None,
    attempt_number: int,
    visit: int,
    node_id: str,
    outcome: str,
    switch_value: str | None,
    output_hash: str | None,
) -> LastStep | None:
    if ordinal is None:
        return None
    return LastStep(
        ordinal=ordinal,
        attempt_number=attempt_number,
        visit=visit,
        node_id=node_id,
        outcome=Outcome(outcome),
        switch_value=switch_value,
        output_hash=output_hash,
    )


def facts(transition: Any, connection: sqlite3.Connection, head: RunHead) -> Facts:
    """The rows that one transition needs besides the head; most need none."""
    read = _READS.get(type(transition))
    return read(transition, connection, head) if read is not None else NO_FACTS


def _for_start(transition: t.StartAttempt, connection: sqlite3.Connection, head: RunHead) -> Facts:
    at = {"run_id": head.run.run_id, "node_id": transition.node_id, "attempt_id": transition.attempt_id}
    taken = connection.execute(_ATTEMPTS["has_attempt"], at).fetchone() is not None
    newest = head.newest
    if newest is not None and newest.node_id == transition.node_id:
        # The head knows what the transitions before this one did; the rows may not be written yet.
        finished = newest is head.last
        number, visit = newest.attempt_number, newest.visit
    else:
        number, visit, finished = connection.execute(_ATTEMPTS["newest_of_node"], at).fetchone() or (0, 0, True)
    # A lost attempt does not advance the visit: the next attempt is at the same one.
    return Facts(attempt_number=number, next_visit=visit + 1 if finished else visit, is_id_taken=taken)


def _for_update(transition: t.PublishUpdate, connection: sqlite3.Connection, head: RunHead) -> Facts:
    named = {
        "run_id": head.run.run_id,
        "attempt_id": transition.attempt_id,
        "update_id": transition.update_id,
        "update_type": transition.update_type,
        "update_key": transition.update_key,
    }
    newest, taken = connection.execute(_ATTEMPTS["newest_update"], named).fetchone()
    if newest is None:
        return Facts(is_id_taken=bool(taken))
    # Counting costs what the attempt has published, so it is done for a new pair only: at most 1,024 times.
    known = connection.execute(_ATTEMPTS["has_update_pair"], named).fetchone()
    pairs = 0 if known else connection.execute(_ATTEMPTS["update_pairs"], named).fetchone()[0]
    return Facts(update_seq=newest, update_pairs=pairs, is_id_taken=bool(taken))


def _for_wait(transition: t.WaitForInput, connection: sqlite3.Connection, head: RunHead) -> Facts:
    if transition.ask is None:
        return NO_FACTS
    return Facts(policy=policy(connection, transition.ask.audience))


def _for_answer(transition: t.Answer | t.Submit | t.Expire, connection: sqlite3.Connection, head: RunHead) -> Facts:
    named = {"request_id": transition.request_id}
    return Facts(
        request=_one(connection, r.RequestRow, _REQUESTS["request"], named),
        decision=_one(connection, r.DecisionRow, _REQUESTS["decision"], named),
        resolution=_one(connection, r.ResolutionRow, _REQUESTS["resolution"], named),
    )


def _for_restart(transition: t.CheckRestart, connection: sqlite3.Connection, head: RunHead) -> Facts:
    count = connection.execute(_EFFECTS["unsettled"], {"run_id": head.run.run_id}).fetchone()[0]
    return Facts(unsettled_effects=count)


def _for_resolution(transition: t.ResolveEffect, connection: sqlite3.Connection, head: RunHead) -> Facts:
    named = {"effect_id": transition.effect_id}
    return Facts(
        effect=_one(connection, r.EffectRow, _EFFECTS["effect"], named),
        effect_attempt=_one(connection, r.EffectAttemptRow, _EFFECTS["effect_attempt"], named),
    )


def _one(connection: sqlite3.Connection, kind: type[R], statement: LiteralString, named: dict[str, str]) -> R | None:
    row = connection.execute(statement, named).fetchone()
    return read_row(kind, row) if row is not None else None


_READS: dict[type, Callable[[Any, sqlite3.Connection, RunHead], Facts]] = {
    t.StartAttempt: _for_start,
    t.PublishUpdate: _for_update,
    t.WaitForInput: _for_wait,
    t.Answer: _for_answer,
    t.Submit: _for_answer,
    t.Expire: _for_answer,
    t.CheckRestart: _for_restart,
    t.ResolveEffect: _for_resolution,
}
