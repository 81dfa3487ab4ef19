"""A store with a run in each kind of trouble, and one that went through everything: what keeping is tested on."""

from lockgate.flow import transitions as t
from lockgate.model.records import Receipt
from lockgate.model.statuses import BlockCode, Outcome, RunStatus
from lockgate.store import claims, commands, hosts

from .conftest import ADA, USER, Bench, change_settings, definition, value


def everything(bench: Bench) -> str:
    """A finished run that owns a row of every kind: answered twice, with a loser, a lost attempt, an update."""
    run_id = bench.run_id(title="Everything")
    claim = bench.claim(run_id)
    bench.write(lambda tx: hosts.worker_starting(tx, claim, f"worker-{run_id}", 1))
    bench.ready(claim)
    bench.begin(claim, "work")
    patch = [{"op": "replace", "path": "/pace", "value": 2}]
    bench.write(lambda tx: change_settings(tx, run_id, patch, actor=USER, key=bench.key()))
    bench.clock.pass_ms(50)
    lose(bench, run_id, claim.generation)
    bench.clock.pass_ms(1_000)
    claim = bench.claim(run_id)
    bench.ready(claim)
    attempt = bench.begin(claim, "work")
    said = value({"completed": 1, "total": 2})
    update = t.PublishUpdate(
        attempt_id=attempt,
        update_id="update-" + attempt[-32:],
        update_type="progress",
        update_key="overall",
        data_hash=said.hash,
    )
    bench.propose(claim, update, values=(said,))
    notice = value({"message": "Half done"})
    bench.propose(
        claim, t.RecordNotice(attempt_id=attempt, message_hash=notice.hash, summary="Half done"), values=(notice,)
    )
    prompt = value("Do it")
    bench.propose(claim, t.RecordPrompt(attempt_id=attempt, prompt_hash=prompt.hash), values=(prompt,))
    bench.clock.pass_ms(20)
    bench.finish(claim, attempt, {"text": "Grüße"})
    attempt = bench.begin(claim, "send")
    bench.effect(claim, attempt)
    bench.finish(claim, attempt, 2)
    asked = bench.ask(claim, bench.begin(claim, "ask"))
    bench.clock.pass_ms(3_000)
    submit(bench, asked.results[0]["request_id"])
    claim = bench.claim(run_id)
    current = bench.ready(claim).current
    assert current is not None
    bench.finish(claim, current.attempt_id, {"n": 1})
    wanted = bench.decide(claim, bench.begin(claim, "decide")).results[0]
    bench.clock.pass_ms(2_000)
    assert bench.answer(wanted["request_id"], wanted["digest"]).outcome == "accepted"
    assert bench.answer(wanted["request_id"], wanted["digest"], "stop").reason == "already_resolved"
    bench.complete(run_id)
    return run_id


def waiting(bench: Bench) -> str:
    return bench.at_decision()[0]


def withdrawn(bench: Bench) -> str:
    run_id = bench.at_decision()[0]
    bench.write(lambda tx: commands.cancel(tx, run_id, actor=USER, key=bench.key()))
    return run_id


def expired(bench: Bench) -> str:
    """Its default was taken; it stands answered in the queue."""
    run_id, request_id, _ = bench.at_decision()
    bench.clock.pass_ms(61_000)
    assert bench.write(lambda tx: commands.expire(tx, request_id)).outcome == "accepted"
    return run_id


def unsure(bench: Bench) -> tuple[str, str]:
    """(run, effect): a manual effect was being applied when the worker was lost."""
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    bench.step(claim, "work", 1)
    effect = bench.effect(claim, bench.begin(claim, "send"), settle=False)
    lose(bench, run_id, claim.generation)
    return run_id, effect


def resolved(bench: Bench) -> str:
    run_id, effect = unsure(bench)
    bench.write(
        lambda tx: commands.resolve_effect(
            tx, effect, happened=True, output=b'{"sent":true}', human=ADA, key=bench.key()
        )
    )
    return run_id


def failed(bench: Bench) -> str:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    attempt = bench.begin(claim, "work")
    error = value({"type": "ValueError", "message": "no"})
    ended = t.FinishAttempt(
        attempt_id=attempt, outcome=Outcome.FAILED, error_hash=error.hash, error_summary="ValueError: no"
    )
    bench.propose(claim, ended, values=(error,))
    bench.propose(
        claim,
        t.Finish(
            status=RunStatus.FAILED, error_hash=error.hash, error_code="node_failed", error_summary="ValueError: no"
        ),
    )
    return run_id


def timed_out(bench: Bench) -> str:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    ended = t.FinishAttempt(attempt_id=bench.begin(claim, "work"), outcome=Outcome.TIMED_OUT, error_summary="60 s")
    bench.propose(claim, ended)
    bench.propose(claim, t.Finish(status=RunStatus.TIMED_OUT, error_summary="60 s"))
    return run_id


def restarted(bench: Bench) -> tuple[str, str]:
    """(parent, child): a failed run and its queued restart."""
    parent = failed(bench)
    return parent, restarted_from(bench, parent)


def restarted_from(bench: Bench, parent: str) -> str:
    """The queued restart of a finished run."""
    revision = bench.read(lambda c: c.execute("SELECT revision FROM runs WHERE run_id = ?", (parent,)).fetchone())[0]
    receipt: Receipt = bench.write(
        lambda tx: commands.restart(
            tx,
            parent,
            definition(),
            expected_revision=revision,
            started_by="bo",
            started_by_uid=1000,
            actor=USER,
            key=bench.key(),
        )
    )
    assert receipt.run_id is not None
    return receipt.run_id


def blocked(bench: Bench) -> str:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.write(lambda tx: hosts.worker_starting(tx, claim, f"worker-{run_id}", 1))
    bench.write(lambda tx: claims.block(tx, claim, BlockCode.LOAD_FAILED, "hello.py, line 3: SyntaxError", actor=USER))
    return run_id


def paused(bench: Bench) -> str:
    run_id = waiting(bench)
    bench.write(lambda tx: commands.pause(tx, run_id, actor=USER, key=bench.key()))
    return run_id


def working(bench: Bench) -> str:
    """Its claim is held, and a node runs."""
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    bench.step(claim, "work", 1)
    bench.begin(claim, "send")
    return run_id


def all_kinds(bench: Bench) -> dict[str, str]:
    """A run of each kind, by name, under a host that took the store over."""
    host = hosts.Identity(host_id="host-1", pid=4242, process_start="77", capacity=4)
    bench.write(lambda tx: hosts.take_over(tx, host, lambda pid, start: False))
    made = {
        "everything": everything(bench),
        "waiting": waiting(bench),
        "withdrawn": withdrawn(bench),
        "expired": expired(bench),
        "unsure": unsure(bench)[0],
        "resolved": resolved(bench),
        "blocked": blocked(bench),
        "paused": paused(bench),
        "working": working(bench),
        "queued": bench.run_id(),
        "timed_out": timed_out(bench),
    }
    made["parent"], made["child"] = restarted(bench)
    return made


def lose(bench: Bench, run_id: str, generation: int) -> None:
    bench.write(
        lambda tx: claims.lose(tx, run_id, generation, cause="signal", counted=True, progressed=True, actor=USER)
    )


def submit(bench: Bench, request_id: str) -> None:
    checked = bench.read(lambda connection: commands.check_submission(connection, request_id, {"n": 1}))
    bench.write(lambda tx: commands.submit(tx, checked, actor=USER, key=bench.key()))
