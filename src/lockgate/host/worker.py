"""The process that executes one run: a fork of the fork server, or `python -P -u -m lockgate.host.worker FD`.

It holds one end of the socketpair and nothing else: no store, no token. It loads the workflow's file in the
run's project directory, compares it with what the run recorded, says ready, runs the engine, and exits. User
code runs here; whatever it does to this process, the host sees an exit and decides.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import NoReturn

from lockgate.engine.loading import Loaded, load
from lockgate.engine.runner import run
from lockgate.flow.sources import changed
from lockgate.host.channel import Channel
from lockgate.host.client import HostClient, HostGone
from lockgate.host.protocol import Launch
from lockgate.host.spawning import unpacked
from lockgate.host.watchdog import watch_host
from lockgate.model.encoding import sha256, stored
from lockgate.model.errors import ClaimLost, LockgateError

LOST_HOST = 70
"""The exit code of a worker whose host is gone; nobody reads it but a person looking at processes."""


def main() -> None:
    execute(socket.socket(fileno=int(sys.argv[1])))


def execute(connected: socket.socket) -> NoReturn:
    """Makes this process the worker at the other end of the socket; it ends here."""
    connected.set_inheritable(False)
    watch_host(connected)
    code = _run_to_end(connected)
    for stream in (sys.stdout, sys.stderr):
        # User code may have closed them, or put something else in their place.
        with contextlib.suppress(Exception):
            stream.flush()
    # A node that ran over its limit may still sit in a thread: nothing may wait for it.
    os._exit(code)


def _run_to_end(connected: socket.socket) -> int:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    task = loop.create_task(serve(connected))
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        return loop.run_until_complete(task)
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM
    except HostGone:
        return LOST_HOST
    except BaseException:
        # Also SystemExit of user code: whatever ended the engine is a lost launch, and stderr says which.
        traceback.print_exc()
        return 1


async def serve(connected: socket.socket) -> int:
    """Executes the run that the host names; the exit code."""
    channel = await Channel.over(connected)
    client, launch = await HostClient.greet(channel)
    loaded = await _load(client, launch)
    if loaded is None:
        return 0
    await client.say_exiting(await _go_on(client, loaded))
    return 0


async def _go_on(client: HostClient, loaded: Loaded) -> str:
    """Runs until the run ends, waits, or is no longer this worker's; the reason."""
    try:
        return await run(loaded.workflow, client, sources=loaded.sources, environment=os.environ)
    except ClaimLost:
        return "claim_lost"


async def _load(client: HostClient, launch: Launch) -> Loaded | None:
    """The workflow, if it is the one that was started; otherwise the host is told why not."""
    try:
        _take_environment(launch)
        os.chdir(launch.project_dir)
        loaded = load(Path(launch.file), launch.name, project_dir=Path(launch.project_dir))
    except LockgateError as error:
        await client.say_load_failed(error.message)
        return None
    except OSError as error:
        await client.say_load_failed(f"{launch.project_dir}: {error.strerror}")
        return None
    differing = changed(launch.sources, loaded.sources)
    graph_changed = sha256(stored(loaded.workflow.document())) != launch.definition_digest
    if differing or graph_changed:
        # The workflow's own file is named where only the graph that it makes has changed.
        await client.say_sources_differ(differing or (str(loaded.file),), graph_changed=graph_changed)
        return None
    return loaded


def _take_environment(launch: Launch) -> None:
    given = unpacked(launch.environment)
    if given != os.environb:
        # Not the one that the fork server was started with: the host's has changed since.
        os.environb.clear()
        os.environb.update(given)
    os.environ["LOCKGATE_RUN_ID"] = launch.run_id


if __name__ == "__main__":
    main()
