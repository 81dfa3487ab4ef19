"""The demo's host: another process that lives no longer than the demo."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from lockgate.demo.project import Place

_STOP_SECONDS = 10.0


@contextmanager
def background_host(place: Place) -> Iterator[subprocess.Popen[bytes]]:
    """Runs `lockgate host` on the demo's store; gives the process, and stops it in the end.

    The host holds the reading end of a pipe and stops when it closes: so it also stops when the demo is killed.
    """
    command = [sys.executable, "-m", "lockgate", "host", "--leash", "--db", str(place.store)]
    # A caller's GIT_DIR would lead the demo's git commands to another repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    with place.host_log.open("ab") as log:
        host = subprocess.Popen(
            command,
            cwd=place.directory,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            # Its own session: Ctrl-C in the terminal is for the demo, which then stops the host in order.
            start_new_session=True,
        )
    assert host.stdin is not None
    try:
        yield host
    finally:
        host.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            host.wait(_STOP_SECONDS)
        if host.poll() is None:
            host.kill()
            host.wait()
