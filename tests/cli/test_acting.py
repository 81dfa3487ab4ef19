"""Commands on runs: what they print, what they cost when they are repeated, and what they refuse."""

import json
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import PLAIN, Command, hold


@pytest.fixture
def run_id(lockgate: Command) -> str:
    """A queued run that no host claims."""
    found: str = lockgate("start", "plain", "--input", '{"a": 1}', "--title", "First", "--json").document["run_id"]
    return found


def show(lockgate: Command, run: str) -> Any:
    document = lockgate("show", run, "--json").document
    hold(document, "run")
    return document


def test_start_makes_the_store_and_queues_a_run(lockgate: Command, home: Path, run_id: str) -> None:
    shown = show(lockgate, run_id)
    assert (shown["status"], shown["word"], shown["waiting_for"]) == ("queued", "queued", "host")
    assert (shown["input"], shown["title"]) == ({"a": 1}, "First")
    assert [source["path"] for source in shown["source"]] == [str(home / ".lockgate" / "workflows" / "plain.py")]
    assert (home / "store" / "state.sqlite").stat().st_mode & 0o777 == 0o600


def test_start_reads_its_input_from_a_file_and_from_stdin(
    lockgate: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "input.json").write_text('[1, 2, "ü"]')
    run = lockgate("start", "plain", "--input", "@input.json", "--json").document["run_id"]
    assert show(lockgate, run)["input"] == [1, 2, "ü"]


def test_a_list_of_runs_has_the_promised_shape(lockgate: Command, run_id: str) -> None:
    document = lockgate("runs", "--json").document
    hold(document, "runs")
    assert [run["run_id"] for run in document["runs"]] == [run_id]
    assert document["next"] is None
    assert lockgate("runs", "--status", "completed", "--json").document["runs"] == []
    assert lockgate("runs", "--status", "completed", "--status", "queued", "--json").document["runs"] != []


def test_the_filter_is_that_of_the_dashboard(lockgate: Command, run_id: str) -> None:
    other = lockgate("start", "hello", "--title", "Second", "--json").document["run_id"]

    def found(*arguments: str) -> list[str]:
        return [run["run_id"] for run in lockgate("runs", *arguments, "--json").document["runs"]]

    assert found("--filter", "title:first") == [run_id]
    assert found("--filter", "!wf:plain") == [other]
    assert found("--filter", "state:queued") == [other, run_id]
    assert found("--filter", "state:queued", "--limit", "1") == [other]
    assert found("--filter", "state:queued", "--status", "completed") == []
    assert found("--filter", "state:lost") == []
    assert lockgate("runs", "--filter", "state:sleepy", "--json").code == 2


def test_a_limited_list_says_where_it_goes_on(lockgate: Command, run_id: str) -> None:
    lockgate("start", "plain")
    document = lockgate("runs", "--limit", "1", "--json").document
    assert len(document["runs"]) == 1
    assert document["next"] == document["runs"][0]["run_id"]


@pytest.mark.parametrize("part", [slice(-8, None), slice(-8, -4), slice(None)])
def test_a_run_is_named_by_its_id_or_the_start_of_its_short_id(lockgate: Command, run_id: str, part: slice) -> None:
    assert show(lockgate, run_id[part])["run_id"] == run_id


@pytest.mark.parametrize("command", ["show", "events", "watch", "pause", "resume", "cancel", "restart", "effects"])
def test_an_unknown_run_is_not_found(lockgate: Command, run_id: str, command: str) -> None:
    said = lockgate(command, "ffffffff", "--json")
    assert said.code == 4
    assert said.error["code"] == "not_found"


@pytest.mark.parametrize("command", ["events", "--once"])
def test_an_unknown_run_has_no_trace_and_no_frame(lockgate: Command, run_id: str, command: str) -> None:
    arguments = ["--once", "--run", "ffffffff"] if command == "--once" else ["events", "ffffffff", "--follow"]
    assert lockgate(*arguments, "--json").code == 4


def test_a_frame_is_one_document_too(lockgate: Command, run_id: str) -> None:
    frame = lockgate("--once", "--size", "80x24", "--json").document
    hold(frame, "frame")
    assert (frame["columns"], frame["rows"], len(frame["lines"])) == (80, 24, 24)
    assert any("plain" in line for line in frame["lines"])


