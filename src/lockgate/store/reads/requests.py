"""What waits for an answer, and what was decided: requests with their whole contract."""

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from lockgate.flow.consequences import consequence
from lockgate.flow.contracts import Contract, read_contract
from lockgate.model import records as r
from lockgate.model.errors import DefinitionError, NotFound, WorkflowError
from lockgate.model.statuses import RequestKind, RunStatus
from lockgate.store.graphs import graph_of
from lockgate.store.rows import Columns, read_rows
from lockgate.store.statements import load

_REQUESTS = load("requests")


def pending_requests(
    connection: sqlite3.Connection, *, kind: RequestKind | None = None, limit: int | None = None
) -> tuple[r.RequestView, ...]:
    """Every request of an unfinished run that nobody has answered, those of paused runs too; with `limit` so many.

    Human decisions come first, so that no limit hides one behind what programs wait for; then least time left first.
    """
    named = {"kind": kind, "limit": -1 if limit is None else limit}
    return tuple(_view(connection, row) for row in connection.execute(_REQUESTS["pending"], named).fetchall())


def decisions(connection: sqlite3.Connection, *, limit: int | None = None) -> tuple[r.RequestView, ...]:
    """The pending requests that are human decisions."""
    return pending_requests(connection, kind=RequestKind.DECISION, limit=limit)


def decided_requests(connection: sqlite3.Connection, *, limit: int = 100) -> tuple[r.RequestView, ...]:
    """Human decisions that somebody, a deadline or a cancellation resolved, newest first."""
    rows = connection.execute(_REQUESTS["decided"], {"limit": limit}).fetchall()
    return tuple(_view(connection, row) for row in rows)


def request(connection: sqlite3.Connection, request_id: str) -> r.RequestView:
    """One request, whatever became of it. Raises NotFound."""
    row = connection.execute(_REQUESTS["view"], {"request_id": request_id}).fetchone()
    if row is None:
        raise NotFound("request", request_id)
    return _view(connection, row)


def successor(connection: sqlite3.Connection, request_id: str) -> str | None:
    """The newest later request of the same node of the same run, if there is one."""
    row = connection.execute(_REQUESTS["succeeding"], {"request_id": request_id}).fetchone()
    return row[0] if row is not None else None


def policy(connection: sqlite3.Connection, audience: str) -> r.Policy | None:
    """The policy in force for an audience; None lets everybody who can write the store answer."""
    row = connection.execute(_REQUESTS["policy"], {"audience": audience}).fetchone()
    if row is None:
        return None
    users = msgspec.json.decode(row[1], type=tuple[str, ...]) if row[1] is not None else None
    return r.Policy(audience=row[0], users=users, self_approval=bool(row[2]))


def submissions(connection: sqlite3.Connection, request_id: str) -> tuple[r.SubmissionRow, ...]:
    """Every candidate answer of a request, the losing ones too, in their order."""
    rows = connection.execute(_REQUESTS["submissions"], {"request_id": request_id}).fetchall()
    return read_rows(r.SubmissionRow, rows)


def _view(connection: sqlite3.Connection, row: Sequence[Any]) -> r.RequestView:
    columns = Columns(row)
    asked = columns.take(r.RequestRow)
    decision = columns.take_or_none(r.DecisionRow)
    resolution = columns.take_or_none(r.ResolutionRow)
    workflow, title, status, run_at, paused, started_by, definition, attempt_number, content = columns.rest()
    contract = _contract(content)
    return r.RequestView(
        request_id=asked.request_id,
        digest=asked.digest,
        kind=asked.kind,
        status=asked.status,
        run_id=asked.run_id,
        workflow=workflow,
        run_title=title,
        run_status=RunStatus(status),
        run_at=run_at,
        paused=bool(paused),
        node=asked.node_id,
        attempt_id=asked.attempt_id,
        attempt_number=attempt_number,
        audience=decision.audience if decision is not None else None,
        title=_title(decision, contract, asked.node_id),
        presentation=msgspec.to_builtins(contract.presentation) if contract is not None else None,
        choices=tuple(msgspec.to_builtins(choice) for choice in contract.choices) if contract is not None else (),
        consequences=_consequences(connection, definition, asked.node_id, contract),
        contract=contract.schema if contract is not None else None,
        started_by=started_by,
        policy=asked.policy,
        deadline_at=asked.deadline_at,
        default=decision.default_choice if decision is not None else None,
        created_at=asked.created_at,
        resolution=resolution,
    )


def _contract(content: bytes | None) -> Contract | None:
    """What is asked; None where it is gone or damaged: others are asked, too, and an answer to this is refused."""
    try:
        return read_contract(content) if content is not None else None
    except msgspec.MsgspecError:
        return None


def _title(decision: r.DecisionRow | None, contract: Contract | None, node: str) -> str:
    if decision is not None:
        return decision.title
    return contract.title if contract is not None else node


def _consequences(
    connection: sqlite3.Connection, definition: str, node: str, contract: Contract | None
) -> dict[str, str]:
    if contract is None or not contract.choices:
        return {}
    try:
        graph = graph_of(connection, definition)
    except (DefinitionError, NotFound) as error:
        return {choice.key: error.message for choice in contract.choices}
    told: dict[str, str] = {}
    for choice in contract.choices:
        try:
            told[choice.key] = consequence(graph, node, choice.key)
        except WorkflowError as error:
            told[choice.key] = error.message
    return told
