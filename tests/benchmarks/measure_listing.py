"""`runs --json --limit 50` on the big store, as a whole process, and what it may not load."""

import json
import subprocess
import time
from pathlib import Path

from tests.benchmarks.figures import Figure, middle
from tests.benchmarks.setting import Setting, environment
from tests.benchmarks.stage import LOCKGATE
from tests.benchmarks.stores import big

CALLS = 20
FORBIDDEN = {"textual", "jsonschema", "jsonpatch", "rfc8785", "asyncinotify"}
_ARGUMENTS = ["runs", "--json", "--limit", "50"]


def measure(setting: Setting) -> list[Figure]:
    path = big(setting)
    _call(path)
    seconds = [_call(path) for _ in range(setting.size(CALLS, 3))]
    loaded = sorted(_loaded(path) & FORBIDDEN)
    return [
        middle("runs --json --limit 50, p50", seconds, "s", at_most=0.2, note=f"best {min(seconds):.3f} s"),
        Figure(name="modules it may not load", value=len(loaded), unit="modules", at_most=0, note=f"{loaded}"),
    ]


def _call(path: Path) -> float:
    began = time.perf_counter()
    ran = subprocess.run([*LOCKGATE, *_ARGUMENTS], env=environment(path), capture_output=True, check=True)
    seconds = time.perf_counter() - began
    assert len(json.loads(ran.stdout)["runs"]) == 50
    return seconds


def _loaded(path: Path) -> set[str]:
    """The top-level packages that the process imports."""
    command = [LOCKGATE[0], "-X", "importtime", *LOCKGATE[1:], *_ARGUMENTS]
    ran = subprocess.run(command, env=environment(path), capture_output=True, text=True, check=True)
    names = (line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if line.startswith("import time:"))
    return {name.partition(".")[0] for name in names}
