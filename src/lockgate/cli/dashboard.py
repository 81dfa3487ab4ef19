"""The dashboard, and one frame of it as text."""

import gc
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import click

from lockgate.cli.call import Call, need_terminal
from lockgate.cli.exits import OK

_SIZE = re.compile(r"([1-9][0-9]{0,3})x([1-9][0-9]{0,3})")
_USUAL = (120, 40)


def open_on(call: Call, run: str | None, read_only: bool) -> int:
    """Opens the dashboard and stays until it is left."""
    need_terminal("the dashboard", "lockgate --once prints one frame, lockgate runs a list")
    run_id = None if run is None else call.run_id(run)
    with _undisturbed():
        from lockgate.tui import run_dashboard

    return run_dashboard(call.db, settings=call.settings, read_only=read_only, run_id=run_id)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Imports make no garbage: looking for it again and again takes a tenth of them, and later of every look."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def print_once(call: Call, size: str | None, run: str | None) -> int:
    """Prints one frame of plain text, as big as the terminal or as asked."""
    columns, rows = _size(size)
    run_id = None if run is None else call.run_id(run)
    from lockgate.view.frames import once_frame

    lens = call.lens()
    text = once_frame(call.db, columns=columns, rows=rows, glyphs=lens.glyphs, zone=lens.zone, run_id=run_id)
    if call.as_json:
        lines = text.rstrip("\n").split("\n")
        call.document({"schema": "lockgate.frame.v1", "columns": columns, "rows": rows, "lines": lines})
    else:
        call.say(text.rstrip("\n"))
    return OK


def _size(given: str | None) -> tuple[int, int]:
    if given is None:
        found = shutil.get_terminal_size(_USUAL)
        return found.columns, found.lines
    match = _SIZE.fullmatch(given)
    if match is None:
        raise click.UsageError(f"--size takes COLUMNSxROWS, for example 120x40, got {given[:40]!r}")
    return int(match[1]), int(match[2])