def test_pause_resume_and_cancel_say_what_became_of_them(lockgate: Command, run_id: str) -> None:
    for command, word in (("pause", "paused"), ("resume", "queued"), ("cancel", "cancelled")):
        said = lockgate(command, run_id, "--json")
        assert said.code == 0
        hold(said.document, "receipt")
        assert said.document["outcome"] == "accepted"
        assert said.document["run_id"] == run_id
        assert show(lockgate, run_id)["word"] == word


def test_the_same_key_gets_the_same_receipt_and_another_wish_is_a_conflict(lockgate: Command, run_id: str) -> None:
    first = lockgate("pause", run_id, "--key", "k1", "--json").document
    again = lockgate("--key", "k1", "pause", run_id, "--json")
    assert again.code == 0
    assert again.document == {**first, "outcome": "adopted"}
    other = lockgate("cancel", run_id, "--key", "k1", "--json")
    assert other.code == 5
    assert (other.document["outcome"], other.document["reason"]) == ("conflict", "key_conflict")


def test_a_start_is_repeated_safely(lockgate: Command) -> None:
    first = lockgate("start", "plain", "--key", "s", "--json").document
    assert lockgate("start", "plain", "--key", "s", "--json").document["run_id"] == first["run_id"]
    assert lockgate("start", "plain", "--input", "1", "--key", "s", "--json").code == 5
    assert len(lockgate("runs", "--json").document["runs"]) == 1


def test_a_refused_command_is_a_receipt_and_a_sentence(lockgate: Command, run_id: str) -> None:
    lockgate("cancel", run_id)
    said = lockgate("pause", run_id, "--json")
    assert said.code == 5
    hold(said.document, "receipt")
    assert said.document["outcome"] == "rejected"
    told = lockgate("pause", run_id)
    assert (told.code, told.out) == (5, "")
    assert told.err.startswith(f"lockgate: {run_id[-8:]} not paused: ")


def test_restart_makes_one_child_with_the_same_input(lockgate: Command, run_id: str) -> None:
    assert lockgate("restart", run_id, "--json").code == 5
    lockgate("cancel", run_id)
    revision = show(lockgate, run_id)["revision"]
    assert lockgate("restart", run_id, "--revision", str(revision - 1), "--json").code == 5
    child = lockgate("restart", run_id, "--json").document
    again = lockgate("restart", run_id, "--json").document
    assert (child["outcome"], again["outcome"]) == ("accepted", "adopted")
    assert again["run_id"] == child["run_id"] != run_id
    shown = show(lockgate, child["run_id"])
    assert (shown["input"], shown["title"]) == ({"a": 1}, "First")
    assert shown["lineage"]["parent_run_id"] == run_id
    [earlier] = shown["lineage"]["earlier"]
    assert (earlier["run_id"], earlier["status"], earlier["output"]) == (run_id, "cancelled", None)
    assert show(lockgate, run_id)["lineage"]["children"] == [child["run_id"]]


def test_the_trace_is_one_document_a_line(lockgate: Command, run_id: str) -> None:
    lockgate("pause", run_id)
    lockgate("resume", run_id)
    events = lockgate("events", run_id, "--json").documents
    for event in events:
        hold(event, "event")
    assert [event["type"] for event in events] == ["run_queued", "run_paused", "run_unpaused"]
    assert [event["seq"] for event in lockgate("events", run_id, "--after", "2", "--json").documents] == [3]


@pytest.mark.parametrize("command", [["events", "--follow"], ["watch"]])
def test_following_a_run_that_is_over_prints_all_and_ends(lockgate: Command, run_id: str, command: list[str]) -> None:
    lockgate("cancel", run_id)
    said = lockgate(*command, run_id, "--json")
    assert said.code == 0
    assert said.documents[-1]["type"] == "run_cancelled"
    assert lockgate("watch", run_id, "--exit-status").code == 3


def test_waiting_gives_up_in_time_and_says_what_the_run_waits_for(lockgate: Command) -> None:
    said = lockgate("start", "plain", "--wait", "--timeout", "1.6")
    assert said.code == 3
    assert said.err.count("waits for a host") == 1


