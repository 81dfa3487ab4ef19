"""Every kind of transition, each as an act on a store that was prepared for it; run once, it can be run again.

`prepare` brings a run where the act is possible and says what the act needs; `do` is the act, with the same key
and the same ids whenever it is repeated, as a caller does who never learned what became of the first try.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from lockgate.flow import transitions as t
from lockgate.flow.contracts import for_agent, for_checkpoint
from lockgate.flow.graph import VERSION, Edge, EffectSpec, Graph, NodeSpec, SettingsSpec
from lockgate.flow.patches import SettingsRule
from lockgate.model.encoding import sha256
from lockgate.model.records import ClaimToken, Human, Reply, Value
from lockgate.model.statuses import (
    ActorKind,
    BlockCode,
    EffectStatus,
    NodeKind,
    Outcome,
    Recovery,
    RequestKind,
    RunStatus,
)
from lockgate.store import claims, commands, commits, hosts, prune
from lockgate.store.openfile import Transaction

from .conftest import HOST, USER, Bench, change_settings, definition, value
from .histories import failed, lose, unsure, waiting, working

Facts = dict[str, Any]
BEA = Human.for_test("bea")
MADE = value({"made": "by the act"})
ATTEMPT = "attempt-" + "f" * 32
TIMED = NodeSpec(kind=NodeKind.COMPUTE, timeout_computed=True)
AGENT = NodeSpec(kind=NodeKind.AGENT, contract={"type": "object"})
ROUTE = NodeSpec(kind=NodeKind.COMPUTE)
VERIFIED = NodeSpec(kind=NodeKind.ACTION, effect=EffectSpec(type="send", recovery=Recovery.VERIFIED))


class Act(NamedTuple):
    """`keyed` acts leave a receipt, which a repetition gets again. `batch` are functions that share one transaction,
    as the writer runs what came together; then `do` is not used."""

    name: str
    prepare: Callable[[Bench], Facts]
    do: Callable[[Transaction, Facts], Any]
    keyed: bool = False
    batch: tuple[Callable[[Transaction, Facts], Any], ...] = ()


ACTS: dict[str, Act] = {}


def act(name: str, prepare: Callable[[Bench], Facts], *, keyed: bool = False) -> Callable[[Any], Any]:
    def add(do: Callable[[Transaction, Facts], Any]) -> Any:
        ACTS[name] = Act(name, prepare, do, keyed)
        return do

    return add


def one_node(spec: NodeSpec, *, route: bool = False) -> Graph:
    """A graph of one node, under settings, before an end."""
    return Graph(
        version=VERSION,
        name="single",
        start="only",
        max_steps=100,
        nodes={"only": spec, "end": NodeSpec(kind=NodeKind.COMPUTE)},
        edges=(Edge(source="only", to="end"),),
        settings=SettingsSpec(
            initial={"pace": 1},
            schema=None,
            rules=(SettingsRule(path="/pace", replace=(ActorKind.USER,)),),
            routes=("only",) if route else (),
        ),
    )


def propose(tx: Transaction, facts: Facts, *proposals: t.AnyProposal, values: tuple[Value, ...] = ()) -> Any:
    return commits.commit_proposals(tx, facts["claim"], proposals, values)


# --- where runs stand before the act ----------------------------------------------------------------------


def new(bench: Bench) -> Facts:
    return {}


def queued(bench: Bench) -> Facts:
    return {"run_id": bench.run_id()}


def queued_under_a_host(bench: Bench) -> Facts:
    host = hosts.Identity(host_id="host-1", pid=1, process_start="1", capacity=4)
    bench.write(lambda tx: hosts.take_over(tx, host, lambda pid, start: True))
    return queued(bench)


def finished(bench: Bench) -> Facts:
    run_id = failed(bench)
    row = bench.read(lambda c: c.execute("SELECT revision FROM runs WHERE run_id = ?", (run_id,)).fetchone())
    return {"run_id": run_id, "revision": row[0]}


def starting(bench: Bench) -> Facts:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.write(lambda tx: hosts.worker_starting(tx, claim, "worker-of-" + run_id, 1))
    return {"run_id": run_id, "claim": claim}


def between(bench: Bench) -> Facts:
    """Claimed and ready, no attempt."""
    facts = starting(bench)
    bench.ready(facts["claim"])
    return facts


def busy(bench: Bench) -> Facts:
    """The node `work` runs."""
    facts = between(bench)
    return {**facts, "attempt": bench.begin(facts["claim"], "work")}


def interrupted(bench: Bench) -> Facts:
    facts = busy(bench)
    lose(bench, facts["run_id"], 1)
    claim = bench.claim(facts["run_id"])
    return {**facts, "claim": claim}


def replaced(bench: Bench) -> Facts:
    """Ready again after a loss: the next start retires the interrupted attempt."""
    facts = interrupted(bench)
    bench.ready(facts["claim"])
    return facts


def lost_thrice(bench: Bench) -> Facts:
    """The next counted loss blocks."""
    facts = busy(bench)
    for _ in range(2):
        lose(bench, facts["run_id"], facts["claim"].generation)
        bench.clock.pass_ms(2_000)
        facts["claim"] = bench.claim(facts["run_id"])
        bench.ready(facts["claim"])
        bench.begin(facts["claim"], "work")
    return facts


def single(spec: NodeSpec, *, route: bool = False) -> Callable[[Bench], Facts]:
    def prepare(bench: Bench) -> Facts:
        run_id = bench.run_id(made=definition(one_node(spec, route=route)))
        claim = bench.claim(run_id)
        bench.ready(claim)
        return {"run_id": run_id, "claim": claim, "attempt": bench.begin(claim, "only")}

    return prepare


def lost_at_its_effect(bench: Bench) -> Facts:
    """Ready again after a loss, with an effect that the lost attempt was applying."""
    facts = single(VERIFIED)(bench)
    wish = t.ReserveEffect(attempt_id=facts["attempt"], effect_type="send", recovery=Recovery.VERIFIED)
    assert bench.propose(facts["claim"], wish).outcome == "accepted"
    lose(bench, facts["run_id"], facts["claim"].generation)
    claim = bench.claim(facts["run_id"])
    bench.ready(claim)
    return {**facts, "claim": claim}


def behind_settings(bench: Bench) -> Facts:
    """A route that saw settings which are no longer the newest."""
    facts = single(ROUTE, route=True)(bench)
    bench.write(lambda tx: set_pace(tx, facts, 7, "earlier"))
    return facts


def sending(bench: Bench) -> Facts:
    facts = between(bench)
    bench.step(facts["claim"], "work", 1)
    return {**facts, "attempt": bench.begin(facts["claim"], "send")}


def applying(bench: Bench) -> Facts:
    facts = sending(bench)
    return {**facts, "effect": bench.effect(facts["claim"], facts["attempt"], settle=False)}


def applied(bench: Bench) -> Facts:
    """Applied by an attempt that was lost after it: the next one adopts the result."""
    facts = sending(bench)
    bench.effect(facts["claim"], facts["attempt"])
    lose(bench, facts["run_id"], facts["claim"].generation)
    claim = bench.claim(facts["run_id"])
    bench.ready(claim)
    return {**facts, "claim": claim, "attempt": bench.begin(claim, "send")}


def asking(bench: Bench) -> Facts:
    """The checkpoint's node runs and has not asked yet."""
    facts = sending(bench)
    bench.effect(facts["claim"], facts["attempt"])
    bench.finish(facts["claim"], facts["attempt"], 2)
    return {**facts, "attempt": bench.begin(facts["claim"], "ask")}


