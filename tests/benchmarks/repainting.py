"""What a whole repaint costs: the dashboard in this process, without a terminal, all that shows a line painted anew."""

import asyncio
import time
from pathlib import Path
from statistics import median

from textual.pilot import Pilot

from lockgate.tui.app import LockgateApp
from lockgate.tui.options import Options
from lockgate.view.door import open_dashboard
from tests.benchmarks.dashboard import COLUMNS, ROWS

_SAMPLE = 10


def repaint_ms(store: Path, samples: int) -> float:
    """CPU milliseconds of one repaint; the pilot's own pause, measured in turn, is not counted."""
    return asyncio.run(_repaint_ms(store, samples))


async def _repaint_ms(store: Path, samples: int) -> float:
    async with open_dashboard(store) as (feed, desk):
        app = LockgateApp(feed, desk, feed.now, Options())
        async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
            await pilot.pause(1.0)
            await _sample(app, pilot, repaint=True)
            return median(
                [
                    await _sample(app, pilot, repaint=True) - await _sample(app, pilot, repaint=False)
                    for _ in range(samples)
                ]
            )


async def _sample(app: LockgateApp, pilot: Pilot[int], *, repaint: bool) -> float:
    began = time.process_time()
    for _ in range(_SAMPLE):
        if repaint:
            for widget in app.screen.query("LineBlock, LineList"):
                widget.refresh()
            app.screen.refresh()
        await pilot.pause()
    return (time.process_time() - began) / _SAMPLE * 1000
