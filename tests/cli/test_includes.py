"""An included workflow on the command line: checked, drawn, shown, and its settings changed by their scope."""

from pathlib import Path

import pytest

from tests.cli.conftest import Command, hold

REVIEW = """
from lockgate import Workflow, allow, checkpoint, compute, edge, settings

review = Workflow(
    "review",
    start="ask",
    nodes={"ask": checkpoint("What do you say?"), "said": compute(lambda ctx: ctx.outputs["ask"])},
    edges=[edge("ask", "said")],
    exits={"done": "said"},
    settings=settings({"tone": "dry"}, rules=[allow("/tone", replace=["user", "human"])]),
)
"""
PAPER = """
from lockgate import Workflow, compute, edge, include
from review import review

paper = Workflow(
    "paper",
    start="write",
    nodes={
        "write": compute(lambda ctx: "text"),
        "review": include(review, input=lambda ctx: {"text": ctx.outputs["write"]}),
        "print": compute(lambda ctx: ctx.outputs["review"]),
    },
    edges=[edge("write", "review"), edge("review.done", "print")],
)
"""


@pytest.fixture
def shelf(home: Path) -> Path:
    shelf = home / ".lockgate" / "workflows"
    (shelf / "review.py").write_text(REVIEW)
    (shelf / "paper.py").write_text(PAPER)
    return shelf


def test_what_is_included_is_checked_with_its_sources(lockgate: Command, shelf: Path) -> None:
    said = lockgate("check", "paper", "--json")
    hold(said.document, "check")
    assert said.document["includes"] == [{"mount_path": "review", "workflow": "review", "exits": ["done"]}]
    assert sorted(said.document["nodes"]) == ["print", "review", "review.done", "review/ask", "review/said", "write"]
    assert [Path(source["path"]).name for source in said.document["sources"]] == ["paper.py", "review.py"]
    assert "include     review: review, left by done" in lockgate("check", "paper").out


def test_files_that_import_each_other_are_refused_with_the_way_round(lockgate: Command, shelf: Path) -> None:
    (shelf / "review.py").write_text("from paper import paper\n" + REVIEW)
    said = lockgate("check", "paper", "--json")
    assert said.code == 5
    assert said.error["message"].endswith("the files import each other: paper.py → review.py → paper.py")


def test_what_is_wrong_with_an_included_file_is_told_with_its_line(lockgate: Command, shelf: Path) -> None:
    (shelf / "review.py").write_text(REVIEW.replace('"done": "said"', '"done": "ask"'))
    message = lockgate("check", "paper", "--json").error["message"]
    assert message.endswith(
        "paper.py, node 'ask': line 3: review.py, line 4: the exit 'done' names a node that leads on, to said"
    )
    (shelf / "review.py").write_text(REVIEW.replace('checkpoint("What do you say?")', 'checkpoint("")'))
    message = lockgate("check", "paper", "--json").error["message"]
    assert "paper.py, node 'ask': line 3: review.py, line 7: the summary of a checkpoint must be" in message


def test_the_graph_shows_what_stands_inside(lockgate: Command, shelf: Path) -> None:
    lines = [line.split(maxsplit=1) for line in lockgate("graph", "paper").out.splitlines()[2:]]
    assert [line[0] for line in lines] == ["▸", "review", "review/ask", "review/said", "review.done", "print"]
    assert lines[1][1].startswith("include review")
    assert lines[4][1].startswith("exit")


def test_the_drawn_graph_has_a_frame_for_each_include(lockgate: Command, shelf: Path) -> None:
    assert lockgate("graph", "paper", "--format", "mermaid").out.splitlines() == [
        "flowchart TD",
        '    n0["write: compute"]',
        '    n1["review: include review"]',
        '    subgraph mn1["review"]',
        '        n2["review/ask: checkpoint"]',
        '        n3["review/said: compute"]',
        '        n4["review.done: exit"]',
        "    end",
        '    n5["print: compute"]',
        "    n0 --> n1",
        "    n1 --> n2",
        "    n2 --> n3",
        "    n3 --> n4",
        "    n4 --> n5",
    ]


def test_an_invocation_that_has_not_begun_has_no_settings_yet(lockgate: Command, shelf: Path) -> None:
    run_id = lockgate("start", "paper", "--json").document["run_id"]
    said = lockgate("set", run_id, "[]", "--scope", "review", "--json")
    assert (said.code, said.document["reason"]) == (5, "scope_closed")
    assert lockgate("set", run_id, "[]", "--json").document["reason"] == "no_settings"
    assert "'paper' declares no settings, a scope that has some is review" in lockgate("set", run_id, "[]").err
    document = lockgate("settings", run_id, "--json").document
    hold(document, "settings")
    assert document["scopes"] == []


def test_a_fixed_input_is_held_against_the_childs_schema_when_it_is_checked(lockgate: Command, shelf: Path) -> None:
    schema = 'exits={"done": "said"}, input={"type": "object", "properties": {"text": {"type": "string"}}},'
    (shelf / "review.py").write_text(REVIEW.replace('exits={"done": "said"},', schema))
    assert lockgate("check", "paper").code == 0, "nobody knows what a function will give"
    for given, wanted in (('{"text": 7}', '$.text: type "string", got 7'), ("None", '$: type "object", got null')):
        fixed = PAPER.replace('input=lambda ctx: {"text": ctx.outputs["write"]}', f"input={given}")
        (shelf / "paper.py").write_text(fixed)
        said = lockgate("check", "paper", "--json")
        assert (said.code, said.error["code"]) == (5, "definition_error")
        assert f"'review': its input at {wanted}" in said.error["message"]
