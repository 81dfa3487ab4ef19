"""The demo's workflows by hand: the ways through them that the demo itself does not take."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from lockgate.demo.project import Place, prepare
from tests.journeys.conftest import Home, clean_environment, until


@pytest.fixture
def project(tmp_path: Path) -> Home:
    """The demo's project without any run; commands are called in it."""
    prepare(Place(tmp_path / "demo"))
    return Home(tmp_path / "demo", clean_environment(tmp_path))


def waits(home: Home, run_id: str) -> Any:
    """The request that a run waits with, once it does."""
    until(lambda: home.word(run_id) == "waiting", "the question")
    (request,) = (each for each in home.json("requests")["requests"] if each["run_id"] == run_id)
    return request


def ends(home: Home, run_id: str) -> Any:
    until(lambda: home.word(run_id) in ("completed", "failed"), "the end")
    return home.json("show", run_id)


def answer(home: Home, request: Any, choice: str, *more: str) -> None:
    """Decides in a terminal, and waits until the run has taken the answer up."""
    with home.terminal("answer", request["request_id"], choice, "--digest", request["digest"][:12], *more) as terminal:
        terminal.shows("answered")
        assert terminal.ends() == 0
    until(lambda: request["request_id"] not in pending(home), "the settlement")


def pending(home: Home) -> list[str]:
    return [request["request_id"] for request in home.json("requests")["requests"]]


def tags(home: Home) -> list[str]:
    ran = subprocess.run(["git", "tag"], cwd=home.directory, capture_output=True, text=True, check=True)
    return ran.stdout.split()


def test_a_change_that_was_asked_for_is_in_the_next_notes_and_in_the_tag(project: Home) -> None:
    run_id = project.json("start", "release")["run_id"]
    with project.host():
        first = waits(project, run_id)
        answer(project, first, "revise", "--text", "Say that it is faster.")
        second = waits(project, run_id)
        texts = [block.get("text") for block in second["presentation"]["blocks"]]
        assert "Say that it is faster." in texts
        assert tags(project) == ["v1.3.0"]
        answer(project, second, "publish")
        shown = ends(project, run_id)
    assert shown["word"] == "completed"
    assert tags(project) == ["v1.3.0", "v1.4.0"]
    message = subprocess.run(
        ["git", "tag", "--list", "--format=%(contents)", "v1.4.0"],
        cwd=project.directory,
        capture_output=True,
        text=True,
    ).stdout
    assert "Say that it is faster." in message
    assert [effect["status"] for effect in shown["effects"]] == ["applied", "applied"]


def test_stop_makes_no_tag(project: Home) -> None:
    run_id = project.json("start", "release")["run_id"]
    with project.host():
        answer(project, waits(project, run_id), "stop")
        assert ends(project, run_id)["output"] == {"status": "stopped"}
    assert tags(project) == ["v1.3.0"]


def test_tests_that_fail_end_the_release_before_anybody_is_asked(project: Home) -> None:
    (project.directory / "tally" / "counting.py").write_text("raise SystemExit(1)\n")
    run_id = project.json("start", "release")["run_id"]
    with project.host():
        shown = ends(project, run_id)
    assert shown["word"] == "failed"
    assert shown["requests"] == []


def test_files_are_deleted_only_on_approval_and_only_as_they_were_seen(project: Home) -> None:
    cache = project.directory / "var" / "cache"
    run_id = project.json("start", "cleanup")["run_id"]
    with project.host():
        request = waits(project, run_id)
        table = request["presentation"]["blocks"][0]["text"]
        assert "var/cache/thumbnails.bin" in table
        (cache / "index.bin").write_bytes(b"grown since" * 50_000)
        answer(project, request, "delete")
        output = ends(project, run_id)["output"]
    assert output["changed_since"] == ["var/cache/index.bin"]
    assert sorted(path.name for path in cache.iterdir()) == ["index.bin"]


def test_the_default_is_taken_while_nobody_looks_from_a_file_that_the_user_edited(project: Home) -> None:
    workflow = project.directory / ".lockgate" / "workflows" / "cleanup.py"
    workflow.write_text(workflow.read_text().replace('("keep", 120)', '("keep", 1)'))
    run_id = project.json("start", "cleanup")["run_id"]
    with project.host():
        shown = ends(project, run_id)
    (request,) = shown["requests"]
    assert (request["resolution"]["choice"], request["resolution"]["provenance"]) == ("keep", "timeout_policy")
    assert request["resolution"]["actor"]["kind"] == "policy"
    assert shown["output"]["deleted"] == []
    assert (project.directory / "var" / "cache" / "thumbnails.bin").exists()


def test_nothing_big_asks_nobody(project: Home) -> None:
    run_id = project.json("start", "cleanup", "--input", '{"at_least": 10000000}')["run_id"]
    project.call("host", "--drain")
    assert project.json("show", run_id)["output"] == {"deleted": [], "files": 0}
