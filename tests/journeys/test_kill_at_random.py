"""kill -9 of workers, what forks them, and hosts at random: every run ends as it would have, no step runs twice."""

import random
from collections import Counter
from pathlib import Path

import pytest

from lockgate.flow.fold import fold
from lockgate.flow.graph import decode
from lockgate.host.processes import identify
from lockgate.store import commands, reads
from lockgate.store.once import read_once
from tests.host.bench import Bench, fork_servers_of, kill, until

RUNS = 4

LONG = """
def work(ctx):
    step = ctx.state.node
    log(f"run {ctx.input} {step}")
    time.sleep(0.01)
    return {"at": step}

def send(ctx):
    log(f"sent {ctx.input} {ctx.state.visit} {ctx.effect.key}")
    return {"sent": True}

names = [f"s{number}" for number in range(20)]
nodes = {name: compute(work) for name in names}
nodes["mail"] = action(send, effect=idempotent("mail"))
flow = Workflow("long", start="s0", nodes=nodes,
    edges=[edge(a, b) for a, b in zip(names, names[1:])] + [edge("s19", "mail")])
"""


@pytest.mark.parametrize(
    ("seed", "enough"),
    [(1, 4), pytest.param(2, 15, marks=pytest.mark.slow), pytest.param(3, 15, marks=pytest.mark.slow)],
)
def test_runs_survive_everything(tmp_path: Path, seed: int, enough: int) -> None:
    chance = random.Random(seed)
    bench = Bench(tmp_path)
    file = bench.write(LONG)
    runs = [bench.start(file, number) for number in range(RUNS)]
    kills = 0
    while any(bench.run(run_id).status != "completed" for run_id in runs):
        with bench.host() as host:
            for _ in range(chance.randint(0, 2)):
                seen = len(bench.log()) + chance.randint(1, 8)
                until(lambda seen=seen: len(bench.log()) >= seen or is_stuck(bench, runs), "progress")
                for server in fork_servers_of(host.pid) if chance.random() < 0.5 else ():
                    kill(server)
                kills += kill_a_worker(bench, chance)
            for run_id in runs:
                resume_if_blocked(bench, run_id)
            if kills >= enough:
                for run_id in runs:
                    until(lambda run_id=run_id: is_completed(bench, run_id), f"{run_id} completed", within_s=30)
            else:
                kill(host.pid)
                host.wait()
    for run_id in runs:
        check(bench, run_id)
    assert bench.rows("SELECT count(*) FROM run_queue WHERE token_hash IS NOT NULL") == [(0,)]


def is_stuck(bench: Bench, runs: list[str]) -> bool:
    """Whether no run moves any more by itself: each is over or blocked."""
    found = [bench.run(run_id) for run_id in runs]
    return all(run.status == "completed" or run.error_code is not None for run in found)


def is_completed(bench: Bench, run_id: str) -> bool:
    resume_if_blocked(bench, run_id)
    return bench.run(run_id).status == "completed"


def kill_a_worker(bench: Bench, chance: random.Random) -> int:
    query = "SELECT pid, process_start FROM run_workers WHERE status IN ('starting', 'ready') AND pid IS NOT NULL"
    alive = [pid for pid, start in bench.rows(query) if (found := identify(pid)) and found.start == start]
    if alive:
        kill(chance.choice(alive))
    return len(alive[:1])


def resume_if_blocked(bench: Bench, run_id: str) -> None:
    """A launch that is killed before its first proposal blocks the run at once: that is the rule, not a loss."""
    if bench.run(run_id).error_code is not None:
        bench.command(commands.resume, run_id)


def check(bench: Bench, run_id: str) -> None:
    run = bench.run(run_id)
    assert run.steps == 21
    detail, trace = read_once(bench.store, lambda c: (reads.run(c, run_id), reads.trace(c, run_id)))
    digest = detail.row.definition_digest
    folded = fold(trace, decode(digest, read_once(bench.store, lambda c: reads.definition(c, digest)))).head
    assert folded is not None
    assert folded.run == detail.row
    steps = bench.rows(
        "SELECT node_id, step_index FROM node_attempts WHERE run_id = ? AND outcome = 'ok' ORDER BY step_index", run_id
    )
    assert [node for node, _ in steps] == [f"s{number}" for number in range(20)] + ["mail"]
    assert [index for _, index in steps] == list(range(21))
    # A step may have begun more often than it ended, but never again after it had ended: one attempt, one line.
    begun = Counter(node for (node,) in bench.rows("SELECT node_id FROM node_attempts WHERE run_id = ?", run_id))
    number = bench.rows("SELECT b.content FROM runs r JOIN blobs b ON b.hash = r.input_hash WHERE run_id = ?", run_id)
    lines = Counter(line.split()[2] for line in bench.log() if line.startswith(f"run {number[0][0].decode()} "))
    assert all(lines[node] <= begun[node] for node in lines)
    keys = {line.split()[3] for line in bench.log() if line.startswith(f"sent {number[0][0].decode()} ")}
    assert len(keys) == 1