def deciding(bench: Bench) -> Facts:
    """The decision's node runs and has not asked yet."""
    run_id, request_id = bench.at_checkpoint()
    checked = bench.read(lambda connection: commands.check_submission(connection, request_id, {"n": 1}))
    bench.write(lambda tx: commands.submit(tx, checked, actor=USER, key=bench.key()))
    claim = bench.claim(run_id)
    current = bench.ready(claim).current
    assert current is not None
    bench.finish(claim, current.attempt_id, {"n": 1})
    return {"run_id": run_id, "claim": claim, "attempt": bench.begin(claim, "decide")}


def at_checkpoint(bench: Bench) -> Facts:
    run_id, request_id = bench.at_checkpoint()
    checked = bench.read(lambda connection: commands.check_submission(connection, request_id, {"n": 5}))
    return {"run_id": run_id, "request": request_id, "submission": checked}


def submitted(bench: Bench) -> Facts:
    facts = at_checkpoint(bench)
    checked = bench.read(lambda connection: commands.check_submission(connection, facts["request"], {"n": 1}))
    bench.write(lambda tx: commands.submit(tx, checked, actor=USER, key=bench.key()))
    return facts


def at_decision(bench: Bench) -> Facts:
    run_id, request_id, digest = bench.at_decision()
    return {"run_id": run_id, "request": request_id, "digest": digest}


