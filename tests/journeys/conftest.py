"""The real command as other processes: a home of its own, a host, and terminals whose screens can be read."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pexpect
import pyte
import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "lockgate"]
PATIENCE = 30.0


@dataclass(frozen=True)
class Home:
    """A directory that commands are called in, with an environment in which nothing of the user's is found."""

    directory: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        return self.directory / "store" / "state.sqlite"

    def call(self, *arguments: str, code: int = 0, input: str | None = None, store: Path | None = None) -> str:
        """What the command prints on stdout; fails unless it exits with `code`."""
        ran = subprocess.run(
            [*COMMAND, *arguments],
            cwd=self.directory,
            env=self._with(store),
            capture_output=True,
            text=True,
            input=input,
            stdin=None if input is not None else subprocess.DEVNULL,
            timeout=120,
        )
        assert ran.returncode == code, f"{arguments}: {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout

    def json(self, *arguments: str, code: int = 0, store: Path | None = None) -> Any:
        return json.loads(self.call(*arguments, "--json", code=code, store=store))

    def word(self, run_id: str, store: Path | None = None) -> str:
        """The run's word right now, read in this process: cheap enough to be asked often."""
        from lockgate.flow.words import word
        from lockgate.store import reads
        from lockgate.store.clock import SystemClock
        from lockgate.store.once import read_once

        run = read_once(store or self.store, lambda connection: reads.run(connection, run_id)).run
        return word(run, SystemClock().now())

    def host_pid(self) -> int | None:
        """The process that holds the store, if one ever did."""
        from lockgate.store import reads
        from lockgate.store.once import read_once

        return read_once(self.store, reads.host_state).pid

    @contextmanager
    def host(self, *arguments: str, store: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
        """A host in the background, stopped in the end."""
        process = subprocess.Popen(
            [*COMMAND, "host", *arguments],
            cwd=self.directory,
            env=self._with(store),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(20)

    @contextmanager
    def terminal(
        self, *arguments: str, columns: int = 120, rows: int = 40, store: Path | None = None
    ) -> Iterator["Terminal"]:
        """The command in a terminal of its own."""
        child = pexpect.spawn(
            COMMAND[0],
            [*COMMAND[1:], *arguments],
            cwd=str(self.directory),
            env={**self._with(store), "TERM": "xterm-256color", "COLORTERM": "truecolor"},
            dimensions=(rows, columns),
            timeout=PATIENCE,
        )
        found = Terminal(child, columns, rows)
        try:
            yield found
        finally:
            child.close(force=True)

    def _with(self, store: Path | None) -> dict[str, str]:
        return {**self.environment, "LOCKGATE_DB": str(store or self.store)}


class Terminal:
    """A terminal and the command in it: keys go in, the screen comes out as text."""

    def __init__(self, child: pexpect.spawn, columns: int, rows: int) -> None:
        self.child = child
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.everything = b""

    @property
    def screen(self) -> str:
        self._take(0.05)
        return "\n".join(self._screen.display)

    def press(self, keys: str) -> None:
        self.child.send(keys)

    def shows(self, *texts: str, within: float = PATIENCE) -> str:
        """Waits until all texts stand on the screen, and gives the screen."""
        return self.until(lambda screen: all(text in screen for text in texts), f"{texts}", within)

    def until(self, wished: Callable[[str], bool], what: str, within: float = PATIENCE) -> str:
        end = time.monotonic() + within
        while True:
            screen = self.screen
            if wished(screen):
                return screen
            if time.monotonic() > end or not self.child.isalive():
                self._take(0.2)
                if wished(self.screen):
                    return self.screen
                raise AssertionError(f"never on the screen: {what}\n{self.screen}")

    def ends(self, within: float = PATIENCE) -> int:
        """Waits for the command's end; its exit code."""
        end = time.monotonic() + within
        while self.child.isalive():
            self._take(0.05)
            assert time.monotonic() < end, f"it goes on\n{self.screen}"
        self._take(0.2)
        return int(self.child.exitstatus if self.child.exitstatus is not None else -1)

    def _take(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                read = self.child.read_nonblocking(65536, timeout=left)
            except pexpect.TIMEOUT:
                return
            except pexpect.EOF:
                return
            self.everything += read
            self._stream.feed(read)


def until(reached: Callable[[], bool], what: str, within: float = PATIENCE) -> None:
    """Waits for something outside of this process; fails by its name."""
    end = time.monotonic() + within
    while not reached():
        assert time.monotonic() < end, f"{what} never came"
        time.sleep(0.05)


def clean_environment(directory: Path) -> dict[str, str]:
    """This process's environment without what is the user's, and without the size of another terminal."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LOCKGATE_", "XDG_"))}
    for name in ("COLUMNS", "LINES"):
        environment.pop(name, None)
    return {
        **environment,
        "PYTHONPATH": str(ROOT / "src") if "PYTHONPATH" in os.environ else "",
        "HOME": str(directory / "home"),
        "TZ": "UTC",
    }


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, clean_environment(tmp_path))


@pytest.fixture(scope="session")
def session_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    directory = tmp_path_factory.mktemp("journey")
    return Home(directory, clean_environment(directory))
