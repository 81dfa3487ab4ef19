"""start and restart: how a run comes to be."""

import secrets
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from lockgate.flow import law
from lockgate.flow import transitions as t
from lockgate.flow.definition import Begun, Definition
from lockgate.flow.titles import check_title
from lockgate.model import ids
from lockgate.model.encoding import sha256, stored
from lockgate.model.errors import NotFound, PayloadError, Refused
from lockgate.model.events import Birth
from lockgate.model.records import Actor, Human, Receipt, Record, Value
from lockgate.store import commits, heads
from lockgate.store.openfile import Transaction
from lockgate.store.receipts import Wish, once, speaker
from lockgate.store.statements import load

_RUNS = load("runs")
MOST_PLACE_BYTES = 1_200
"""What a run's first event, whose payload stays under 4 KiB, has left for where the run comes from."""


class NewRun(Record, frozen=True, kw_only=True):
    """What `start` needs; `input` is the stored form of a checked value. Without a title it is what the workflow
    made of the input."""

    definition: Definition
    input: bytes
    title: str | None
    started_by: str
    started_by_uid: int


def start(tx: Transaction, new: NewRun, *, actor: Actor | Human, key: str) -> Receipt:
    """Makes a queued run; the receipt names it. Raises PayloadError for a title that cannot be one and
    for a workflow's path that is too long, and Refused `unchecked_input` where the workflow has not said what it makes
    of this input."""
    check_title(new.title)
    input_value = Value(hash=sha256(new.input), content=new.input)
    wish = _start_wish(new.definition.workflow_ref, input_value.hash, new.title, actor, key)

    def decide() -> Receipt:
        ids.match(ids.WORKFLOW_NAME, new.definition.workflow, "a workflow's name")
        run_id = ids.run_id(_stamp(tx), new.definition.workflow, secrets.token_hex(4))
        begun = _begun(new.definition, input_value.hash)
        named = replace(new, title=begun.title if new.title is None else new.title)
        values = [input_value] if begun.settings is None else [input_value, begun.settings]
        revision = _bear(tx, run_id, _birth(named, run_id, begun), new.definition, wish.actor, values)
        return wish.receipt(tx, "accepted", run_id=run_id, revision=revision)

    return once(tx, wish, decide)


def started(
    tx: Transaction, workflow_ref: str, given: bytes, *, title: str | None, actor: Actor | Human, key: str
) -> Receipt:
    """The receipt of a start with this key, for which its workflow need not be there any more; `not_found` where the
    key is free, `key_conflict` where it was used for anything else."""
    return once(tx, _start_wish(workflow_ref, sha256(given), title, actor, key), lambda: _never(key))


def restarted(tx: Transaction, run_id: str, *, expected_revision: int, actor: Actor | Human, key: str) -> Receipt:
    """As `started`, of a restart."""
    return once(tx, _restart_wish(run_id, expected_revision, actor, key), lambda: _never(key))


def _never(key: str) -> Receipt:
    raise NotFound("key", key)


def _start_wish(workflow_ref: str, input_hash: str, title: str | None, actor: Actor | Human, key: str) -> Wish:
    arguments = {"input": input_hash, "title": title}
    return Wish(command="start", key=key, target=workflow_ref, actor=speaker(actor), arguments=arguments)


def _restart_wish(run_id: str, revision: int, actor: Actor | Human, key: str) -> Wish:
    return Wish(command="restart", key=key, target=run_id, actor=speaker(actor), arguments={"revision": revision})


