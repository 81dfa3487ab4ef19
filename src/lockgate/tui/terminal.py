"""What the dashboard does to the terminal beside painting: title, bell, clipboard, signals, and noticing its end.

A terminal that is gone must not leave a process behind: hanging up and TERM end the app by its own way out, which
restores the screen, and a terminal that vanished without a signal is noticed by asking for it every two seconds.
"""

import asyncio
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from lockgate.model.text import clean, clip

TITLE_CELLS = 80
CLIPBOARD_BYTES = 64 * 1024
LOOK_FOR_TERMINAL_S = 2.0
LAST_RESORT_S = 2.5


def write_title(app: App[int], title: str) -> None:
    """Sets the window title; the text is made safe here once more, since the title is a sink of its own."""
    _write(app, f"\x1b]2;{clip(clean(title), TITLE_CELLS)}\x07")


def push_title(app: App[int]) -> None:
    """Has the terminal remember its title, for `pop_title` at the end."""
    _write(app, "\x1b[22;0t")


def pop_title(app: App[int]) -> None:
    """Gives the terminal its former title back; a terminal that kept none gets an empty one."""
    _write(app, "\x1b]2;\x07\x1b[23;0t")


def _write(app: App[int], sequence: str) -> None:
    driver = app._driver
    if driver is not None and not app.is_headless:
        driver.write(sequence)
        driver.flush()


def copy(app: App[int], text: str) -> str:
    """Copies by OSC 52 and into a file; gives the sentence that says where the text is now."""
    kept = text.encode("utf-8", "replace")[:CLIPBOARD_BYTES].decode("utf-8", "ignore")
    app.copy_to_clipboard(kept)
    cut = "" if kept == text else f" (the first {CLIPBOARD_BYTES // 1024} KB)"
    try:
        path = clip_file()
        path.write_text(kept, encoding="utf-8")
    except OSError as error:
        return f"copied to the clipboard{cut}; no copy on disk: {error.strerror}"
    return f"copied to the clipboard and to {path}{cut}"


def clip_file() -> Path:
    """The file that holds what was copied last, readable by this user only; its folder is made."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(runtime) / "lockgate" if runtime else Path.home() / ".cache" / "lockgate"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / "clip"
    path.touch(mode=0o600)
    return path


def page(app: App[int], text: str) -> str:
    """Shows text in $PAGER, with the screen given to it meanwhile; a sentence where that could not be."""
    command = shlex.split(os.environ.get("PAGER") or "less")
    try:
        with app.suspend():
            subprocess.run(command, input=text.encode("utf-8", "replace"), check=False)
    except SuspendNotSupported:
        return "no pager can be opened from here"
    except OSError as error:
        return f"{command[0] if command else 'the pager'}: {error.strerror}"
    return ""


class Lifeline:
    """Ends the app when the process is told to, or when its terminal is gone."""

    def __init__(self, app: App[int]) -> None:
        self._app = app
        self._ending = False
        self._before: dict[signal.Signals, Any] = {}

    @property
    def is_ending(self) -> bool:
        """Whether the app is on its way out."""
        return self._ending

    def hold(self) -> None:
        """Takes TERM and HUP over; called on the running loop. A HUP that was ignored (nohup) is taken too.

        Not by the loop's own handlers: they are told through its wake-up pipe, and a flood of keys fills that
        pipe, so that the signal would be lost.
        """
        loop = asyncio.get_running_loop()

        def end(number: int, frame: object) -> None:
            loop.call_soon_threadsafe(self._end, 128 + number)

        for number in (signal.SIGTERM, signal.SIGHUP):
            with suppress(ValueError):  # not the main thread: the caller handles signals
                self._before[number] = signal.signal(number, end)

    def release(self) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        self._before.clear()

    def look(self) -> None:
        """Ends the app if its terminal is no longer there; to be called every `LOOK_FOR_TERMINAL_S`."""
        if not self._app.is_headless and not terminal_is_there():
            self._end(128 + signal.SIGHUP)

    def _end(self, code: int) -> None:
        if self._ending:
            return
        self._ending = True
        # The way out writes to the terminal; one that hangs there must not keep the process alive.
        _after(LAST_RESORT_S, lambda: os._exit(code))
        self._app.exit(code, return_code=code)


def terminal_is_there() -> bool:
    """Whether the terminal of the standard input still answers."""
    return sys.__stdin__ is not None and os.isatty(sys.__stdin__.fileno())


def _after(seconds: float, act: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()
