"""A command's output is captured within bounds and passed on live; it never outlives its limit by much."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from lockgate.engine import commands
from lockgate.engine.capture import Capture
from lockgate.engine.commands import Order, Ran, Stop, run_command


def order(code: str, **more: object) -> Order:
    parts = {"cwd": "/", "env": dict(os.environ), "capture": 1000, "own_group": True, **more}
    return Order(argv=[sys.executable, "-S", "-c", code], **parts)  # type: ignore[arg-type]


def ran(wanted: Order, pieces: list[tuple[str, bytes]] | None = None, stop: Stop | None = None) -> Ran:
    made = stop or Stop()
    try:
        return run_command(wanted, lambda *piece: (pieces if pieces is not None else []).append(piece), made)
    finally:
        made.close()


def test_both_streams_and_the_exit_code() -> None:
    pieces: list[tuple[str, bytes]] = []
    found = ran(order("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"), pieces)
    assert (found.exit_code, found.signal) == (3, None)
    assert (found.stdout, found.stderr, found.truncated) == ("out\n", "err\n", False)
    for stream, text in (("stdout", b"out\n"), ("stderr", b"err\n")):
        assert b"".join(piece for name, piece in pieces if name == stream) == text


def test_a_signal_is_no_exit_code() -> None:
    found = ran(order("import os; os.kill(os.getpid(), 9)"))
    assert (found.exit_code, found.signal) == (None, 9)


def test_stdin_is_fed_whatever_its_size() -> None:
    found = ran(order("import sys; print(len(sys.stdin.buffer.read()))", stdin=b"x" * 300_000))
    assert found.stdout == "300000\n"


def test_a_command_that_does_not_read_its_stdin_is_no_error() -> None:
    assert ran(order("print('done')", stdin=b"x" * 300_000)).stdout == "done\n"


def test_without_stdin_there_is_an_empty_one() -> None:
    assert ran(order("import sys; print(sys.stdin.read() == '')")).stdout == "True\n"


def test_long_output_keeps_its_first_and_last_part() -> None:
    found = ran(order("print('a' * 600 + 'b' * 5000 + 'c' * 600)", capture=1000))
    assert found.truncated
    assert found.stdout.startswith("a" * 500)
    assert found.stdout.endswith("c" * 499 + "\n")
    assert "5201 bytes left out" in found.stdout


def test_a_descendant_that_keeps_the_pipes_open_holds_nobody_up(tmp_path: Path) -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '30']); print('started', flush=True)"
    began = time.monotonic()
    assert ran(order(code)).stdout == "started\n"
    assert time.monotonic() - began < 5


def test_a_command_that_cannot_be_started() -> None:
    with pytest.raises(FileNotFoundError):
        ran(Order(argv=["/no/such/command"], cwd="/", env={}, capture=10))


def stopped(code: str) -> tuple[Ran, float]:
    """The command is asked to stop as soon as it has said something."""
    stop, began = Stop(), time.monotonic()

    def heard(stream: str, piece: bytes) -> None:
        threading.Thread(target=stop.ask).start()

    try:
        return run_command(order(code), heard, stop), time.monotonic() - began
    finally:
        stop.close()


def test_a_stop_ends_the_command_and_its_children() -> None:
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen(['sleep', '30'])\n"
        "print(child.pid, flush=True)\n"
        "child.wait()\n"
    )
    found, took = stopped(code)
    assert found.signal == 15
    assert took < 5
    with pytest.raises(ProcessLookupError):
        _alive(int(found.stdout))


def test_a_command_may_use_its_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    # A starved machine may take longer than the grace to run the handler; what counts is that it is waited for.
    monkeypatch.setattr(commands, "GRACE", 30.0)
    code = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b'bye\\n'), sys.exit(7)))\n"
        "os.write(1, b'ready\\n')\n"
        "time.sleep(30)\n"
    )
    found, _ = stopped(code)
    assert (found.stdout, found.exit_code) == ("ready\nbye\n", 7)


def test_a_command_that_ignores_the_stop_is_killed_after_its_grace() -> None:
    code = (
        "import signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('ready', flush=True)\n"
        "time.sleep(30)\n"
    )
    found, took = stopped(code)
    assert found.signal == 9
    assert 1.5 < took < 5


def _alive(pid: int) -> None:
    """Raises ProcessLookupError for a process that is gone, or a zombie that only waits to be reaped."""
    for _ in range(200):
        stat = Path(f"/proc/{pid}/stat")
        if Path("/proc/self").exists() and (not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z"):
            raise ProcessLookupError(pid)
        os.kill(pid, 0)
        time.sleep(0.01)


@pytest.mark.parametrize("sizes", [[10], [3, 3, 3], [7, 1, 20], [1] * 30, [100], [6, 4], [5, 5], [4, 7]])
def test_a_capture_is_the_first_and_the_last_bytes(sizes: list[int]) -> None:
    stream = bytes(range(65, 91)) * 5
    capture, sent = Capture(10), b""
    for size in sizes:
        piece = stream[len(sent) : len(sent) + size]
        capture.add(piece)
        sent += piece
    if len(sent) <= 10:
        assert capture.text() == sent.decode()
    else:
        gap = f"\n... {len(sent) - 10} bytes left out ...\n"
        assert capture.text() == sent[:5].decode() + gap + sent[-5:].decode()
        assert capture.left_out == len(sent) - 10
