"""Outputs against the JSON Schemas that their nodes have for them: looked at before the transaction that takes them.

It may take long for a large value, and the store is not to be locked meanwhile. The transaction takes no output
that was not looked at.
"""

import sqlite3
from collections.abc import Sequence

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


class Offered(Record, frozen=True, kw_only=True):
    """An output that finishes its node, and the schema that it has to meet; `what` names it for people."""

    what: str
    schema: Schema
    output_hash: str
    content: bytes


class Looked(Record, frozen=True, kw_only=True):
    """An output that was looked at; `problem` says why it does not fit."""

    output_hash: str
    problem: str | None


def offered(
    connection: sqlite3.Connection, run_id: str, proposals: Sequence[AnyProposal], values: Sequence[Value]
) -> Offered | None:
    """What has to be looked at before these proposals are committed; None where nothing has."""
    finish = _finish(proposals)
    if finish is None or finish.output_hash is None:
        return None
    try:
        head = heads.head(connection, run_id)
        schema = _schema(head)
        if head.attempt is None or schema is None:
            return None
        known = next((given.content for given in values if given.hash == finish.output_hash), None)
        content = value(connection, finish.output_hash) if known is None else known
    except LockgateError:
        # The transaction meets the same, and says it.
        return None
    node_id = head.attempt.node_id
    # An exit's output is {exit, output}: the schema is about what the child made.
    content = bytes(msgspec.json.decode(content, type=_Left).output) if exit_of(node_id) is not None else content
    what = f"the {'input' if node_id in head.graph.mounts else 'output'} at {node_id!r}"
    return Offered(what=what, schema=schema, output_hash=finish.output_hash, content=content)


def look(offer: Offered) -> Looked:
    """Whether the output fits, and if not, where, and what was seen."""
    found = mismatch(offer.schema, msgspec.json.decode(offer.content))
    problem = None if found is None else f"{offer.what} does not fit: {found.path}: {found.reason}"
    return Looked(output_hash=offer.output_hash, problem=problem)


def require_fit(head: RunHead, proposals: Sequence[AnyProposal], looked: Looked | None) -> None:
    """Raises Refused `unfit_value`, or `unchecked_output` for an output that was not looked at."""
    finish = _finish(proposals)
    if finish is None or _schema(head) is None:
        return
    if looked is None or looked.output_hash != finish.output_hash:
        raise Refused("unchecked_output", f"the output of {finish.attempt_id} was not held against its schema")
    if looked.problem is not None:
        raise Refused("unfit_value", looked.problem)


class _Left(msgspec.Struct):
    output: msgspec.Raw = msgspec.Raw(b"null")


def _finish(proposals: Sequence[AnyProposal]) -> FinishAttempt | None:
    first = proposals[0] if proposals else None
    return first if isinstance(first, FinishAttempt) and first.outcome is Outcome.OK else None


def _schema(head: RunHead) -> Schema | None:
    return None if head.attempt is None else head.graph.output_schema(head.attempt.node_id)
