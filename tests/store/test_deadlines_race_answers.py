"""At the last millisecond an approval, a rejection and the deadline's default meet: one wins, the others learn who.

In this process: a thousand decisions by seed, the two sides on connections of their own whose
clocks differ by up to a millisecond around the deadline. As processes: all sides at once from a barrier.
"""

import json
import os
import random
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lockgate.flow import transitions as t
from lockgate.flow.graph import VERSION, Edge, Graph, NodeSpec, Switch
from lockgate.model.records import Receipt
from lockgate.model.statuses import NodeKind, Outcome
from lockgate.store import commands, hosts, reads
from lockgate.store.audit import audit
from lockgate.store.claims import Owner
from lockgate.store.openfile import OpenFile, open_file

from .conftest import ADA, CHOICES, HOST, USER, Bench, HandClock, definition

REPOSITORY = Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("LOCKGATE_TEST_SEED") or random.randrange(1 << 30))
ROUNDS = 1_000


def endless() -> Graph:
    """One decision after the other."""
    cases = {"go": "decide", "again": "decide", "stop": "decide"}
    return Graph(
        version=VERSION,
        name="endless",
        start="decide",
        max_steps=1_000_000,
        nodes={"decide": NodeSpec(kind=NodeKind.HUMAN_DECISION, audience="operator", choices=CHOICES)},
        edges=(Edge(source="decide", switch=Switch(on="$.choice", cases=cases)),),
    )


class Side:
    """A process of its own, as far as one can be: its connection, and its clock."""

    def __init__(self, path: Path) -> None:
        self.clock = HandClock()
        self.file: OpenFile = open_file(path, self.clock)
        self.file.connection.execute("PRAGMA synchronous=OFF")

    def write(self, fn: Any) -> Any:
        return self.file.write(fn, self.clock)


class Asking(Bench):
    """A run that asks for a decision, and goes on to the next when it is decided."""

    def ask_next(self, run_id: str, owner: Owner = HOST) -> tuple[str, str, int]:
        """(request, digest, deadline), in one transaction where an answer is to be taken first."""
        claim = self.claim(run_id, owner)
        current = self.ready(claim).current
        if current is not None:
            response = msgspec.json.decode(self.read(lambda c: reads.value(c, current.output_hash)))
            ended = t.FinishAttempt(
                attempt_id=current.attempt_id,
                outcome=Outcome.OK,
                output_hash=current.output_hash,
                switch_value=response["choice"],
            )
            assert self.propose(claim, ended).outcome == "accepted"
        reply = self.decide(claim, self.begin(claim, "decide"), 60)
        assert reply.outcome == "accepted", reply
        return reply.results[0]["request_id"], reply.results[0]["digest"], self.clock.wall_ms + 60_000


@pytest.fixture
def asking(tmp_path: Path) -> Any:
    made = Asking(tmp_path / "state.sqlite")
    yield made
    made.close()


def test_a_thousand_deadlines(asking: Asking) -> None:
    print(f"LOCKGATE_TEST_SEED={SEED}")
    dice = random.Random(SEED)
    run_id = asking.run_id(made=definition(endless()))
    person, host = Side(asking.path), Side(asking.path)
    seen = {"human": 0, "timeout_policy": 0, "expired": 0}
    for _ in range(ROUNDS):
        request, digest, deadline = asking.ask_next(run_id)
        choice = dice.choice(("go", "stop"))
        person.clock.wall_ms, host.clock.wall_ms = (deadline + dice.choice((-1, 0, 1)) for _ in range(2))
        acts = (partial(click, person, request, digest, choice), partial(expire, host, request))
        first = dice.randrange(2)
        said: dict[int, Receipt] = {first: acts[first](), 1 - first: acts[1 - first]()}
        provenance = judge(asking, request, choice, said, person.clock.wall_ms - deadline, seen)
        seen[provenance] += 1
        # Whoever lost asks again, and is told the same.
        assert acts[0]().winner == said[0].winner
        asking.clock.wall_ms = max(deadline + 1, asking.clock.wall_ms)
    assert all(seen.values()), seen
    person.file.close()
    host.file.close()
    found = asking.read(lambda connection: audit(connection, run_id))
    assert found.difference is None
    assert asking.read(lambda c: reads.run(c, run_id)).row.status == "waiting"


def click(person: Side, request: str, digest: str, choice: str) -> Receipt:
    facts: dict[str, Any] = {"text": None, "digest": digest, "human": ADA, "key": f"click:{request}"}
    receipt: Receipt = person.write(lambda tx: commands.answer(tx, request, choice, **facts))
    return receipt


