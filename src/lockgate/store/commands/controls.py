"""pause, resume, cancel, and a person's word about an effect.

None of them asks the run's graph anything, so that a run whose definition cannot be read can still be ended.
"""

from lockgate.flow import transitions as t
from lockgate.flow.definition import Definition
from lockgate.flow.head import RunHead
from lockgate.model.encoding import sha256
from lockgate.model.errors import NotFound, Refused
from lockgate.model.records import Actor, Human, Receipt, Value
from lockgate.model.statuses import GRAPH_CHANGED
from lockgate.store.commits import Committed
from lockgate.store.heads import NO_GRAPH
from lockgate.store.openfile import Transaction
from lockgate.store.receipts import Wish, command_run, once, speaker
from lockgate.store.statements import load

_EFFECTS, _RUNS = load("effects"), load("runs")


def pause(tx: Transaction, run_id: str, *, actor: Actor | Human, key: str, now: bool = False) -> Receipt:
    """Sets the flag; with `now` the host also stops a worker in the middle of its node."""
    wish = Wish(command="pause", key=key, target=run_id, actor=speaker(actor), arguments={"now": now})

    return command_run(tx, wish, t.Pause(stop_now=now), graph=NO_GRAPH)


def resume(
    tx: Transaction, run_id: str, *, actor: Actor | Human, key: str, accept: Definition | None = None
) -> Receipt:
    """Clears the flag and every block but an ambiguous effect; `accept` takes changed files of the same graph."""
    if accept is None:
        wish = Wish(command="resume", key=key, target=run_id, actor=speaker(actor))
        return command_run(tx, wish, t.Resume(), graph=NO_GRAPH)
    value = Value(hash=sha256(accept.encoded_sources), content=accept.encoded_sources)
    arguments = {"sources": value.hash, "definition": accept.digest}
    wish = Wish(command="resume", key=key, target=run_id, actor=speaker(actor), arguments=arguments)

    def transition(head: RunHead) -> t.Resume:
        if head.run.definition_digest != accept.digest:
            raise Refused(GRAPH_CHANGED, "the files now make another graph: only a restart can take them")
        old = tx.connection.execute(_RUNS["sources"], {"run_id": run_id}).fetchone()[0]
        if old == value.hash:
            return t.Resume()
        return t.Resume(old_sources_hash=old, new_sources_hash=value.hash)

    return command_run(tx, wish, transition, values=(value,), graph=NO_GRAPH)


def cancel(tx: Transaction, run_id: str, *, actor: Actor | Human, key: str) -> Receipt:
    """Closes everything that is open and ends the claim; its worker is fenced at once and stopped by the host."""
    wish = Wish(command="cancel", key=key, target=run_id, actor=speaker(actor))
    return command_run(tx, wish, t.Cancel(), graph=NO_GRAPH)


def resolve_effect(
    tx: Transaction, effect_id: str, *, happened: bool, output: bytes | None, human: Human, key: str
) -> Receipt:
    """Says whether an ambiguous effect happened; the first resolution wins. `output` is its stored result."""
    found = tx.connection.execute(_EFFECTS["effect"], {"effect_id": effect_id}).fetchone()
    value = Value(hash=sha256(output), content=output) if happened and output is not None else None
    arguments = {"effect": effect_id, "happened": happened, "output": value.hash if value else None}
    target = found[1] if found is not None else effect_id
    wish = Wish(command="resolveEffect", key=key, target=target, actor=human.actor, arguments=arguments)
    if found is None:
        return once(tx, wish, lambda: _no_effect(effect_id))
    transition = t.ResolveEffect(
        human=human, effect_id=effect_id, happened=happened, result_hash=value.hash if value else None
    )

    def answer(done: Committed) -> Receipt:
        details = {**done.results[0], "effect_id": effect_id, "channel": human.channel, "test": human.test}
        return wish.receipt(tx, "accepted", run_id=target, revision=done.head.run.revision, details=details)

    return command_run(tx, wish, transition, (value,) if value else (), answer, NO_GRAPH)


def _no_effect(effect_id: str) -> Receipt:
    raise NotFound("effect", effect_id)
