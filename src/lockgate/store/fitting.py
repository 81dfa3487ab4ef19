"""Outputs against the JSON Schemas that their nodes have for them: looked at before the transaction that takes them.

So are the first settings of an include, where a function made them. It may take long for a large value, and the
store is not to be locked meanwhile. The transaction takes nothing that was not looked at.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from lockgate.flow.head import RunHead
from lockgate.flow.mounts import exit_of
from lockgate.flow.schemas import Schema, mismatch
from lockgate.flow.transitions import AnyProposal, FinishAttempt
from lockgate.model.errors import LockgateError, Refused
from lockgate.model.records import Record, Value
from lockgate.model.statuses import Outcome
from lockgate.store import heads
from lockgate.store.reads.values import value


class Part(Record, frozen=True, kw_only=True):
    """A value with the schema that it has to meet; `what` names it for people.

    With `leaves` it is an exit's, {exit, output}: the schema is about what the child made.
    """

    what: str
    schema: Schema
    hash: str
    content: bytes
    leaves: bool = False


class Looked(Record, frozen=True, kw_only=True):
    """Values that were looked at, by hash; `problem` says why the first of them that does not fit does not."""

    hashes: frozenset[str]
    problem: str | None


def offered(
    connection: sqlite3.Connection, run_id: str, proposals: Sequence[AnyProposal], values: Sequence[Value]
) -> tuple[Part, ...]:
    """What has to be looked at before these proposals are committed; most often nothing has."""
    finish = _finish(proposals)
    if finish is None:
        return ()
    given = {each.hash: each.content for each in values}
    parts = []
    try:
        head = heads.head(connection, run_id)
        leaves = head.attempt is not None and exit_of(head.attempt.node_id) is not None
        for what, schema, hash in _due(head, finish):
            content = given[hash] if hash in given else value(connection, hash)
            parts.append(Part(what=what, schema=schema, hash=hash, content=content, leaves=leaves))
    except LockgateError:
        # The transaction meets the same, and says it.
        return ()
    return tuple(parts)


def look(parts: Sequence[Part]) -> Looked | None:
    """Whether all of it fits, and if not, where, and what was seen."""
    if not parts:
        return None
    problem = next((told for told in map(_problem, parts) if told is not None), None)
    return Looked(hashes=frozenset(part.hash for part in parts), problem=problem)


def require_fit(head: RunHead, proposals: Sequence[AnyProposal], looked: Looked | None) -> None:
    """Raises Refused `unfit_value`, or `unchecked_output` for what was not looked at."""
    finish = _finish(proposals)
    due = _due(head, finish) if finish is not None else []
    for what, _, hash in due:
        if looked is None or hash not in looked.hashes:
            raise Refused("unchecked_output", f"{what} was not held against its schema")
    if due and looked is not None and looked.problem is not None:
        raise Refused("unfit_value", looked.problem)


def _due(head: RunHead, finish: FinishAttempt) -> list[tuple[str, Schema, str]]:
    """What a finish has to meet: what it is called, the schema, and the hash of the value."""
    if head.attempt is None:
        return []
    node_id, graph = head.attempt.node_id, head.graph
    output = "input" if node_id in graph.mounts else "output"
    every = (
        (f"the {output} at {node_id!r}", graph.output_schema(node_id), finish.output_hash),
        (f"what the settings of {node_id!r} begin with", graph.first_settings_schema(node_id), finish.settings_hash),
    )
    return [(what, schema, hash) for what, schema, hash in every if schema is not None and hash is not None]


def _problem(part: Part) -> str | None:
    try:
        made = (
            msgspec.json.decode(part.content, type=_Left).output if part.leaves else msgspec.json.decode(part.content)
        )
    except msgspec.MsgspecError as problem:
        return f"{part.what} is no JSON: {problem}"
    found = mismatch(part.schema, made)
    return None if found is None else f"{part.what} does not fit: {found.path}: {found.reason}"


class _Left(msgspec.Struct):
    output: Any


def _finish(proposals: Sequence[AnyProposal]) -> FinishAttempt | None:
    first = proposals[0] if proposals else None
    return first if isinstance(first, FinishAttempt) and first.outcome is Outcome.OK else None