def answered(bench: Bench) -> Facts:
    facts = at_decision(bench)
    assert bench.answer(facts["request"], facts["digest"], "go").outcome == "accepted"
    return facts


def taken(bench: Bench) -> Facts:
    """Answered and claimed; the worker is about to be ready."""
    facts = answered(bench)
    return {**facts, "claim": bench.claim(facts["run_id"])}


def resumed(bench: Bench) -> Facts:
    """The answered attempt runs again."""
    facts = taken(bench)
    current = bench.ready(facts["claim"]).current
    assert current is not None
    return {**facts, "attempt": current.attempt_id}


def overdue(bench: Bench) -> Facts:
    facts = at_decision(bench)
    bench.clock.pass_ms(60_001)
    return facts


def withdrawn(bench: Bench) -> Facts:
    facts = at_decision(bench)
    bench.write(lambda tx: commands.cancel(tx, facts["run_id"], actor=USER, key=bench.key()))
    return facts


def at_end(bench: Bench) -> Facts:
    facts = resumed(bench)
    bench.finish(facts["claim"], facts["attempt"], {"choice": "go"}, switch="go")
    bench.step(facts["claim"], "end", "done")
    return facts


def paused_held(bench: Bench) -> Facts:
    facts = between(bench)
    bench.write(lambda tx: commands.pause(tx, facts["run_id"], actor=USER, key=bench.key()))
    return facts


def paused_waiting(bench: Bench) -> Facts:
    facts = at_decision(bench)
    bench.write(lambda tx: commands.pause(tx, facts["run_id"], actor=USER, key=bench.key()))
    return facts


def blocked(bench: Bench) -> Facts:
    facts = starting(bench)
    code, detail = BlockCode.SOURCE_CHANGED, "changed: sample.py"
    bench.write(lambda tx: claims.block(tx, facts["claim"], code, detail, HOST.actor, graph_changed=True))
    return facts


def ambiguous(bench: Bench) -> Facts:
    run_id, effect = unsure(bench)
    return {"run_id": run_id, "effect": effect}


def ambiguous_and_over(bench: Bench) -> Facts:
    facts = ambiguous(bench)
    bench.write(lambda tx: commands.cancel(tx, facts["run_id"], actor=USER, key=bench.key()))
    return facts


def under_a_host(bench: Bench) -> Facts:
    """A host that died with claims of every kind, and a run that waits."""
    first = hosts.Identity(host_id="host-1", pid=1, process_start="1", capacity=4)
    bench.write(lambda tx: hosts.take_over(tx, first, lambda pid, start: True))
    facts = starting(bench)
    working(bench)
    waiting(bench)
    taken(bench)
    return facts


# --- the acts: commands -----------------------------------------------------------------------------------


@act("start", new, keyed=True)
def _(tx: Transaction, facts: Facts) -> Any:
    wanted = commands.NewRun(
        definition=definition(), input=b'{"a":1}', title="A title", started_by="bo", started_by_uid=1000
    )
    return commands.start(tx, wanted, actor=USER, key="mine")


@act("restart", finished, keyed=True)
def _(tx: Transaction, facts: Facts) -> Any:
    return commands.restart(
        tx,
        facts["run_id"],
        definition(),
        expected_revision=facts["revision"],
        started_by="bo",
        started_by_uid=1000,
        actor=USER,
        key="mine",
    )


def give_answer(tx: Transaction, facts: Facts, choice: str = "go", text: str | None = None) -> Any:
    return commands.answer(
        tx, facts["request"], choice, text=text, digest=facts["digest"], human=BEA, key=facts.get("key", "mine")
    )


