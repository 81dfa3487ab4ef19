"""The demo put together: project, store, host, runs, and the dashboard or a wait in its place."""

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lockgate.cli.call import Call
from lockgate.cli.commands.starting import start_run
from lockgate.cli.exits import NOT_COMPLETED, OK
from lockgate.config.places import demo_dir
from lockgate.demo.background import background_host
from lockgate.demo.project import WORKFLOWS, DemoError, Place, check, prepare
from lockgate.flow.words import word
from lockgate.model.encoding import stored
from lockgate.model.errors import LockgateError
from lockgate.model.records import Run
from lockgate.model.statuses import Word

LONGEST_WAIT_SECONDS = 600.0
_TICK_SECONDS = 0.25
_AT_REST = frozenset({Word.BLOCKED, Word.WAITING, Word.PAUSED})

_RUNS: dict[str, tuple[str, Any]] = {
    "release": ("The next release of tally", None),
    "cleanup": ("Room on the disk", {"at_least": 100_000}),
    "import": ("The orders of November", {"rows_per_second": 30}),
    "flaky": ("A mirror that is down", None),
    "handover": ("On call next week", None),
}
"""Workflow -> (title, input) of the run that the demo starts."""


def demonstrate(call: Call, directory: Path | None, *, dashboard: bool) -> int:
    """Makes or continues the demo; gives the exit code. Whatever happens, the host that it started is stopped."""
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    place = Place((directory or demo_dir(stamp)).expanduser().absolute())
    with _told():
        check(place)
        if not call.as_json:
            call.tell(f"{'going on with' if place.is_whole else 'making'} the demo in {place.directory}")
        prepare(place)
    call.use_store(place.store)
    call.write(lambda tx: None, create=True)
    with background_host(place) as host:
        _start_missing(call, place)
        code = _watch(call) if dashboard else _wait(call, host)
    if call.as_json:
        call.document(_document(call, place))
        return code
    if not dashboard:
        from lockgate.cli.showing import runs_text

        call.say(runs_text(_runs(call), call.lens()))
    call.say(f"the demo is in {place.directory}")
    call.say(f"its store is {place.store}")
    call.say(f"go on with it: lockgate demo --dir {place.directory}")
    return code


def _start_missing(call: Call, place: Place) -> None:
    """Starts the workflows of which the store has no run yet; the keys make a repeated start harmless."""
    there = {run.workflow for run in _runs(call)}
    for name in WORKFLOWS:
        if name not in there:
            title, given = _RUNS[name]
            reference = f"{place.workflow(name)}:{name}"
            receipt = start_run(call, reference, stored(given), title=title, key=f"demo:{name}")
            if receipt.run_id is None:
                call.tell(f"{name} was not started: {receipt.reason}")


def _watch(call: Call) -> int:
    from lockgate.tui import run_dashboard

    return run_dashboard(call.db, settings=call.settings, read_only=False, run_id=None)


def _wait(call: Call, host: subprocess.Popen[bytes]) -> int:
    """Until every run is over, blocked, or waits for a person or for input; exit 3 if one is blocked."""
    end = time.monotonic() + LONGEST_WAIT_SECONDS
    while not all(_rests(call, run) for run in _runs(call)):
        if host.poll() is not None:
            raise LockgateError(f"the demo's host ended by itself (exit code {host.returncode}): see its log, host.log")
        if time.monotonic() > end:
            raise LockgateError(f"the demo did not come to rest within {LONGEST_WAIT_SECONDS:g} s")
        time.sleep(_TICK_SECONDS)
    now = call.now()
    return NOT_COMPLETED if any(word(run, now) is Word.BLOCKED for run in _runs(call)) else OK


def _rests(call: Call, run: Run) -> bool:
    return run.status.is_terminal or word(run, call.now()) in _AT_REST


def _runs(call: Call) -> Sequence[Run]:
    from lockgate.store import reads

    return call.read(reads.runs, reads.RunQuery(limit=1000)).rows


def _document(call: Call, place: Place) -> dict[str, Any]:
    from lockgate.view.documents import runs_document

    runs = runs_document(_runs(call), call.now(), None)
    return {**runs, "schema": "lockgate.demo.v1", "directory": str(place.directory), "store": str(place.store)}


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except DemoError as error:
        raise LockgateError(str(error)) from error
