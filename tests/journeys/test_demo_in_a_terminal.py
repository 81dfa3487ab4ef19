"""The main job by hand: the demo in a real terminal, a card opened, a decision recorded, a tag made."""

import subprocess
import time
from pathlib import Path

from tests.journeys.conftest import Home, until


def git_tags(directory: Path) -> list[str]:
    return subprocess.run(["git", "tag"], cwd=directory, capture_output=True, text=True, check=True).stdout.split()


def test_publishing_from_the_card_makes_the_tag(home: Home) -> None:
    demo = home.directory / "demo"
    with home.terminal("demo", "--dir", "demo") as terminal:
        terminal.shows("release", "cleanup", "import", "flaky", "handover", "waiting")
        terminal.press("/")
        time.sleep(0.3)
        terminal.press("wf:release\r")
        terminal.shows("1 of 5", "wf:release")
        terminal.press("d")
        terminal.shows("Publish v1.4.0?", "Find the longest line", "Change the notes", "Stop here", "esc close")
        assert "v1.4.0" not in git_tags(demo)
        terminal.press("1")
        terminal.shows("Record “Publish”")
        time.sleep(0.6)  # the card is armed by the clock: a press before that records nothing
        terminal.press("\x13")
        terminal.shows("Decided", "Publish")
        until(lambda: "v1.4.0" in git_tags(demo), "the tag")
        terminal.press("\x1b")
        terminal.shows("completed")
        terminal.press("q")
        assert terminal.ends() == 0
        assert str(demo / ".lockgate" / "state.sqlite").encode() in terminal.everything.replace(b"\r\n", b"")
        assert b"\x1b[?1049l" in terminal.everything
    message = subprocess.run(
        ["git", "tag", "-l", "--format=%(contents)", "v1.4.0"], cwd=demo, capture_output=True, text=True
    ).stdout
    assert "- Find the longest line" in message
    store = demo / ".lockgate" / "state.sqlite"
    (run,) = (run for run in home.json("runs", store=store)["runs"] if run["workflow"] == "release")
    assert run["word"] == "completed"
    (request,) = home.json("show", run["run_id"], store=store)["requests"]
    assert (request["resolution"]["choice"], request["resolution"]["provenance"]) == ("publish", "human")


def test_without_git_the_demo_names_it_and_makes_nothing(home: Home) -> None:
    environment = {**home.environment, "PATH": "/nowhere"}
    said = Home(home.directory, environment).json("demo", "--dir", "demo", "--no-dashboard", code=1)
    assert "git" in said["error"]["message"]
    assert not (home.directory / "demo").exists()


def test_without_a_terminal_nothing_is_made(home: Home) -> None:
    home.call("demo", "--dir", "demo", code=2)
    assert not (home.directory / "demo").exists()
