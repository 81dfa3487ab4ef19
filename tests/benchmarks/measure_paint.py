"""From the start of the dashboard's process to its first painted run: the big store against a small one."""

from pathlib import Path

from tests.benchmarks.dashboard import dashboard
from tests.benchmarks.figures import Figure, middle
from tests.benchmarks.setting import Setting
from tests.benchmarks.stores import NEWEST_TITLE, big, small


def measure(setting: Setting) -> list[Figure]:
    many, few = big(setting), small(setting)
    _seconds(many)
    _seconds(few)
    pairs = [(_seconds(many), _seconds(few)) for _ in range(setting.pairs)]
    return [
        middle("exec to first painted run, big store", [a for a, _ in pairs], "s", at_most=0.6),
        middle("exec to first painted run, 100 runs", [b for _, b in pairs], "s"),
        middle("big / small", [a / b for a, b in pairs], "x", at_most=1.1),
    ]


def _seconds(store: Path) -> float:
    with dashboard(store) as shown:
        return shown.shows(NEWEST_TITLE) - shown.began
