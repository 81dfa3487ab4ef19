"""A person's answer from a second terminal, and who wins when several answer at once."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import HELLO, hold
from tests.journeys.conftest import Home


@pytest.fixture(scope="module")
def once_asked(session_home: Home) -> Path:
    """The store of a small workflow that waits for a person; nothing has it open any more."""
    shelf = session_home.directory / ".lockgate" / "workflows"
    shelf.mkdir(parents=True)
    (shelf / "hello.py").write_text(HELLO)
    session_home.call("start", "hello")
    session_home.call("host", "--drain")
    return session_home.store


@pytest.fixture
def asked(home: Home, once_asked: Path) -> Any:
    """The request that waits, in a copy of that store for each test."""
    shutil.copytree(once_asked.parent, home.store.parent)
    (request,) = home.json("decisions")["requests"]
    hold({"schema": "lockgate.requests.v1", "requests": [request]}, "requests")
    return request


def test_the_whole_question_is_shown_and_the_key_is_typed(home: Home, asked: Any) -> None:
    with home.terminal("answer", asked["request_id"][9:17], "say") as terminal:
        screen = terminal.shows("Say it?", "Aloud.", "Type say to record it:")
        digest = asked["digest"]
        assert f"{digest[:4]} {digest[4:8]} {digest[8:12]}" in screen
        terminal.press("say\r")
        terminal.shows("answered")
        assert terminal.ends() == 0
    home.call("host", "--drain")
    (run,) = home.json("runs")["runs"]
    assert run["word"] == "completed"


def test_another_key_records_nothing(home: Home, asked: Any) -> None:
    with home.terminal("answer", asked["run_id"], "say") as terminal:
        terminal.shows("Type say to record it:")
        terminal.press("yes\r")
        assert terminal.ends() == 5
    assert [request["state"] for request in home.json("decisions")["requests"]] == ["pending"]


def test_the_text_goes_with_the_answer_into_the_run(home: Home, asked: Any) -> None:
    with home.terminal("answer", asked["run_id"], "change") as terminal:
        terminal.shows("What then?")
        terminal.press("Good morning\r")
        terminal.shows("Type change to record it:")
        terminal.press("change\r")
        assert terminal.ends() == 0
    shown = home.json("show", asked["run_id"])
    (resolution,) = [request["resolution"] for request in shown["requests"]]
    assert (resolution["choice"], resolution["provenance"]) == ("change", "human")
    home.call("host", "--drain")
    steps = home.json("show", asked["run_id"])["steps"]
    assert steps[1]["output"] == {"choice": "change", "input": {"words": "Good morning"}}
    (next_request,) = home.json("decisions")["requests"]
    assert next_request["request_id"] != asked["request_id"]


def test_a_fingerprint_replaces_the_question_and_an_old_one_is_refused(home: Home, asked: Any) -> None:
    with home.terminal("answer", asked["run_id"], "say", "--digest", "0" * 12) as terminal:
        assert terminal.ends() == 5
    with home.terminal("answer", asked["run_id"], "say", "--digest", asked["digest"][:11]) as terminal:
        assert terminal.ends() == 2
    with home.terminal("answer", asked["run_id"], "say", "--digest", asked["digest"][:12]) as terminal:
        assert terminal.ends() == 0
    with home.terminal("answer", asked["request_id"], "say", "--digest", asked["digest"][:12]) as terminal:
        terminal.shows("not recorded", "already_resolved")
        assert terminal.ends() == 5
    with home.terminal("answer", asked["request_id"], "say", "--digest", asked["digest"][:12], "--json") as terminal:
        assert terminal.ends() == 5
        receipt = json.loads(terminal.everything)
    hold(receipt, "receipt")
    assert (receipt["outcome"], receipt["reason"]) == ("conflict", "already_resolved")
    assert (receipt["winner"]["choice"], receipt["winner"]["source"]) == ("say", "human")


def test_a_pipe_is_no_person(home: Home, asked: Any) -> None:
    home.call("answer", asked["run_id"], "say", input="say\n", code=2)
    assert home.json("decisions")["requests"][0]["state"] == "pending"


def test_a_repeated_key_gets_the_same_receipt(home: Home, asked: Any) -> None:
    first = home.json("pause", asked["run_id"], "--key", "once")
    again = home.json("--key", "once", "pause", asked["run_id"])
    assert (first["outcome"], again["outcome"]) == ("accepted", "adopted")
    assert first["revision"] == again["revision"]
    refused = home.json("resume", asked["run_id"], "--key", "once", code=5)
    assert refused["reason"] == "key_conflict"


def test_two_dashboards_and_one_command_have_one_winner(home: Home, asked: Any, tmp_path: Path) -> None:
    digest = asked["digest"][:12]
    with home.terminal() as one, home.terminal() as two:
        for dashboard in (one, two):
            dashboard.shows("hello", "waiting")
            dashboard.press("d")
            dashboard.shows("Say it?", "Aloud.")
            dashboard.press("1")
            dashboard.shows("Record “Say it”")
        with home.terminal("answer", asked["request_id"], "say", "--digest", digest) as command:
            one.press("\x13")
            two.press("\x13")
            code = command.ends()
            said = command.screen
        won = [code == 0]
        for dashboard in (one, two):
            screen = dashboard.until(lambda screen: "Decided" in screen, "the decided card")
            won.append("you" in screen.lower() and "before you" not in screen)
    shown = home.json("show", asked["run_id"])
    resolutions = [request["resolution"] for request in shown["requests"]]
    assert len(resolutions) == 1
    assert resolutions[0]["choice"] == "say"
    events = [json.loads(line) for line in home.call("events", asked["run_id"], "--json").splitlines()]
    assert sum(event["type"] == "decision_accepted" for event in events) == 1
    if code != 0:
        assert code == 5
        assert "not recorded" in said


@pytest.mark.parametrize("command", ["runs", "decisions"])
def test_output_into_a_closed_pipe_is_no_error(home: Home, asked: Any, command: str) -> None:
    from tests.journeys.conftest import COMMAND

    environment = {**home.environment, "LOCKGATE_DB": str(home.store)}
    line = f"'{COMMAND[0]}' -m lockgate {command} --json | true"
    ran = subprocess.run(["bash", "-o", "pipefail", "-c", line], env=environment, capture_output=True, text=True)
    assert ran.stderr == ""
