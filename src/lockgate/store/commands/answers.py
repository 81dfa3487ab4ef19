"""answer, submit and expire: the ways in which a request is decided, and what becomes of those who lose."""

import sqlite3
from typing import Any

from msgspec.structs import replace

from lockgate.flow import transitions as t
from lockgate.flow.answers import check_answer
from lockgate.flow.contracts import read_contract
from lockgate.flow.head import RunHead
from lockgate.flow.schemas import meet
from lockgate.model import ids
from lockgate.model.encoding import MAX_OUTPUT_BYTES, checked, sha256, stored
from lockgate.model.errors import NotFound
from lockgate.model.records import Actor, DecisionRow, Human, Receipt, Record, RequestRow, SubmissionRow, Value
from lockgate.model.statuses import ActorKind, SubmissionOutcome
from lockgate.store.asked import refuse_altered
from lockgate.store.commits import Committed
from lockgate.store.openfile import Transaction
from lockgate.store.receipts import Wish, command_run, once, speaker
from lockgate.store.rows import read_row, read_rows
from lockgate.store.statements import load

_REQUESTS, _VALUES = load("requests"), load("values")
DEADLINE = Actor(kind=ActorKind.POLICY, id="deadline")
_LOST = frozenset({"already_resolved", "expired", "run_closed"})


class Submission(Record, frozen=True, kw_only=True):
    """An ordinary answer that met the contract which `contract_hash` names."""

    request_id: str
    contract_hash: str
    output: Value


def answer(
    tx: Transaction, request_id: str, choice: str, *, text: str | None, digest: str, human: Human, key: str
) -> Receipt:
    """A person's answer to what `digest` names. A losing one is kept with its text, and is told who won."""
    request = _request(tx.connection, request_id)
    arguments = {"request": request_id, "choice": choice, "text": text, "digest": digest}
    if request is None:
        wish = Wish(command="answer", key=key, target=request_id, actor=human.actor, arguments=arguments)
        return once(tx, wish, lambda: _missing(request_id))
    wish = Wish(command="answer", key=key, target=request.run_id, actor=human.actor, arguments=_by_hash(arguments))
    values: list[Value] = []

    def transition(head: RunHead) -> t.Answer:
        if digest == request.digest:
            refuse_altered(tx.connection, head.run, request, _decision(tx.connection, request_id))
            response = check_answer(head.graph.node(request.node_id).choices, choice, text)
            values.append(value_of(response))
        return t.Answer(
            human=human,
            request_id=request_id,
            digest=digest,
            choice=choice,
            response_hash=values[0].hash if values else "",
            submission_id=ids.submission_id(request_id, key),
        )

    details: dict[str, Any] = {"request_id": request_id, "choice": choice, "digest": request.digest}
    details |= {"channel": human.channel, "test": human.test}
    return command_run(tx, wish, transition, values, lambda done: _receipt(tx, wish, done, details))


def expire(tx: Transaction, request_id: str) -> Receipt:
    """Takes the default of a decision whose deadline has passed; whoever calls it, it happens once."""
    request, decision = _request(tx.connection, request_id), _decision(tx.connection, request_id)
    target = decision.run_id if decision is not None else request_id
    wish = Wish(command="expire", key=f"expire:{request_id}", target=target, actor=DEADLINE)
    if request is None or decision is None:
        return once(tx, wish, lambda: _missing(request_id))
    value = value_of({"choice": decision.default_choice})

    def transition(head: RunHead) -> t.Expire:
        refuse_altered(tx.connection, head.run, request, decision)
        return t.Expire(
            request_id=request_id,
            response_hash=value.hash,
            submission_id=ids.submission_id(request_id, wish.key),
        )

    details = {"request_id": request_id, "choice": decision.default_choice}
    return command_run(tx, wish, transition, (value,), lambda done: _receipt(tx, wish, done, details))


