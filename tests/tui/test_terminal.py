"""In a real terminal: what reaches it, and how it is given back."""

import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pexpect
import pyte
import pytest

from tests.tui.theatre import release, waiting

SIZE = (40, 120)
ESCAPES = "job \x1b]52;c;cm0gLXJm\x07\x1b]2;PWNED\x1b\\\x1b[2J\x9b31m \u202e \x1b] tail"


class Terminal:
    """A dashboard in a pseudo-terminal, its bytes and what they draw."""

    def __init__(self, path: Path, *arguments: str, ignore_hup: bool = False) -> None:
        others = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        environment = {**others, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LOCKGATE_CONFIG": os.devnull}
        command = [sys.executable, "-m", "lockgate", "--db", str(path), *arguments]
        # A child that ignores HUP is what `nohup` makes; the shell sets that before it becomes the dashboard.
        shell = f"trap '' HUP; exec {' '.join(command)}" if ignore_hup else f"exec {' '.join(command)}"
        self.child = pexpect.spawn("/bin/sh", ["-c", shell], dimensions=SIZE, env=environment, timeout=10)
        self.screen = pyte.Screen(SIZE[1], SIZE[0])
        self._stream = pyte.ByteStream(self.screen)
        self.received = b""

    def read(self, seconds: float = 0.2, *, draw: bool = True) -> None:
        """Takes what arrives within this time; drawing it costs more than the dashboard needs to write it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with suppress(pexpect.TIMEOUT, pexpect.EOF):
                part = self.child.read_nonblocking(65536, timeout=max(0.01, end - time.monotonic()))
                self.received += part
                if draw:
                    self._stream.feed(part)

    def until(self, words: str, seconds: float = 30) -> None:
        """Waits until the screen says so."""
        end = time.monotonic() + seconds
        while words not in "\n".join(self.screen.display):
            if time.monotonic() > end:
                raise AssertionError("\n".join(self.screen.display))
            self.read(0.05)

    def ended(self, seconds: float = 5) -> bool:
        """Whether the process ends within this time."""
        end = time.monotonic() + seconds
        while self.child.isalive():
            if time.monotonic() > end:
                return False
            self.read(0.05, draw=False)
        return True

    @property
    def is_restored(self) -> bool:
        """Whether the alternate screen and the mouse were switched off again, after they were switched on."""
        modes = (b"1049", b"1000", b"1003")
        return all(
            self.received.rfind(b"\x1b[?%sl" % mode) > self.received.rfind(b"\x1b[?%sh" % mode) for mode in modes
        )


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    path = tmp_path / "state.sqlite"
    await waiting(path, release(), ESCAPES)
    return path


@pytest.fixture
def terminal(path: Path) -> Iterator[Terminal]:
    shown = Terminal(path)
    shown.until("waiting")
    yield shown
    shown.child.close(force=True)


def test_escapes_in_a_title_reach_no_terminal(terminal: Terminal) -> None:
    assert "job \u241b" in "\n".join(terminal.screen.display)
    terminal.child.send("d")
    terminal.until("Decision")
    terminal.child.send("1")
    terminal.read(0.5)
    for sequence in (b"\x1b]52", b"PWNED", b"\x1b[2J", b"\xc2\x9b", "\u202e".encode()):
        assert sequence not in terminal.received
    titles = set(re.findall(rb"\x1b\]2;(.*?)\x07", terminal.received))
    assert titles <= {b"lockgate", b"1! lockgate"}


def test_quitting_gives_the_terminal_and_its_title_back(terminal: Terminal) -> None:
    terminal.child.send("q")
    assert terminal.ended()
    assert terminal.child.exitstatus == 0
    assert terminal.is_restored
    assert terminal.received.endswith(b"\x1b[23;0t") or b"\x1b[23;0t" in terminal.received


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_gives_the_terminal_back(terminal: Terminal, number: signal.Signals) -> None:
    terminal.child.kill(number)
    assert terminal.ended(3)
    assert terminal.child.exitstatus == 128 + number
    assert terminal.is_restored


def test_a_signal_under_an_open_card_decides_nothing(terminal: Terminal) -> None:
    terminal.child.send("d")
    terminal.until("Decision")
    terminal.child.send("1")
    terminal.child.kill(signal.SIGTERM)
    assert terminal.ended(3)
    assert terminal.is_restored


def test_a_signal_ends_it_amid_a_flood_of_keys(terminal: Terminal) -> None:
    terminal.child.send("d")
    terminal.until("Decision")
    terminal.child.send("2")
    terminal.until("What should change?")
    for _ in range(100):
        terminal.child.send("line of a long text " * 50)
        terminal.read(0.005, draw=False)
    terminal.child.kill(signal.SIGTERM)
    assert terminal.ended(10)
    assert terminal.child.exitstatus == 128 + signal.SIGTERM
    assert terminal.is_restored


@pytest.mark.parametrize("ignore_hup", [False, True])
def test_a_terminal_that_is_gone_ends_it(path: Path, ignore_hup: bool) -> None:
    shown = Terminal(path, ignore_hup=ignore_hup)
    shown.until("waiting")
    pid = shown.child.pid
    os.close(shown.child.child_fd)
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if os.waitpid(pid, os.WNOHANG) != (0, 0):
            return
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    raise AssertionError("the process outlived its terminal by five seconds")


def test_without_mouse_no_mouse_is_asked_for(path: Path) -> None:
    shown = Terminal(path, "--no-mouse")
    shown.until("waiting")
    assert b"\x1b[?1000h" not in shown.received
    shown.child.send("q")
    assert shown.ended()


def test_where_the_store_cannot_be_opened_no_screen_is_taken(tmp_path: Path) -> None:
    shown = Terminal(tmp_path / "none.sqlite")
    assert shown.ended()
    assert shown.child.exitstatus == 1
    assert b"\x1b[?1049h" not in shown.received
    assert b"no store at" in shown.received
