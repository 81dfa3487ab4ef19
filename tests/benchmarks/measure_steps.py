"""Durable steps a second: one run by execute() against bare commits and the peers, and eight runs at once."""

import asyncio
import gc
import time
from pathlib import Path
from statistics import median

from lockgate import execute, open_store
from tests.benchmarks.bare import commits_per_second
from tests.benchmarks.figures import Figure, middle
from tests.benchmarks.loops import looping
from tests.benchmarks.rivals import steps_per_second
from tests.benchmarks.setting import Setting

OURS, EIGHT, PEERS = 3_000, 800, 300
BARE_SECONDS = 0.5


def measure(setting: Setting) -> list[Figure]:
    rounds: dict[str, list[float]] = {}
    for _ in range(setting.pairs):
        _round(setting, rounds)
    return [*_ours(rounds), *_peers(rounds)]


def _round(setting: Setting, rounds: dict[str, list[float]]) -> None:
    """Every contender once, the yardstick before and after ours."""
    with setting.place("steps") as place:
        steps, each = setting.size(OURS, 50), setting.size(EIGHT, 20)
        before = commits_per_second(place, BARE_SECONDS)
        ours = _rate(place / "one", runs=1, steps=steps, threaded=True)
        after = commits_per_second(place, BARE_SECONDS)
        bare = (before + after) / 2
        on_loop = _rate(place / "loop", runs=1, steps=steps, threaded=False)
        eight = _rate(place / "eight", runs=8, steps=each, threaded=True)
        found = {"bare": bare, "ours": ours, "on_loop": on_loop, "eight": eight}
        found |= {"to_bare": ours / bare, "loop_to_bare": on_loop / bare, "eight_to_one": eight / ours}
        if setting.peers is not None:
            count = setting.size(PEERS, 20)
            found["dbos"] = steps_per_second(setting.peers, "dbos_steps.py", place / "dbos", count)
            found["langgraph"] = steps_per_second(setting.peers, "langgraph_steps.py", place / "langgraph", count)
            found["to_peers"] = ours / max(found["dbos"], found["langgraph"])
    for name, value in found.items():
        rounds.setdefault(name, []).append(value)


def _rate(place: Path, *, runs: int, steps: int, threaded: bool) -> float:
    """Steps a second of `runs` concurrent runs in a new store, from the calls of execute() to their returns."""
    place.mkdir(mode=0o700)

    async def work() -> float:
        async with open_store(place / "state.sqlite", create=True) as store:
            await execute(looping(2, threaded=threaded), store=store)
            workflows = [looping(steps, threaded=threaded) for _ in range(runs)]
            gc.collect()
            began = time.perf_counter()
            ended = await asyncio.gather(*(execute(workflow, store=store) for workflow in workflows))
            seconds = time.perf_counter() - began
            assert all(run.status == "completed" and run.steps == steps + 1 for run in ended), ended
            return runs * (steps + 1) / seconds

    return asyncio.run(work())


def _ours(rounds: dict[str, list[float]]) -> list[Figure]:
    plain = "one run; its functions are plain ones, each called on a thread"
    return [
        middle("bare one-row FULL commits", rounds["bare"], "commits/s"),
        middle("one run", rounds["ours"], "steps/s", note=plain),
        middle("one run / bare commits", rounds["to_bare"], "x", at_least=0.20, goal=0.30, note=plain),
        middle("one run, async functions", rounds["on_loop"], "steps/s"),
        middle("one run, async functions / bare commits", rounds["loop_to_bare"], "x", at_least=0.20, goal=0.30),
        middle("eight runs", rounds["eight"], "steps/s", goal=4_000),
        middle("eight runs / one run", rounds["eight_to_one"], "x", at_least=2.2),
    ]


def _peers(rounds: dict[str, list[float]]) -> list[Figure]:
    if "to_peers" not in rounds:
        missing = "no environment with the extra [bench] was named (--peers PYTHON)"
        return [Figure(name="one run / the faster peer", value=None, unit="x", at_least=3, goal=4, note=missing)]
    names = {name: round(median(rounds[name]), 1) for name in ("dbos", "langgraph")}
    return [
        middle("DBOS on SQLite", rounds["dbos"], "steps/s"),
        middle("LangGraph AsyncSqliteSaver", rounds["langgraph"], "steps/s", note='durability="sync", plain functions'),
        middle("one run / the faster peer", rounds["to_peers"], "x", at_least=3, goal=4, note=f"{names}"),
    ]
