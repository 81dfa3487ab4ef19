"""What a script sees while it waits: reasons on stderr, the end on stdout, and the exit code."""

import json
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.conftest import HELLO, hold
from tests.journeys.conftest import COMMAND, Home, until

QUICK = """
import time
from lockgate import Workflow, compute, edge

quick = Workflow(
    "quick",
    start="nap",
    nodes={"nap": compute(lambda ctx: time.sleep(0.3)), "sum": compute(lambda ctx: {"sum": sum(ctx.input)})},
    edges=[edge("nap", "sum")],
)
"""


@pytest.fixture
def ready(home: Home) -> Home:
    shelf = home.directory / ".lockgate" / "workflows"
    shelf.mkdir(parents=True)
    (shelf / "quick.py").write_text(QUICK)
    (shelf / "hello.py").write_text(HELLO)
    home.call("init")
    return home


def call(home: Home, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=home.directory,
        env={**home.environment, "LOCKGATE_DB": str(home.store)},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )


def test_start_and_wait_prints_the_receipt_and_then_the_result(ready: Home) -> None:
    with ready.host():
        ran = call(ready, "start", "quick", "--input", "[1, 2, 3]", "--wait", "--json")
        assert ran.returncode == 0, ran.stderr
        receipt, result = (json.loads(line) for line in ran.stdout.splitlines())
        hold(receipt, "receipt")
        hold(result, "run")
        assert result["output"] == {"sum": 6}
        failed = call(ready, "start", "quick", "--input", "1", "--wait")
        assert failed.returncode == 3
        assert "TypeError" in failed.stdout


def test_following_needs_no_host_and_says_once_for_whom_the_run_waits(ready: Home) -> None:
    run_id = ready.json("start", "hello")["run_id"]
    watch = subprocess.Popen(
        [*COMMAND, "events", run_id, "--follow", "--json"],
        cwd=ready.directory,
        env={**ready.environment, "LOCKGATE_DB": str(ready.store)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(2.5)
    ready.call("host", "--drain")
    time.sleep(0.5)
    ready.call("cancel", run_id)
    out, err = watch.communicate(timeout=20)
    assert watch.returncode == 0
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == "run_cancelled"
    lines = err.splitlines()
    assert [line.split(" ", 1)[1].split(":")[0] for line in lines] == ["waits for a host", "waits for a person"]


def test_a_second_host_is_told_who_holds_the_store(ready: Home) -> None:
    with ready.host() as first:
        until(lambda: ready.host_pid() == first.pid, "the first host")
        said = call(ready, "host", "--drain", "--json")
        assert said.returncode == 5
        assert str(first.pid) in json.loads(said.stdout)["error"]["message"]


def test_the_dashboard_without_a_store_says_so_and_makes_nothing(home: Home) -> None:
    with home.terminal() as terminal:
        terminal.shows("no store at")
        assert terminal.ends() == 1
    assert not home.store.exists()
    assert not Path(home.store.parent).exists()
