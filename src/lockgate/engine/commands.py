"""Runs a command: its output is captured within bounds and passed on as it comes."""

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lockgate.engine.capture import Capture

GRACE = 2.0
"""Seconds between TERM and KILL for a command that has to stop."""

_DRAIN = 0.3
_CHUNK = 32 << 10

Sink = Callable[[str, bytes], None]
"""Takes a piece of `stdout` or `stderr` as soon as it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to run. `own_group` gives the command a process group, which is then killed as a whole."""

    argv: list[str]
    cwd: str
    env: Mapping[str, str]
    stdin: bytes = b""
    capture: int
    own_group: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a command ended: exactly one of `exit_code` and `signal` is set."""

    exit_code: int | None
    signal: int | None
    stdout: str
    stderr: str
    truncated: bool
    duration_ms: int

    def as_json(self, argv: list[str]) -> dict[str, Any]:
        return {
            "argv": argv,
            "exit_code": self.exit_code,
            "signal": self.signal,
            "stdout": self.stdout,
            "stderr": self.stderr,
            "truncated": self.truncated,
            "duration_ms": self.duration_ms,
        }


class Stop:
    """Asks a running command to end, from any thread; waiting on it costs a descriptor and no time."""

    def __init__(self) -> None:
        self.is_asked = False
        self.reader, self._writer = os.pipe()
        self._is_closed = False
        self._lock = threading.Lock()

    def ask(self) -> None:
        # The number of a closed descriptor may belong to another file by now.
        with self._lock:
            if not self.is_asked and not self._is_closed:
                os.write(self._writer, b"!")
            self.is_asked = True

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            os.close(self.reader)
            os.close(self._writer)


def run_command(order: Order, sink: Sink, stop: Stop) -> Ran:
    """Blocks until the command has ended. Raises OSError when it cannot be started.

    A descendant that keeps the pipes open does not hold it up: what it writes later is not ours any more.
    """
    began = time.monotonic()
    child = subprocess.Popen(
        order.argv,
        stdin=subprocess.PIPE if order.stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=order.cwd,
        env=dict(order.env),
        process_group=0 if order.own_group else None,
        bufsize=0,
    )
    with _Watched(child, order, sink, stop) as watched:
        watched.until_end()
    status = child.returncode
    return Ran(
        exit_code=status if status >= 0 else None,
        signal=-status if status < 0 else None,
        stdout=watched.captures["stdout"].text(),
        stderr=watched.captures["stderr"].text(),
        truncated=any(capture.left_out for capture in watched.captures.values()),
        duration_ms=round((time.monotonic() - began) * 1000),
    )


class _Watched:
    """One running command with its pipes."""

    def __init__(self, child: "subprocess.Popen[bytes]", order: Order, sink: Sink, stop: Stop) -> None:
        self._child, self._order, self._sink, self._stop = child, order, sink, stop
        self._input = memoryview(order.stdin)
        self._pidfd = _pidfd(child.pid)
        self._kill_at: float | None = None
        self._selector = selectors.DefaultSelector()
        self.captures = {"stdout": Capture(order.capture), "stderr": Capture(order.capture)}

    def __enter__(self) -> "_Watched":
        for pipe, name in ((self._child.stdout, "stdout"), (self._child.stderr, "stderr")):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ, name)
        if self._child.stdin is not None:
            os.set_blocking(self._child.stdin.fileno(), False)
            self._selector.register(self._child.stdin, selectors.EVENT_WRITE, "stdin")
        self._selector.register(self._stop.reader, selectors.EVENT_READ, "stop")
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ, "exit")
        return self

    def __exit__(self, *error: object) -> None:
        if self._child.poll() is None:
            self._signal(signal.SIGKILL)
            self._child.wait()
        elif self._order.own_group and self._stop.is_asked:
            self._signal(signal.SIGKILL)
        self._selector.close()
        for pipe in (self._child.stdin, self._child.stdout, self._child.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        if self._pidfd is not None:
            os.close(self._pidfd)

    def until_end(self) -> None:
        """Serves the pipes until the command has ended, and a little longer for what it wrote last."""
        while self._child.poll() is None:
            self._serve(self._patience())
        deadline = time.monotonic() + _DRAIN
        while self._is_open() and time.monotonic() < deadline:
            if not self._serve(0.02, draining=True) and self._stop.is_asked:
                break

    def _patience(self) -> float:
        """How long to wait for the next thing to happen; without a pidfd the exit has to be looked for."""
        now = time.monotonic()
        if self._kill_at is not None:
            if now >= self._kill_at:
                self._signal(signal.SIGKILL)
                self._kill_at = now + GRACE
            return max(0.0, min(self._kill_at - now, 0.05 if self._pidfd is None else GRACE))
        return 0.05 if self._pidfd is None else 60.0

    def _serve(self, patience: float, *, draining: bool = False) -> bool:
        served = False
        for key, _ in self._selector.select(patience):
            if key.data == "stop":
                self._selector.unregister(key.fileobj)
                self._signal(signal.SIGTERM)
                self._kill_at = time.monotonic() + GRACE
            elif key.data == "stdin":
                self._feed()
            elif key.data == "exit":
                if draining:
                    self._selector.unregister(key.fileobj)
            else:
                served = True
                self._read(key.fileobj, key.data)
        return served

    def _read(self, pipe: Any, name: str) -> None:
        try:
            piece = os.read(pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return
        if not piece:
            self._selector.unregister(pipe)
            return
        self.captures[name].add(piece)
        self._sink(name, piece)

    def _feed(self) -> None:
        pipe = self._child.stdin
        assert pipe is not None
        try:
            self._input = self._input[os.write(pipe.fileno(), self._input[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._input = self._input[:0]
        if not self._input:
            self._selector.unregister(pipe)
            pipe.close()

    def _is_open(self) -> bool:
        return any(key.data in self.captures for key in self._selector.get_map().values())

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._order.own_group:
                os.killpg(self._child.pid, number)
            elif self._child.poll() is None:
                self._child.send_signal(number)


def _pidfd(pid: int) -> int | None:
    opened = getattr(os, "pidfd_open", None)
    if opened is None:
        return None
    try:
        found: int = opened(pid)
    except OSError:
        return None
    return found
