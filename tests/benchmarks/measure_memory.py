"""The dashboard's memory on the big store: after 1,000 keys, and whether 1,000 more still add to it."""

from tests.benchmarks.dashboard import Dashboard, dashboard
from tests.benchmarks.figures import Figure
from tests.benchmarks.setting import Setting
from tests.benchmarks.stores import NEWEST_TITLE, big

KEYS = 1_000
GAP_S = 0.02
"""Between keys: sooner than a held key repeats, later than pasted text, of which a dashboard takes only so much."""


def measure(setting: Setting) -> list[Figure]:
    keys = setting.size(KEYS, 30)
    with dashboard(big(setting)) as shown:
        shown.shows(NEWEST_TITLE)
        shown.settle()
        first = shown.memory_mb
        _press(shown, keys)
        after = shown.memory_mb
        _press(shown, keys)
        _press(shown, keys)
        later = shown.memory_mb
    return [
        Figure(name="memory after the first paint", value=first, unit="MB"),
        Figure(name=f"memory after {keys} keys", value=after, unit="MB", at_most=90),
        Figure(name=f"what {2 * keys} more keys add", value=later - after, unit="MB", at_most=5),
    ]


def _press(shown: Dashboard, keys: int) -> None:
    """Through the list, by pages and to its ends, and through the tabs of the detail."""
    for number in range(keys):
        shown.press(_KEYS[number % len(_KEYS)])
        shown.drain(GAP_S)
    shown.settle()


_KEYS = (*[b"j"] * 20, b"\x1b[6~", b"G", b"k", b"\x1b[5~", b"g", *[b"j"] * 5, *[b"k"] * 3)
