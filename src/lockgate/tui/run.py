"""Opens the store, runs the app, gives the terminal back: it owns the event loop of the dashboard."""

import asyncio
from pathlib import Path

from lockgate.config.settings import Settings
from lockgate.tui.app import LockgateApp
from lockgate.tui.options import Options, options_from
from lockgate.view.door import open_dashboard


def run_dashboard(store_path: Path, *, settings: Settings, read_only: bool = False, run_id: str | None = None) -> int:
    """Shows the dashboard until the person leaves it; 0 then, 128 + n when signal n ended it.

    Raises the store's errors before it takes the screen: where the store cannot be opened nothing is shown.
    """
    return asyncio.run(_run(store_path, options_from(settings, read_only=read_only, run_id=run_id)))


async def _run(store_path: Path, options: Options) -> int:
    async with open_dashboard(store_path, read_only=options.read_only) as (feed, desk):
        app = LockgateApp(feed, desk, feed.now, options)
        result = await app.run_async(mouse=options.mouse)
        return app.return_code or result or 0