act("answer", at_decision, keyed=True)(give_answer)
act("answer with text", at_decision, keyed=True)(lambda tx, facts: give_answer(tx, facts, "again", "because"))
act("losing answer", answered, keyed=True)(lambda tx, facts: give_answer(tx, facts, "again", "not like this"))
act("late answer", overdue, keyed=True)(give_answer)
act("answer to a cancelled run", withdrawn, keyed=True)(give_answer)


def give_output(tx: Transaction, facts: Facts) -> Any:
    return commands.submit(tx, facts["submission"], actor=USER, key="mine")


act("submit", at_checkpoint, keyed=True)(give_output)
act("losing submit", submitted, keyed=True)(give_output)


@act("expire", overdue, keyed=True)
def _(tx: Transaction, facts: Facts) -> Any:
    return commands.expire(tx, facts["request"])


def ask_for(name: str, **more: Any) -> Callable[[Transaction, Facts], Any]:
    command = getattr(commands, name)
    return lambda tx, facts: command(tx, facts["run_id"], actor=USER, key="mine", **more)


act("pause queued", queued, keyed=True)(ask_for("pause"))
act("pause at work", busy, keyed=True)(ask_for("pause"))
act("pause now", busy, keyed=True)(ask_for("pause", now=True))
act("pause waiting", at_decision, keyed=True)(ask_for("pause"))
act("resume waiting", paused_waiting, keyed=True)(ask_for("resume"))
act("resume blocked", blocked, keyed=True)(ask_for("resume"))
act("cancel queued", queued, keyed=True)(ask_for("cancel"))
act("cancel waiting", at_decision, keyed=True)(ask_for("cancel"))
act("cancel applying", applying, keyed=True)(ask_for("cancel"))
act("cancel answered", taken, keyed=True)(ask_for("cancel"))


@act("accept source", blocked, keyed=True)
def _(tx: Transaction, facts: Facts) -> Any:
    accept = definition()
    changed = type(accept)(
        **{name: getattr(accept, name) for name in accept.__struct_fields__ if name != "sources"},
        sources={"/project/sample.py": "b" * 64},
    )
    return commands.resume(tx, facts["run_id"], actor=USER, key="mine", accept=changed)


def tell(happened: bool) -> Callable[[Transaction, Facts], Any]:
    return lambda tx, facts: commands.resolve_effect(
        tx, facts["effect"], happened=happened, output=b'{"sent":true}', human=BEA, key="mine"
    )


act("resolve happened", ambiguous, keyed=True)(tell(True))
act("resolve not happened", ambiguous, keyed=True)(tell(False))
act("resolve after the end", ambiguous_and_over, keyed=True)(tell(True))


def set_pace(tx: Transaction, facts: Facts, pace: int = 2, key: str = "mine") -> Any:
    patch = [{"op": "replace", "path": "/pace", "value": pace}]
    return change_settings(tx, facts["run_id"], patch, actor=USER, key=key)


act("change settings", busy, keyed=True)(set_pace)


# --- the acts: claims -------------------------------------------------------------------------------------


@act("claim", queued_under_a_host)
def _(tx: Transaction, facts: Facts) -> Any:
    return claims.claim_next(tx, HOST)


def be_ready(tx: Transaction, facts: Facts) -> Any:
    return claims.ready(tx, facts["claim"], definition().sources)


act("ready", starting)(be_ready)
act("ready after a loss", interrupted)(be_ready)
act("ready for an answer", taken)(be_ready)


def give_back(tx: Transaction, facts: Facts) -> Any:
    return claims.release(tx, facts["claim"])


act("release", between)(give_back)
act("release paused", paused_held)(give_back)


def be_lost(tx: Transaction, facts: Facts) -> Any:
    return claims.lose(
        tx,
        facts["run_id"],
        facts["claim"].generation,
        cause="signal",
        counted=True,
        progressed=True,
        actor=HOST.actor,
        signal=9,
    )


act("lose", busy)(be_lost)
act("lose the third", lost_thrice)(be_lost)
act("lose applying", applying)(be_lost)
act("lose answered", resumed)(be_lost)


