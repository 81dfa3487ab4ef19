"""How the command is called: options on both sides, exit codes, one error document, no terminal."""

from pathlib import Path

import pytest

from tests.cli.conftest import Command, hold


@pytest.mark.parametrize("arguments", [["--json", "config"], ["config", "--json"]])
def test_json_works_before_and_after_the_command(lockgate: Command, arguments: list[str]) -> None:
    said = lockgate(*arguments)
    assert said.code == 0
    hold(said.document, "config")


@pytest.mark.parametrize("arguments", [["--db", "x.sqlite", "config"], ["config", "--db", "x.sqlite"]])
def test_db_works_before_and_after_the_command(lockgate: Command, home: Path, arguments: list[str]) -> None:
    (db,) = (each for each in lockgate(*arguments, "--json").document["settings"] if each["name"] == "db")
    assert db == {"name": "db", "value": str(home / "x.sqlite"), "origin": "--db"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["nope"],
        ["runs", "--limit", "0"],
        ["runs", "--status", "sleepy"],
        ["show"],
        ["start", "plain", "--timeout", "3"],
        ["--size", "80x24"],
        ["--once", "--size", "80"],
        ["--once", "runs"],
        ["--read-only", "runs"],
        ["resolve", "effect-1", "perhaps"],
        ["resolve", "effect-1", "not-happened", "--output", "1"],
        ["demo", "--db", "x.sqlite", "--no-dashboard"],
    ],
)
def test_a_wrong_command_line_is_usage(lockgate: Command, arguments: list[str]) -> None:
    said = lockgate(*arguments, "--json")
    assert said.code == 2
    assert said.error["code"] == "usage"


def test_an_argument_that_is_no_text_is_usage(lockgate: Command) -> None:
    said = lockgate("show", "run\udcff", "--json")
    assert said.code == 2
    assert "argument 2" in said.error["message"]


def test_people_get_one_sentence_on_stderr(lockgate: Command) -> None:
    said = lockgate("nope")
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("lockgate: ")


@pytest.mark.parametrize(
    ("given", "path", "limit"),
    [
        ("{", "$", "JSON"),
        ('{"a": [1, NaN]}', "$.a[1]", "finite"),
        ('{"a": 1, "a": 2}', "$.a", "each key once"),
        ("9007199254740993", "$", "9007199254740991"),
        ('["\\ud800"]', "$[0]", "whole characters"),
        ("[" * 70 + "]" * 70, "$", "64 levels"),
        (f'"{"x" * (1 << 20)}"', "$", "1048576 bytes"),
    ],
    ids=["malformed", "nan", "twice", "big-integer", "surrogate", "deep", "long"],
)
def test_input_that_breaks_the_rules_is_named_by_path_and_limit(
    lockgate: Command, home: Path, given: str, path: str, limit: str
) -> None:
    said = lockgate("start", "plain", "--input", given, "--json")
    assert said.code == 2
    assert said.error["code"] == "invalid_payload"
    assert said.error["details"]["path"] == path
    assert limit in said.error["details"]["limit"]
    assert not (home / "store").exists()


def test_input_from_a_file_that_is_not_there(lockgate: Command) -> None:
    said = lockgate("start", "plain", "--input", "@missing.json", "--json")
    assert said.code == 2
    assert "missing.json" in said.error["message"]


@pytest.mark.parametrize("arguments", [[], ["demo"]])
def test_the_dashboard_without_a_terminal_gives_one_line_of_advice(lockgate: Command, arguments: list[str]) -> None:
    said = lockgate(*arguments)
    assert said.code == 2
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "terminal" in said.err


@pytest.mark.parametrize(
    "arguments", [["answer", "decision-1", "yes"], ["resolve", "effect-1", "happened"]], ids=["answer", "resolve"]
)
def test_a_person_is_needed_at_a_terminal(lockgate: Command, home: Path, arguments: list[str]) -> None:
    said = lockgate(*arguments, "--json")
    assert said.code == 2
    assert said.error["code"] == "no_terminal"
    assert not (home / "store").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["runs"],
        ["show", "1a2b3c4d"],
        ["events", "1a2b3c4d"],
        ["watch", "1a2b3c4d"],
        ["decisions"],
        ["requests"],
        ["submit", "request-1", "--output", "1"],
        ["pause", "1a2b3c4d"],
        ["resume", "1a2b3c4d"],
        ["cancel", "1a2b3c4d"],
        ["restart", "1a2b3c4d"],
        ["effects", "1a2b3c4d"],
        ["migrate"],
        ["--once"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_without_a_store_nothing_is_made(lockgate: Command, home: Path, arguments: list[str]) -> None:
    said = lockgate(*arguments, "--json")
    assert said.code == 1
    assert said.error["code"] == "store_missing"
    assert not (home / "store").exists()


def test_a_setting_that_is_none_is_usage_and_names_its_origin(
    lockgate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKGATE_THEME", "pink")
    said = lockgate("config", "--json")
    assert said.code == 2
    assert "LOCKGATE_THEME" in said.error["message"]


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["runs", "--help"], ["--version"]])
def test_help_needs_nothing(lockgate: Command, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0")
    said = lockgate(*arguments)
    assert said.code == 0
    assert said.out
