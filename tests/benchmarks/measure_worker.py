"""A step through a worker process: from one call of a node's function to the next, everything between included."""

import json
from itertools import pairwise

from tests.benchmarks.figures import Figure, quantile
from tests.benchmarks.loops import TIMED
from tests.benchmarks.setting import Setting
from tests.benchmarks.stage import Project, host, until

STEPS, WARM = 2_000, 20


def measure(setting: Setting) -> list[Figure]:
    rounds = []
    for _ in range(max(1, min(3, setting.pairs))):
        with setting.place("worker") as place:
            rounds.append(_gaps(Project(place, "timed", TIMED.format(steps=setting.size(STEPS, 100)))))
    middles = [quantile(gaps, 0.5) for gaps in rounds]
    slowest = [quantile(gaps, 0.99) for gaps in rounds]
    note = "the best of the rounds: what is slower is the machine"
    facts = {"unit": "ms", "note": note}
    return [
        Figure(name="a step, p50", value=min(middles), at_most=2.5, rounds=tuple(middles), **facts),
        Figure(name="a step, p99", value=min(slowest), at_most=10, rounds=tuple(slowest), **facts),
    ]


def _gaps(project: Project) -> list[float]:
    """Milliseconds between the calls of one run's function, as the worker saw them."""
    project.start(1)
    with host(project, "--max-workers", "1"):
        output = until(lambda: project.rows("SELECT output_hash FROM runs WHERE status = 'completed'"), every=0.05)
    content = project.rows("SELECT content FROM blobs WHERE hash = ?", output[0][0])[0][0]
    assert isinstance(content, bytes)
    moments = json.loads(content)[WARM:]
    return [(late - early) / 1e6 for early, late in pairwise(moments)]