def restart(
    tx: Transaction,
    run_id: str,
    definition: Definition,
    *,
    expected_revision: int,
    started_by: str,
    started_by_uid: int,
    actor: Actor | Human,
    key: str,
) -> Receipt:
    """Makes one child of a finished run, with its input and title, from the files as they are now.

    A second restart of the same run names the first child, adopted.
    """
    wish = _restart_wish(run_id, expected_revision, actor, key)

    def decide() -> Receipt:
        parent = heads.head(tx.connection, run_id, heads.NO_GRAPH)
        known = tx.connection.execute(_RUNS["child"], {"run_id": run_id}).fetchone()
        if known is not None:
            child = heads.head(tx.connection, known[0], heads.NO_GRAPH).run
            return wish.receipt(
                tx, "adopted", run_id=child.run_id, revision=child.revision, details={"parent_run_id": run_id}
            )
        check = t.CheckRestart(expected_revision=expected_revision)
        lineage = commits.commit(tx, parent, (check,), wish.actor).results[0]
        new = NewRun(
            definition=definition,
            input=b"",
            title=parent.run.title,
            started_by=started_by,
            started_by_uid=started_by_uid,
        )
        child_id = ids.restart_run_id(run_id, expected_revision, definition.workflow, _stamp(tx))
        begun = _begun(definition, parent.run.input_hash)
        birth = _birth(new, child_id, begun, parent=(run_id, expected_revision), lineage=lineage)
        values = [] if begun.settings is None else [begun.settings]
        revision = _bear(tx, child_id, birth, definition, wish.actor, values)
        return wish.receipt(tx, "accepted", run_id=child_id, revision=revision, details={"parent_run_id": run_id})

    return once(tx, wish, decide)


def _birth(
    new: NewRun,
    run_id: str,
    begun: Begun,
    parent: tuple[str, int] | None = None,
    lineage: dict[str, Any] | None = None,
) -> Birth:
    definition = new.definition
    _check_places(definition, new.started_by)
    return Birth(
        workflow=definition.workflow,
        definition_digest=definition.digest,
        workflow_ref=definition.workflow_ref,
        project_dir=definition.project_dir,
        title=new.title,
        input_hash=begun.input_hash,
        sources_hash=sha256(definition.encoded_sources),
        started_by=new.started_by,
        started_by_uid=new.started_by_uid,
        parent_run_id=parent[0] if parent else None,
        parent_revision=parent[1] if parent else None,
        root_run_id=lineage["root_run_id"] if lineage else run_id,
        restart_number=lineage["restart_number"] if lineage else 0,
        settings_hash=begun.settings.hash if begun.settings is not None else None,
    )


def _check_places(definition: Definition, started_by: str) -> None:
    size = len(stored([definition.workflow_ref, definition.project_dir, started_by]))
    if size > MOST_PLACE_BYTES:
        limit = f"at most {MOST_PLACE_BYTES} bytes of JSON with its project's and the name of who starts it"
        raise PayloadError("the workflow's path", limit, f"{size} bytes")


def _bear(tx: Transaction, run_id: str, birth: Birth, definition: Definition, actor: Actor, values: list[Value]) -> int:
    """Writes the run with its definition, sources and values; the run's first revision."""
    outcome = law.start(t.Start(run_id=run_id, birth=birth), definition.graph, now=tx.now, actor=actor)
    sources = definition.encoded_sources
    tx.connection.execute(
        _RUNS["save_definition"],
        {"digest": definition.digest, "name": definition.workflow, "document": definition.document},
    )
    commits.save_values(tx.connection, [Value(hash=sha256(sources), content=sources), *values])
    commits.insert(tx.connection, outcome.head)
    commits.write(tx, outcome.rows, outcome.events)
    return outcome.head.run.revision


def _begun(definition: Definition, input_hash: str) -> Begun:
    """What the workflow made of exactly this input. Raises Refused `unchecked_input`."""
    begun, graph = definition.begun, definition.graph
    if begun is not None and begun.input_hash == input_hash:
        return begun
    if begun is not None or graph.begins_with_input:
        raise Refused("unchecked_input", f"{definition.workflow!r} was not asked about the input {input_hash[:12]}")
    initial = None
    if graph.settings is not None:
        content = stored(graph.settings.initial)
        initial = Value(hash=sha256(content), content=content)
    return Begun(input_hash=input_hash, settings=initial)


def _stamp(tx: Transaction) -> str:
    return datetime.fromtimestamp(tx.now.wall_ms / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")