def test_hostile_titles_reach_no_terminal(lockgate: Command, run_id: str) -> None:
    title = "nightly [/red] \x1b]52;c;cm0gLXJm\x07\x1b[2J\x9b31m\u202e end"
    run = lockgate("start", "plain", "--title", title, "--json").document["run_id"]
    for arguments in (["runs"], ["show", run], ["events", run]):
        out = lockgate(*arguments).out
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(out)
    assert "[/red]" in lockgate("show", run).out
    raw = lockgate("show", run, "--json").out
    assert raw.isascii()
    assert json.loads(raw)["title"] == title


@pytest.mark.parametrize("title", ["x" * 501, "half a \ud83d character"], ids=["long", "surrogate"])
def test_a_title_that_cannot_be_one_is_refused(lockgate: Command, title: str) -> None:
    assert lockgate("start", "plain", "--title", title, "--json").code == 2


def test_changed_files_are_accepted_on_request_only_with_the_same_graph(
    lockgate: Command, home: Path, run_id: str
) -> None:
    file = home / ".lockgate" / "workflows" / "plain.py"
    file.write_text(PLAIN + "\n# a remark\n")
    lockgate("pause", run_id)
    assert lockgate("resume", run_id, "--accept-source", "--json").document["outcome"] == "accepted"
    types = [event["type"] for event in lockgate("events", run_id, "--json").documents]
    assert "source_accepted" in types
    file.write_text(PLAIN.replace('"only"', '"other"'))
    lockgate("pause", run_id)
    refused = lockgate("resume", run_id, "--accept-source", "--json")
    assert (refused.code, refused.document["reason"]) == (5, "graph_changed")


def test_a_foreign_file_is_left_untouched(lockgate: Command, home: Path) -> None:
    file = home / "foreign.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    before = file.read_bytes()
    for arguments in (["runs"], ["start", "plain"], ["init"]):
        said = lockgate(*arguments, "--db", str(file), "--json")
        assert (said.code, said.error["code"]) == (1, "store_foreign")
    text = home / "text.sqlite"
    text.write_text("not a database " * 100)
    assert lockgate("runs", "--db", str(text), "--json").error["code"] == "store_foreign"
    assert file.read_bytes() == before


def test_a_newer_store_is_left_untouched(lockgate: Command, home: Path, run_id: str) -> None:
    file = home / "store" / "state.sqlite"
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version=999")
    connection.close()
    for arguments in (["runs"], ["pause", run_id], ["start", "plain"], ["migrate"]):
        said = lockgate(*arguments, "--json")
        assert (said.code, said.error["code"]) == (1, "store_too_new")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_an_unwritable_store_can_be_read_but_not_written(lockgate: Command, home: Path, run_id: str) -> None:
    store = home / "store"
    (store / "state.sqlite").chmod(0o400)
    store.chmod(0o500)
    try:
        assert lockgate("runs", "--json").code == 0
        said = lockgate("pause", run_id, "--json")
        assert (said.code, said.error["code"]) == (1, "store_read_only")
    finally:
        store.chmod(0o700)


def test_init_makes_a_store_and_a_first_file_once(lockgate: Command, home: Path) -> None:
    (home / ".lockgate" / "workflows" / "hello.py").unlink()
    first = lockgate("init", "--json").document
    again = lockgate("init", "--json").document
    hold(first, "init")
    assert (first["made_store"], first["made_workflow"]) == (True, True)
    assert (again["made_store"], again["made_workflow"]) == (False, False)
    hold(lockgate("migrate", "--json").document, "migrate")


def test_lists_of_what_waits_are_empty_documents_when_nothing_does(lockgate: Command, run_id: str) -> None:
    for command in ("decisions", "requests"):
        document = lockgate(command, "--json").document
        hold(document, "requests")
        assert document["requests"] == []
        assert lockgate(command).out == "Nothing needs you.\n"
    document = lockgate("effects", run_id, "--json").document
    hold(document, "effects")


def test_a_pruned_run_has_its_last_event_and_nothing_else(lockgate: Command, home: Path, run_id: str) -> None:
    lockgate("cancel", run_id)
    time.sleep(0.01)
    pruned = lockgate("prune", "--apply", "--older-than", "0s", "--backup", str(home / "copy.sqlite"), "--json")
    assert pruned.code == 0, pruned.out
    for command in (["events"], ["events", "--follow"]):
        said = lockgate(*command, run_id, "--json")
        assert said.code == 0
        hold(said.document, "event")
        assert said.document["type"] == "run_pruned"
    for gone in ("show", "watch"):
        assert lockgate(gone, run_id, "--json").code == 4