def check_submission(connection: sqlite3.Connection, request_id: str, output: Any) -> Submission:
    """Checks an output against its request's immutable contract, before the transaction.

    Raises NotFound, PayloadError for what is no JSON value, and Refused `invalid_input` with the JSON path.
    """
    request = _request(connection, request_id)
    if request is None:
        raise NotFound("request", request_id)
    value = Value(hash="", content=checked(output, limit=MAX_OUTPUT_BYTES))
    content = connection.execute(_VALUES["value"], {"hash": request.contract_hash}).fetchone()
    if content is None:
        raise NotFound("contract", request.contract_hash)
    schema = read_contract(content[0]).schema
    meet(schema, output, "invalid_input")
    named = Value(hash=sha256(value.content), content=value.content)
    return Submission(request_id=request_id, contract_hash=request.contract_hash, output=named)


def submit(
    tx: Transaction, submission: Submission, *, actor: Actor | Human, key: str, source: str = "submit"
) -> Receipt:
    """An ordinary answer for an agent or checkpoint request. A losing one is kept, and told that it lost."""
    request_id, output = submission.request_id, submission.output
    request = _request(tx.connection, request_id)
    target = request.run_id if request is not None else request_id
    arguments = {"request": request_id, "output": output.hash}
    wish = Wish(command="submit", key=key, target=target, actor=speaker(actor), arguments=arguments)
    if request is None:
        return once(tx, wish, lambda: _missing(request_id))

    def transition(head: RunHead) -> t.Submit:
        refuse_altered(tx.connection, head.run, request, _decision(tx.connection, request_id))
        return t.Submit(
            request_id=request_id,
            contract_hash=submission.contract_hash,
            output_hash=output.hash,
            submission_id=ids.submission_id(request_id, key),
            source=source,
        )

    details = {"request_id": request_id, "output_hash": output.hash}

    def answer(done: Committed) -> Receipt:
        receipt = _receipt(tx, wish, done, details)
        lost = receipt.reason == "already_resolved"
        return replace(receipt, winner=_accepted(tx.connection, request_id)) if lost else receipt

    return command_run(tx, wish, transition, (output,), answer)


def value_of(value: Any) -> Value:
    content = stored(value)
    return Value(hash=sha256(content), content=content)


def _receipt(tx: Transaction, wish: Wish, done: Committed, details: dict[str, Any]) -> Receipt:
    result = done.results[0]
    lost = result["outcome"] in _LOST
    return wish.receipt(
        tx,
        "conflict" if lost else "accepted",
        run_id=wish.target,
        revision=done.head.run.revision,
        reason=result["outcome"] if lost else None,
        winner=result.get("winner"),
        details=details,
    )


def _accepted(connection: sqlite3.Connection, request_id: str) -> dict[str, Any] | None:
    """Whose ordinary answer won, and when; it has no choice."""
    rows = connection.execute(_REQUESTS["submissions"], {"request_id": request_id}).fetchall()
    won = next((row for row in read_rows(SubmissionRow, rows) if row.outcome is SubmissionOutcome.ACCEPTED), None)
    if won is None:
        return None
    return {"choice": None, "actor": won.actor_id, "at": won.submitted_at, "provenance": won.source}


def _by_hash(arguments: dict[str, Any]) -> dict[str, Any]:
    """The text of an answer enters the fingerprint by its hash, whatever characters it has."""
    text: str | None = arguments["text"]
    return arguments if text is None else {**arguments, "text": sha256(text.encode("utf-8", "surrogatepass"))}


def _request(connection: sqlite3.Connection, request_id: str) -> RequestRow | None:
    row = connection.execute(_REQUESTS["request"], {"request_id": request_id}).fetchone()
    return read_row(RequestRow, row) if row is not None else None


def _decision(connection: sqlite3.Connection, request_id: str) -> DecisionRow | None:
    row = connection.execute(_REQUESTS["decision"], {"request_id": request_id}).fetchone()
    return read_row(DecisionRow, row) if row is not None else None


def _missing(request_id: str) -> Receipt:
    raise NotFound("request", request_id)