def expire(host: Side, request: str) -> Receipt:
    receipt: Receipt = host.write(lambda tx: commands.expire(tx, request))
    return receipt


def judge(asking: Asking, request: str, choice: str, said: dict[int, Receipt], late: int, seen: dict[str, int]) -> str:
    """Exactly one resolution; what each side was told agrees with it. Who won."""
    clicked, default = said[0], said[1]
    if (default.outcome, default.reason) == ("rejected", "not_due") and clicked.outcome == "conflict":
        # The person was too late, and the host a millisecond too early: the default is taken a moment later.
        assert (clicked.reason, late) == ("expired", 1)
        seen["expired"] += 1
        asking.clock.wall_ms += 60_001
        default = asking.write(lambda tx: commands.expire(tx, request))
        asking.clock.wall_ms -= 60_001
    [row] = asking.file.connection.execute(
        "SELECT provenance, choice, actor_id, resolved_at FROM human_decision_resolutions WHERE decision_id = ?",
        (request,),
    ).fetchall()
    winner = dict(zip(("provenance", "choice", "actor", "at"), row, strict=True))
    accepted = [receipt for receipt in (clicked, default) if receipt.outcome == "accepted"]
    assert len(accepted) == 1, said
    if accepted == [clicked]:
        assert (winner["provenance"], winner["choice"], winner["actor"]) == ("human", choice, "ada")
        if default.reason != "not_due":
            assert (default.outcome, default.reason, default.winner) == ("conflict", "already_resolved", winner)
    else:
        assert (winner["provenance"], winner["choice"]) == ("timeout_policy", "stop")
        if clicked.reason == "expired":
            assert late == 1
        else:
            assert (clicked.outcome, clicked.reason, clicked.winner) == ("conflict", "already_resolved", winner)
    return str(winner["provenance"])


CONTENDER = """
import json, random, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from tests.store.conftest import HandClock
from lockgate.model.records import Human
from lockgate.store import commands
from lockgate.store.openfile import open_file

path, how, asked = Path(sys.argv[1]), sys.argv[3], json.loads(sys.stdin.readline())
clock = HandClock()
file = open_file(path, clock)
human = Human.for_test(how)
dice = random.Random(asked["seed"] + len(how))
print("ready", flush=True)
sys.stdin.readline()
told = []
for request_id, digest in asked["requests"]:
    clock.wall_ms = asked["deadline"] + dice.choice((-1, 0, 1) if asked["jitter"] else (-1,))
    if how == "deadline":
        act = lambda tx: commands.expire(tx, request_id)
    else:
        facts = {"text": None, "digest": digest, "human": human, "key": f"{how}:{request_id}"}
        act = lambda tx: commands.answer(tx, request_id, how, **facts)
    receipt = file.write(act, clock)
    told.append([receipt.outcome, receipt.reason, receipt.winner])
file.close()
print(json.dumps(told))
"""


