"""The dashboard starts a host that outlives it, and says in one sentence what became of it."""

import asyncio
import os
import signal
from pathlib import Path

from lockgate.store import reads
from lockgate.store.living import process_exists
from lockgate.store.once import read_once
from lockgate.view.door import open_dashboard
from tests.store.conftest import Bench


async def test_a_host_is_started_and_a_second_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    Bench(path).close()
    async with open_dashboard(path) as (_, desk):
        said = await desk.start_host()
        pid = await _pid(path)
        try:
            assert said in (f"host pid {pid} is here now", "a host was started")
            assert os.getsid(pid) == pid
            assert str(pid) in await desk.start_host()
        finally:
            os.kill(pid, signal.SIGTERM)
        async with asyncio.timeout(10):
            while process_exists(pid):
                await asyncio.sleep(0.02)
    assert (path.parent / "state.sqlite.host.log").stat().st_mode & 0o777 == 0o600


async def _pid(path: Path) -> int:
    async with asyncio.timeout(10):
        while True:
            host = read_once(path, reads.host_state)
            if host.pid is not None:
                return host.pid
            await asyncio.sleep(0.05)
