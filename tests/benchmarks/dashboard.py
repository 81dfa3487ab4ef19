"""The dashboard in a pseudo-terminal: keys go in, bytes come out, and nothing interprets them in between.

A terminal emulator here would take CPU from what is measured; texts are looked for in the bytes.
"""

import contextlib
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.machine import Usage, memory_mb, usage
from tests.benchmarks.setting import environment
from tests.benchmarks.stage import LOCKGATE

COLUMNS, ROWS = 120, 40
_PATIENCE_S = 60.0


class Dashboard:
    """One dashboard process and the other end of its terminal."""

    def __init__(self, process: "subprocess.Popen[bytes]", terminal: int, began: float) -> None:
        self.began = began
        self.received = 0
        self._process = process
        self._terminal = terminal

    def shows(self, text: str) -> float:
        """Waits for a text among the bytes; the moment at which it had come whole."""
        wanted, seen = text.encode(), b""
        end = time.monotonic() + _PATIENCE_S
        while time.monotonic() < end:
            piece = self.take(0.05)
            if piece:
                seen = (seen + piece)[-(1 << 20) :]
                if wanted in seen:
                    return time.perf_counter()
        raise TimeoutError(f"{text!r} was never painted: {seen[-2000:]!r}")

    def take(self, seconds: float) -> bytes:
        """What comes next, at most `seconds` away; nothing at the end of that time."""
        if not select.select([self._terminal], [], [], seconds)[0]:
            return b""
        try:
            piece = os.read(self._terminal, 1 << 16)
        except OSError:
            raise RuntimeError(f"the dashboard ended with {self._process.wait(10)}") from None
        self.received += len(piece)
        return piece

    def drain(self, seconds: float) -> None:
        """Takes everything for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.take(left)

    def settle(self, quiet_s: float = 0.5, within: float = 20.0) -> None:
        """Until nothing has been painted for a while."""
        end = time.monotonic() + within
        while self.take(quiet_s) and time.monotonic() < end:
            pass

    def press(self, key: bytes) -> float:
        """Sends a key; the seconds until the first byte of its paint."""
        began = time.perf_counter()
        os.write(self._terminal, key)
        if not self.take(2.0):
            raise TimeoutError(f"{key!r} painted nothing")
        return time.perf_counter() - began

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self._process.pid, signal.SIGWINCH)

    @property
    def usage(self) -> Usage:
        return usage(self._process.pid)

    @property
    def memory_mb(self) -> float:
        return memory_mb(self._process.pid)


@contextmanager
def dashboard(store: Path, *arguments: str) -> Iterator[Dashboard]:
    """A dashboard on the store, as a process with a terminal of its own; ended in any case."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    began = time.perf_counter()
    process = subprocess.Popen(
        [*LOCKGATE, *arguments],
        env={**environment(store), "TERM": "xterm-256color", "COLORTERM": "truecolor"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Dashboard(process, ours, began)
    finally:
        process.terminate()
        _reap(process, ours)
        os.close(ours)


def _reap(process: "subprocess.Popen[bytes]", terminal: int) -> None:
    """Reads what it still writes, or it would wait for us for ever."""
    end = time.monotonic() + 10
    while process.poll() is None and time.monotonic() < end:
        with contextlib.suppress(OSError):
            if select.select([terminal], [], [], 0.05)[0]:
                os.read(terminal, 1 << 16)
    if process.poll() is None:
        process.kill()
        process.wait()
