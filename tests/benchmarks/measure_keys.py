"""From a key to its paint on the big store, and what a key and a whole repaint cost."""

import time

from tests.benchmarks.dashboard import COLUMNS, ROWS, Dashboard, dashboard
from tests.benchmarks.figures import Figure, quantile
from tests.benchmarks.repainting import repaint_ms
from tests.benchmarks.setting import Setting
from tests.benchmarks.stores import NEWEST_TITLE, big

KEYS, ROUNDS, APART_S = 300, 3, 0.05
RESIZES, REPAINTS = 40, 15


def measure(setting: Setting) -> list[Figure]:
    keys = setting.size(KEYS, 20)
    with dashboard(big(setting)) as shown:
        shown.shows(NEWEST_TITLE)
        shown.settle()
        rounds = [_round(shown, b"k" if number % 2 else b"j", keys) for number in range(ROUNDS)]
        resized = _resize(shown, setting.size(RESIZES, 4))
    repaint = repaint_ms(big(setting), setting.size(REPAINTS, 3))
    half = [quantile(waits, 0.5) for waits, _ in rounds]
    slow = [quantile(waits, 0.99) for waits, _ in rounds]
    cpu = [used for _, used in rounds]
    note = f"the best of {ROUNDS} rounds of {keys} keys, {APART_S * 1000:.0f} ms apart"
    return [
        Figure(name="key to paint, p50", value=min(half), unit="ms", at_most=16, rounds=tuple(half), note=note),
        Figure(name="key to paint, p99", value=min(slow), unit="ms", at_most=50, rounds=tuple(slow), note=note),
        Figure(name="a key", value=min(cpu), unit="ms CPU", at_most=12, rounds=tuple(cpu), note=note),
        Figure(name="a whole repaint", value=repaint, unit="ms CPU", at_most=20, note="every widget, 120x40"),
        Figure(name="a resize", value=resized, unit="ms CPU", note="a whole repaint with its layout"),
    ]


def _round(shown: Dashboard, key: bytes, keys: int) -> tuple[list[float], float]:
    """Milliseconds from each key to the first byte of its paint, and the CPU of a key with all that follows."""
    waits = []
    before = shown.usage
    for _ in range(keys):
        began = time.monotonic()
        waits.append(shown.press(key) * 1000)
        shown.drain(max(0.0, APART_S - (time.monotonic() - began)))
    shown.settle()
    return waits, (shown.usage.cpu_s - before.cpu_s) / keys * 1000


def _resize(shown: Dashboard, times: int) -> float:
    """CPU milliseconds of one."""
    before = shown.usage
    for number in range(times):
        shown.resize(COLUMNS, ROWS - 1 if number % 2 == 0 else ROWS)
        shown.settle(0.15)
    return (shown.usage.cpu_s - before.cpu_s) / times * 1000
