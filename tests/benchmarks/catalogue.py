"""The benchmarks by name. Each module is imported when its benchmark is asked for."""

from importlib import import_module

from tests.benchmarks.setting import Benchmark

ABOUT = {
    "steps": "durable steps a second by execute(), against bare commits and the peers; one run and eight",
    "history": "what a transition costs at step 10,000 against step 10",
    "worker": "a step through a worker process",
    "launch": "launch to first proposal, and 200 runs of 10 steps on 4 slots",
    "resume": "from a decision committed elsewhere to its worker going on",
    "click": "a person's click beside a process that commits for 8 runs in a tight loop",
    "wake": "from a commit elsewhere to the wake-up, and what waiting costs",
    "kill": "host and workers killed: until every run goes again",
    "parked": "a host that is idle over 1,000 parked runs",
    "contest": "three processes race for 3,000 decisions",
    "fixture": "making the big store: 100,000 runs, 1,000,000 events",
    "listing": "runs --json --limit 50 on the big store, as a whole process",
    "paint": "from the start of the dashboard to its first painted run, big store against small",
    "keys": "from a key to its paint, and the CPU of a key and of a whole repaint",
    "watching": "the dashboard's CPU and bytes: idle, 1 and 200 changes a second",
    "memory": "the dashboard's memory after 1,000 keys at 100,000 runs",
}


def load(name: str) -> Benchmark:
    """The function of one benchmark. KeyError for a name that is not in the catalogue."""
    ABOUT[name]
    measure: Benchmark = import_module(f"tests.benchmarks.measure_{name}").measure
    return measure