def race(asking: Asking, count: int, sides: tuple[str, ...]) -> dict[str, list[list[Any]]]:
    """What each side was told, in the order of the decisions."""
    requests = []
    for _ in range(count):
        request, digest, deadline = asking.ask_next(asking.run_id(made=definition(endless())))
        requests.append((request, digest))
    asked = {"requests": requests, "deadline": deadline, "seed": SEED, "jitter": "deadline" in sides}
    processes = {
        how: subprocess.Popen(
            [sys.executable, "-c", CONTENDER, str(asking.path), str(REPOSITORY), how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for how in sides
    }
    for process in processes.values():
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == "ready\n"
    for process in processes.values():
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = {how: json.loads(process.communicate(timeout=100)[0]) for how, process in processes.items()}
    for at, (request, _) in enumerate(requests):
        agree(asking, request, {how: said[at] for how, said in told.items()})
    return told


def agree(asking: Asking, request: str, said: dict[str, list[Any]]) -> None:
    rows = asking.file.connection.execute(
        "SELECT choice, actor_id FROM human_decision_resolutions WHERE decision_id = ?", (request,)
    ).fetchall()
    accepted = [how for how, (outcome, _, _) in said.items() if outcome == "accepted"]
    assert len(rows) == len(accepted) <= 1, said
    for outcome, reason, winner in said.values():
        if reason == "already_resolved":
            assert (winner["choice"], winner["actor"]) == rows[0]
        else:
            assert outcome == "accepted" or reason in ("expired", "not_due"), said
    run_id = request_run(asking, request)
    events = asking.read(lambda connection: reads.events(connection, run_id))
    assert sum(event.type == "decision_accepted" for event in events) == len(rows)


def request_run(asking: Asking, request: str) -> str:
    row = asking.file.connection.execute("SELECT run_id FROM requests WHERE request_id = ?", (request,)).fetchone()
    return str(row[0])


@pytest.mark.parametrize("sides", [("go", "stop"), ("go", "deadline")], ids=["two people", "a person and the deadline"])
def test_processes_meet_at_a_barrier(asking: Asking, sides: tuple[str, ...]) -> None:
    race(asking, 100, sides)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("sides", [("go", "stop"), ("go", "deadline")], ids=["two people", "a person and the deadline"])
def test_processes_meet_three_thousand_times(asking: Asking, sides: tuple[str, ...]) -> None:
    told = race(asking, 3_000, sides)
    assert all(any(outcome == "accepted" for outcome, _, _ in said) for said in told.values()), "one side never won"


def test_cancelling_races_the_answer(asking: Asking) -> None:
    """The third that may win: an answer after it is kept, and told that the run is closed."""
    run_id = asking.run_id(made=definition(endless()))
    request, digest, _ = asking.ask_next(run_id)
    assert asking.write(lambda tx: commands.cancel(tx, run_id, actor=USER, key="c")).outcome == "accepted"
    late = asking.answer(request, digest, "again", text="but why")
    assert (late.outcome, late.reason, late.winner["provenance"] if late.winner else None) == (
        "conflict",
        "run_closed",
        "explicit_cancel",
    )
    refused = asking.write(lambda tx: commands.expire(tx, request))
    assert (refused.reason, refused.winner["provenance"] if refused.winner else None) == (
        "run_closed",
        "explicit_cancel",
    )
    kept = asking.read(lambda connection: reads.submissions(connection, request))[-1]
    assert b"but why" in asking.read(lambda connection: reads.value(connection, kept.payload_hash))


@pytest.mark.parametrize(("after", "state", "said"), [(0, "pending", "waiting"), (1, "overdue", "overdue")])
def test_a_deadline_is_the_same_moment_for_every_screen_and_the_law(
    asking: Asking, after: int, state: str, said: str
) -> None:
    from lockgate.flow.words import word
    from lockgate.view.documents import request_document

    run_id = asking.run_id(made=definition(endless()))
    request, digest, deadline = asking.ask_next(run_id)
    asking.clock.wall_ms = deadline + after
    now = asking.clock.now()
    shown = asking.read(lambda connection: reads.request(connection, request))
    assert request_document(shown, now)["state"] == state
    assert word(asking.read(lambda connection: reads.run(connection, run_id)).run, now) == said
    assert asking.answer(request, digest).outcome == ("conflict" if after else "accepted")


@pytest.mark.parametrize("back", [1, 3_600_000])
def test_a_deadline_that_is_over_stays_so_when_the_clock_is_set_back(asking: Asking, back: int) -> None:
    """The refusal was the run's newest event, and no time of it goes back."""
    from lockgate.flow.words import word
    from lockgate.view.documents import request_document

    run_id = asking.run_id(made=definition(endless()))
    request, digest, deadline = asking.ask_next(run_id)
    asking.clock.wall_ms = deadline + 1
    assert asking.answer(request, digest).reason == "expired"
    asking.clock.wall_ms = deadline - back
    again = asking.answer(request, digest, "again", text="once more")
    assert (again.outcome, again.reason) == ("conflict", "expired")
    now = asking.clock.now()
    assert word(asking.read(lambda connection: reads.run(connection, run_id)).run, now) == "overdue"
    assert (
        request_document(asking.read(lambda connection: reads.request(connection, request)), now)["state"] == "overdue"
    )
    # A host that has seen the later time, or finds it in the store, takes the default at once.
    assert asking.read(hosts.latest_waiting) == deadline + 1
    assert asking.read(lambda connection: hosts.deadline_in_ms(connection, now.wall_ms, deadline + 1)) == 0
    assert asking.read(lambda connection: hosts.due_deadlines(connection, now.wall_ms, deadline + 1)) == (request,)
    assert asking.write(lambda tx: commands.expire(tx, request)).outcome == "accepted"


def test_a_clock_that_is_set_back_moves_no_deadline(asking: Asking) -> None:
    """People were told the moment: until it comes they may answer, and nothing is taken for them."""
    request, digest, deadline = asking.ask_next(asking.run_id(made=definition(endless())))
    asking.clock.pass_ms(59_000)
    asking.clock.wall_ms -= 3_600_000
    asking.clock.mono_ms += 3_600_000
    assert asking.write(lambda tx: commands.expire(tx, request)).reason == "not_due"
    assert asking.read(lambda connection: reads.request(connection, request)).deadline_at == deadline
    assert asking.answer(request, digest).outcome == "accepted"
