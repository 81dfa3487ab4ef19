"""An effect that may have happened is never repeated in silence, whoever was killed."""

import pytest

from lockgate.model.records import Human
from lockgate.store import commands
from tests.host.bench import Bench, kill, until

SENDS = """
def send(ctx):
    log(f"sent {os.getpid()}")
    wait_for("go")
    return {"sent": True}
flow = Workflow("sends", start="send", nodes={
    "send": action(send, effect=RECOVERY("mail")), "end": compute(lambda ctx: {"mail": ctx.outputs["send"]})},
    edges=[edge("send", "end")])
"""


def sent(bench: Bench) -> list[int]:
    return [int(line.split()[1]) for line in bench.log() if line.startswith("sent")]


def killed_after_sending(bench: Bench, recovery: str, victim: str) -> str:
    """A run whose worker or host was killed between the sending and its record; a new host has it."""
    run_id = bench.start(bench.write(SENDS.replace("RECOVERY", recovery)))
    with bench.host() as host:
        until(lambda: sent(bench), "sent")
        if victim == "worker":
            kill(sent(bench)[0])
            until(lambda: "run_interrupted" in bench.events(run_id), "lost")
        else:
            kill(host.pid)
            host.wait()
    return run_id


@pytest.mark.parametrize("victim", ["worker", "host"])
@pytest.mark.parametrize("happened", [True, False])
def test_a_manual_effect_waits_for_a_person(bench: Bench, victim: str, happened: bool) -> None:
    run_id = killed_after_sending(bench, "manual", victim)
    with bench.host_here():
        run = bench.until_blocked(run_id)
        assert (run.status, run.error_code) == ("waiting", "effect_ambiguous")
        assert len(sent(bench)) == 1
        [(effect_id, status)] = bench.rows("SELECT effect_id, status FROM effects")
        assert status == "ambiguous"
        # A plain resume does not clear it: only the word of a person does.
        bench.command(commands.resume, run_id)
        assert bench.run(run_id).error_code == "effect_ambiguous"
        output = b'{"sent":"by hand"}' if happened else None
        receipt = bench.command(
            commands.resolve_effect, effect_id, happened=happened, output=output, human=Human.for_test()
        )
        assert receipt.outcome == "accepted"
        bench.touch("go")
        bench.until_status(run_id, "completed")
    assert len(sent(bench)) == (1 if happened else 2)
    [(status, tries)] = bench.rows("SELECT status, attempt_count FROM effects")
    assert (status, tries) == ("applied", 1 if happened else 2)


def test_an_idempotent_effect_is_simply_tried_again(bench: Bench) -> None:
    run_id = killed_after_sending(bench, "idempotent", "host")
    bench.touch("go")
    with bench.host_here():
        bench.until_status(run_id, "completed")
    assert len(sent(bench)) == 2
    assert bench.rows("SELECT status, attempt_count FROM effects") == [("applied", 2)]


def test_an_applied_effect_is_adopted_when_the_worker_dies_after_it(bench: Bench) -> None:
    run_id = bench.start(
        bench.write(
            """
            import threading
            def send(ctx):
                log("sent")
                return {"n": 1}
            def after(ctx):
                log(f"after {os.getpid()}")
                wait_for("go")
                return ctx.outputs["send"]
            flow = Workflow("sends", start="send", nodes={
                "send": action(send, effect=manual("mail")), "after": compute(after)}, edges=[edge("send", "after")])
            """
        )
    )
    with bench.host_here():
        line = until(lambda: next((line for line in bench.log() if line.startswith("after")), None), "after")
        kill(int(line.split()[1]))
        until(lambda: len(bench.log()) == 3, "after again")
        bench.touch("go")
        bench.until_status(run_id, "completed")
    assert bench.log().count("sent") == 1
