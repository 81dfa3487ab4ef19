"""`lockgate demo --no-dashboard --json`: real runs until nothing moves any more, within half a minute."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import hold
from tests.journeys.conftest import COMMAND, Home


@pytest.fixture(scope="module")
def demo(session_home: Home) -> Any:
    began = time.monotonic()
    document = session_home.json("demo", "--dir", "demo", "--no-dashboard")
    assert time.monotonic() - began < 30
    return document


def runs(document: Any) -> dict[str, Any]:
    return {run["workflow"]: run for run in document["runs"]}


def store(document: Any) -> Path:
    return Path(document["store"])


def test_every_run_came_to_rest(demo: Any) -> None:
    hold(demo, "demo")
    assert {name: run["word"] for name, run in runs(demo).items()} == {
        "release": "waiting",
        "cleanup": "waiting",
        "import": "completed",
        "flaky": "failed",
        "handover": "waiting",
    }
    assert {name: run["waiting_for"] for name, run in runs(demo).items() if run["word"] == "waiting"} == {
        "release": "person",
        "cleanup": "person",
        "handover": "input",
    }


def test_the_notes_are_those_of_the_git_log(session_home: Home, demo: Any) -> None:
    (request,) = (
        each for each in session_home.json("decisions", store=store(demo))["requests"] if each["workflow"] == "release"
    )
    assert request["title"] == "Publish v1.4.0?"
    (changes,) = (block for block in request["presentation"]["blocks"] if block["kind"] == "bullets")
    assert "Find the longest line" in changes["items"]
    assert "Test what is counted" not in changes["items"]


def test_the_import_did_its_work_and_said_how_far_it_was(session_home: Home, demo: Any) -> None:
    shown = session_home.json("show", runs(demo)["import"]["run_id"], store=store(demo))
    hold(shown, "run")
    assert shown["output"]["rows"] == 240
    assert shown["updates"][0]["data"]["completed"] == 240
    assert sum(json.loads((Path(demo["directory"]) / "var" / "orders.json").read_text()).values()) > 0


def test_flaky_went_round_before_it_failed(session_home: Home, demo: Any) -> None:
    shown = session_home.json("show", runs(demo)["flaky"]["run_id"], store=store(demo))
    assert [step["node"] for step in shown["steps"]] == ["fetch", "count"] * 3 + ["give_up"]
    assert "3 times" in shown["error"]["message"]


def test_the_trace_is_dense_and_of_the_promised_shape(session_home: Home, demo: Any) -> None:
    lines = session_home.call("events", runs(demo)["release"]["run_id"], "--json", store=store(demo)).splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    for event in events:
        hold(event, "event")


def test_once_shows_the_runs_without_a_terminal(session_home: Home, demo: Any) -> None:
    frame = session_home.call("--once", "--size", "120x40", store=store(demo))
    assert len(frame.splitlines()) <= 40
    assert "\x1b" not in frame
    for name in runs(demo):
        assert name in frame


def test_the_host_is_gone_and_the_demo_goes_on_where_it_was(session_home: Home, demo: Any) -> None:
    again = session_home.json("demo", "--dir", "demo", "--no-dashboard")
    assert {run["run_id"] for run in again["runs"]} == {run["run_id"] for run in demo["runs"]}


def test_handover_takes_json_and_completes(session_home: Home, demo: Any) -> None:
    run_id = runs(demo)["handover"]["run_id"]
    refused = session_home.json("submit", run_id, "--output", '{"on_call": "Ada"}', code=5, store=store(demo))
    assert "open_incidents" in json.dumps(refused)
    session_home.call("submit", run_id, "--output", "{", code=2, store=store(demo))
    receipt = session_home.json(
        "submit", run_id, "--output", '{"on_call": "Ada", "open_incidents": 1}', store=store(demo)
    )
    hold(receipt, "receipt")
    session_home.call("host", "--drain", store=store(demo))
    shown = session_home.json("show", run_id, store=store(demo))
    assert shown["output"] == {"note": "Ada takes over with 1 open incident."}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="children are looked up in /proc")
def test_the_host_ends_when_the_demo_is_killed(home: Home) -> None:
    demo = subprocess.Popen(
        [*COMMAND, "demo", "--dir", "demo", "--no-dashboard"],
        cwd=home.directory,
        env=home.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        host = wait_for_child(demo.pid)
    finally:
        os.kill(demo.pid, signal.SIGKILL)
        demo.wait()
    end = time.monotonic() + 15
    while Path(f"/proc/{host}").exists() and "Z" not in Path(f"/proc/{host}/stat").read_text().split(")")[-1][:3]:
        assert time.monotonic() < end, "the host outlives its demo"
        time.sleep(0.1)


def wait_for_child(pid: int) -> int:
    """The pid of the host that a demo started."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
                command = (stat.parent / "cmdline").read_text()
            except (OSError, ValueError):
                continue
            if parent == pid and "\0host\0" in command:
                return int(stat.parent.name)
        time.sleep(0.05)
    raise AssertionError("the demo started no host")
