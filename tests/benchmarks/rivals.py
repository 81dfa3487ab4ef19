"""The peers, each as a script in an environment of its own, so that nothing of theirs is installed with ours."""

import json
import subprocess
from pathlib import Path

from tests.benchmarks.setting import environment

_SCRIPTS = Path(__file__).parent / "peers"


def steps_per_second(python: Path, script: str, directory: Path, steps: int) -> float:
    """One workflow of `steps` durable steps, as the peer counts them from call to return."""
    return _told(python, script, directory, str(steps))["steps_per_second"]


def queue_seconds(python: Path, directory: Path, steps: int, runs: int, workers: int) -> float:
    """DBOS: `runs` workflows through a queue of `workers`, from the first enqueue to the last result."""
    return _told(python, "dbos_steps.py", directory, str(steps), "queue", str(runs), str(workers))["seconds"]


def _told(python: Path, script: str, directory: Path, *arguments: str) -> dict[str, float]:
    directory.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in environment().items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [str(python), str(_SCRIPTS / script), *arguments],
        cwd=directory,
        env=kept,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if ran.returncode != 0:
        raise RuntimeError(f"{script} failed: {ran.stderr[-2000:]}")
    told: dict[str, float] = json.loads(ran.stdout.strip().splitlines()[-1])
    return told