@act("block", starting)
def _(tx: Transaction, facts: Facts) -> Any:
    return claims.block(tx, facts["claim"], BlockCode.LOAD_FAILED, "sample.py, line 3: SyntaxError", HOST.actor)


@act("take over", under_a_host)
def _(tx: Transaction, facts: Facts) -> Any:
    second = hosts.Identity(host_id="host-2", pid=2, process_start="2", capacity=4)
    return hosts.take_over(tx, second, lambda pid, start: False)


# --- the acts: proposals ----------------------------------------------------------------------------------


def start_next(node: str, timeout_ms: int | None = None) -> Callable[[Transaction, Facts], Any]:
    return lambda tx, facts: propose(tx, facts, t.StartAttempt(attempt_id=ATTEMPT, node_id=node, timeout_ms=timeout_ms))


act("start attempt", between)(start_next("work"))
act("start attempt in place of a lost one", replaced)(start_next("work"))


def end_attempt(facts: Facts, **more: Any) -> t.FinishAttempt:
    told = {"outcome": Outcome.OK, "output_hash": MADE.hash, **more}
    return t.FinishAttempt(attempt_id=facts["attempt"], **told)


@act("finish attempt", busy)
def _(tx: Transaction, facts: Facts) -> Any:
    return propose(tx, facts, end_attempt(facts), values=(MADE,))


@act("fail attempt", busy)
def _(tx: Transaction, facts: Facts) -> Any:
    told = {"outcome": Outcome.FAILED, "output_hash": None, "error_hash": MADE.hash, "error_summary": "ValueError: no"}
    return propose(tx, facts, end_attempt(facts, **told), values=(MADE,))


@act("finish an answered attempt", resumed)
def _(tx: Transaction, facts: Facts) -> Any:
    accepted = value({"choice": "go"}).hash
    return propose(tx, facts, end_attempt(facts, output_hash=accepted, switch_value="go"))


@act("finish and start", busy)
def _(tx: Transaction, facts: Facts) -> Any:
    following = t.StartAttempt(attempt_id=ATTEMPT, node_id="send")
    reserve = t.ReserveEffect(attempt_id=ATTEMPT, effect_type="send", recovery=Recovery.MANUAL)
    return propose(tx, facts, end_attempt(facts), following, reserve, values=(MADE,))


@act("set timeout", single(TIMED))
def _(tx: Transaction, facts: Facts) -> Any:
    return propose(tx, facts, t.SetTimeout(attempt_id=facts["attempt"], timeout_ms=30_000))


def ask(kind: RequestKind) -> Callable[[Transaction, Facts], Any]:
    made = for_agent if kind is RequestKind.AGENT else for_checkpoint
    contract = made("Give it", {"type": "object"}).encoded()
    named = Value(hash=sha256(contract), content=contract)

    def do(tx: Transaction, facts: Facts) -> Any:
        wait = t.WaitForInput(attempt_id=facts["attempt"], kind=kind, contract_hash=named.hash)
        return propose(tx, facts, wait, values=(named,))

    return do


act("wait for input", asking)(ask(RequestKind.CHECKPOINT))
act("wait for an agent", single(AGENT))(ask(RequestKind.AGENT))


@act("wait for a decision", deciding)
def _(tx: Transaction, facts: Facts) -> Any:
    class Here(Bench):
        """The bench's own wait, in the transaction that is open."""

        def __init__(self) -> None:
            pass

        def propose(self, claim: ClaimToken, *proposals: t.AnyProposal, values: tuple[Value, ...] = ()) -> Reply:
            return commits.commit_proposals(tx, claim, proposals, values)

    return Here().decide(facts["claim"], facts["attempt"])


@act("finish", at_end)
def _(tx: Transaction, facts: Facts) -> Any:
    return propose(tx, facts, t.Finish(status=RunStatus.COMPLETED, output_hash=value("done").hash))


@act("finish over a lost effect", lost_at_its_effect)
def _(tx: Transaction, facts: Facts) -> Any:
    return propose(tx, facts, t.Finish(status=RunStatus.FAILED, error_code="no_route", error_summary="no route"))


