"""The big store and a small one, made once for all the benchmarks of one call."""

from pathlib import Path

from tests.benchmarks.fixture import NEWEST, RUNS, make
from tests.benchmarks.setting import Setting

SMALL_RUNS = 100
NEWEST_TITLE = NEWEST


def big(setting: Setting) -> Path:
    """100,000 runs and 1,000,000 events."""
    if setting.big is not None:
        return setting.big
    return _made(setting, "big", setting.size(RUNS, 300), setting.size(5_000, 20))


def small(setting: Setting) -> Path:
    """100 runs of the same mix."""
    return _made(setting, "small", SMALL_RUNS, 0)


def _made(setting: Setting, name: str, runs: int, long_steps: int) -> Path:
    path = setting.directory / name / "state.sqlite"
    if not path.exists():
        make(path, runs=runs, long_steps=long_steps)
    return path
