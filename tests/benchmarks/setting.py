"""What all benchmarks are given: a directory of their own, how many rounds, and how large."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.figures import Figure

ROOT = Path(__file__).resolve().parents[2]
PEERS = "LOCKGATE_BENCH_PEERS"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """`share` scales every size: 1.0 is what the budgets are about, less is for trying a benchmark out.

    `peers` is the Python of an environment that has the extra `[bench]`; None leaves the peers out. `big` is a big
    store that an earlier run kept, to be read and written; None has one made.
    """

    directory: Path
    pairs: int = 5
    share: float = 1.0
    peers: Path | None = None
    big: Path | None = None

    def size(self, whole: int, least: int = 1) -> int:
        return max(least, round(whole * self.share))

    @contextmanager
    def place(self, name: str) -> Iterator[Path]:
        """A new directory, removed in the end."""
        made = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.directory))
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)


Benchmark = Callable[[Setting], list[Figure]]


def environment(store: Path | None = None) -> dict[str, str]:
    """For child processes: ours less LOCKGATE_*, with this checkout to import from."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LOCKGATE_")}
    paths = [str(ROOT / "src"), str(ROOT), kept.get("PYTHONPATH", "")]
    kept["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    if store is not None:
        kept["LOCKGATE_DB"] = str(store)
    return kept