@act("finish attempt and run", single(NodeSpec(kind=NodeKind.COMPUTE)))
def _(tx: Transaction, facts: Facts) -> Any:
    told = {"outcome": Outcome.FAILED, "output_hash": None, "error_summary": "ValueError: no"}
    ended = t.Finish(status=RunStatus.FAILED, error_code="node_failed", error_summary="ValueError: no")
    return propose(tx, facts, end_attempt(facts, **told), ended)


@act("record prompt", busy)
def _(tx: Transaction, facts: Facts) -> Any:
    return propose(tx, facts, t.RecordPrompt(attempt_id=facts["attempt"], prompt_hash=MADE.hash), values=(MADE,))


@act("record notice", busy)
def _(tx: Transaction, facts: Facts) -> Any:
    told = t.RecordNotice(attempt_id=facts["attempt"], message_hash=MADE.hash, summary="Half done")
    return propose(tx, facts, told, values=(MADE,))


@act("publish update", busy)
def _(tx: Transaction, facts: Facts) -> Any:
    update = t.PublishUpdate(
        attempt_id=facts["attempt"],
        update_id="update-" + "e" * 32,
        update_type="progress",
        update_key="overall",
        data_hash=MADE.hash,
    )
    return propose(tx, facts, update, values=(MADE,))


@act("retry route", behind_settings)
def _(tx: Transaction, facts: Facts) -> Any:
    return propose(tx, facts, t.RetryRoute(attempt_id=facts["attempt"]))


def reserve(recovery: Recovery) -> Callable[[Transaction, Facts], Any]:
    return lambda tx, facts: propose(
        tx, facts, t.ReserveEffect(attempt_id=facts["attempt"], effect_type="send", recovery=recovery)
    )


act("reserve effect", sending)(reserve(Recovery.MANUAL))
act("adopt effect", applied)(reserve(Recovery.MANUAL))
act("reserve verified effect", single(VERIFIED))(reserve(Recovery.VERIFIED))


def settle(status: EffectStatus) -> Callable[[Transaction, Facts], Any]:
    def do(tx: Transaction, facts: Facts) -> Any:
        told = t.SettleEffect(
            attempt_id=facts["attempt"], effect_id=facts["effect"], status=status, result_hash=MADE.hash
        )
        return propose(tx, facts, told, values=(MADE,))

    return do


act("settle effect", applying)(settle(EffectStatus.APPLIED))
act("reject effect", applying)(settle(EffectStatus.REJECTED))
act("nobody knows", applying)(settle(EffectStatus.AMBIGUOUS))


# --- the acts: several together ---------------------------------------------------------------------------


def two_runs(bench: Bench) -> Facts:
    return {**at_decision(bench), "other": bench.run_id()}


def spoil(tx: Transaction, facts: Facts) -> Any:
    """It writes, and then it raises: of the batch, only this is undone."""
    commands.pause(tx, facts["run_id"], actor=USER, key="spoilt")
    raise LookupError("spoilt")


def pause_other(tx: Transaction, facts: Facts) -> Any:
    return commands.pause(tx, facts["other"], actor=USER, key="other")


TOGETHER = (give_answer, spoil, lambda tx, facts: give_answer(tx, {**facts, "key": "late"}, "again", "no"), pause_other)
ACTS["a batch"] = Act("a batch", two_runs, give_answer, batch=TOGETHER)


def old_and_over(bench: Bench) -> Facts:
    """Two finished runs, a run and its restart, that are about to be pruned."""
    facts = finished(bench)
    again = commands.restart
    child = bench.write(
        lambda tx: again(
            tx,
            facts["run_id"],
            definition(),
            expected_revision=facts["revision"],
            started_by="bo",
            started_by_uid=1000,
            actor=USER,
            key="again",
        )
    ).run_id
    bench.write(lambda tx: commands.cancel(tx, child, actor=USER, key="c"))
    bench.clock.pass_ms(1_000)
    return facts


@act("prune", old_and_over)
def _(tx: Transaction, facts: Facts) -> Any:
    planned = prune.plan(tx.connection, tx.now.wall_ms)
    return [prune._prune_tree(tx, tree, planned, USER) for tree in planned.trees]
