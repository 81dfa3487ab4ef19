"""Approval, rejection and the deadline's default race from three processes: exactly one wins, and all agree who."""

import json
import subprocess
import sys
from pathlib import Path

from lockgate.store import reads

from .conftest import Bench

REPOSITORY = Path(__file__).resolve().parents[2]
DECISIONS = 60
CONTENDER = """
import json, sys, time
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from tests.store.conftest import HandClock
from lockgate.model.records import Human
from lockgate.store import commands
from lockgate.store.openfile import open_file

path, how, asked = Path(sys.argv[1]), sys.argv[3], json.loads(sys.argv[4])
clock = HandClock()
# At the last millisecond of the deadline a person may still answer, and the default may already be taken.
clock.wall_ms = asked["deadline"]
file = open_file(path, clock)
human = Human.for_test(how)
print("ready", flush=True)
sys.stdin.readline()
won = []
for request_id, digest in asked["requests"]:
    if how == "deadline":
        act = lambda tx: commands.expire(tx, request_id)
    else:
        facts = {"text": None, "digest": digest, "human": human, "key": f"{how}:{request_id}"}
        act = lambda tx: commands.answer(tx, request_id, how, **facts)
    receipt = file.write(act, clock)
    assert receipt.outcome in ("accepted", "conflict"), receipt
    if receipt.outcome == "accepted":
        won.append(request_id)
    else:
        assert receipt.reason == "already_resolved", receipt
file.close()
print(json.dumps(won))
"""


def test_exactly_one_wins_and_all_agree(bench: Bench) -> None:
    requests = [bench.at_decision(seconds=60) for _ in range(DECISIONS)]
    asked = {
        "requests": [(request_id, digest) for _, request_id, digest in requests],
        "deadline": bench.clock.wall_ms + 60_000,
    }
    contenders = {
        how: subprocess.Popen(
            [sys.executable, "-c", CONTENDER, str(bench.path), str(REPOSITORY), how, json.dumps(asked)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for how in ("go", "stop", "deadline")
    }
    for process in contenders.values():
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in contenders.values():
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    wins = {how: json.loads(process.communicate(timeout=60)[0]) for how, process in contenders.items()}
    winner = {request_id: how for how, won in wins.items() for request_id in won}
    assert sum(len(won) for won in wins.values()) == len(winner) == DECISIONS
    for run_id, request_id, _ in requests:
        detail = bench.read(lambda connection, run_id=run_id: reads.run(connection, run_id))
        resolution = detail.resolutions[0]
        accepted = [
            event.type
            for event in bench.read(lambda connection, run_id=run_id: reads.events(connection, run_id))
            if event.type == "decision_accepted"
        ]
        assert len(accepted) == 1
        how = winner[request_id]
        assert resolution.choice == ("stop" if how == "deadline" else how)
        assert resolution.provenance == ("timeout_policy" if how == "deadline" else "human")
