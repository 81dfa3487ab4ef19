"""What an open dashboard costs while it is only watched: idle, with one change a second, and with 200."""

import time
from pathlib import Path

from tests.benchmarks.dashboard import Dashboard, dashboard
from tests.benchmarks.figures import Figure
from tests.benchmarks.fixture import make
from tests.benchmarks.setting import Setting
from tests.benchmarks.stage import companion, line_of
from tests.benchmarks.stores import NEWEST_TITLE

WATCH_S, RUNS, WAITING = 20.0, 10_000, 40
_RATES = (("idle", 0, 0.5, 300), ("1 change a second", 1, 2.0, 10_240), ("200 changes a second", 200, 10.0, 10_240))


def measure(setting: Setting) -> list[Figure]:
    seconds = max(3.0, WATCH_S * setting.share)
    figures = []
    with setting.place("watching") as place:
        path = place / "store" / "state.sqlite"
        make(path, runs=setting.size(RUNS, 300), waiting=WAITING, long_steps=0)
        with dashboard(path) as shown:
            shown.shows(NEWEST_TITLE)
            shown.settle()
            shown.drain(2.0)
            for name, rate, percent, most in _RATES:
                share, flow, made = _watch(shown, path, rate, seconds)
                note = f"{made / seconds:.0f} changes/s for {seconds:.0f} s"
                figures += [
                    Figure(name=f"{name}: CPU", value=share, unit="% of a core", at_most=percent, note=note),
                    Figure(name=f"{name}: to the terminal", value=flow, unit="B/s", at_most=most, note=note),
                ]
    return figures


def _watch(shown: Dashboard, path: Path, rate: int, seconds: float) -> tuple[float, float, int]:
    """Percent of a core, bytes a second, and how many changes there were."""
    if not rate:
        return (*_cost(shown, seconds), 0)
    with companion("writing", str(path)) as writer:
        assert line_of(writer) == "ready"
        assert writer.stdin is not None
        count, apart = round(rate * seconds), 1000 / rate
        writer.stdin.write(f"{count} {apart} {apart}\n")
        writer.stdin.flush()
        began = time.monotonic()
        found = _cost(shown, seconds)
        line_of(writer)
        took = time.monotonic() - began
    shown.settle()
    return (*found, round(count * seconds / took))


def _cost(shown: Dashboard, seconds: float) -> tuple[float, float]:
    before, received = shown.usage, shown.received
    shown.drain(seconds)
    return shown.usage.share_since(before), (shown.received - received) / seconds
