"""A workflow that cannot run is refused with file, node and reason; a missing one is not found."""

from pathlib import Path

import pytest

from tests.cli.conftest import Command, hold

HEAD = "import lockgate as lg\n"
ONE = 'lg.Workflow("one", start="a", nodes={"a": lg.compute(len)})\n'

BROKEN = {
    "does_not_import": ("import no_such_module_here", "ModuleNotFoundError"),
    "is_no_python": ("def (", "line 1"),
    "calls_exit": ("import sys; sys.exit(3)", "sys.exit"),
    "ends_the_process": ("import os; os._exit(7)", "exit code 7"),
    "has_no_workflow": ("x = 1", "no Workflow"),
    "has_two": (f"{HEAD}a = {ONE}b = {ONE.replace('one', 'two')}", "say which"),
    "unknown_target": (
        f'{HEAD}w = lg.Workflow("w", start="a", nodes={{"a": lg.compute(len)}}, edges=[lg.edge("a", "gone")])',
        "gone",
    ),
    "unreachable": (
        f'{HEAD}w = lg.Workflow("w", start="a", nodes={{"a": lg.compute(len), "island": lg.compute(len)}})',
        "island",
    ),
    "schema_that_is_none": (
        f'{HEAD}w = lg.Workflow("w", start="a", nodes={{"a": lg.checkpoint("Give", output={{"type": "objekt"}})}})',
        "'a': the schema of its output at $.type",
    ),
    "schema_of_no_dialect": (
        f'{HEAD}w = lg.Workflow("w", start="a", nodes={{"a": lg.checkpoint("Give", output={{"$schema": 5}})}})',
        "'a': the schema of its output at $['$schema']",
    ),
    "schema_that_refers_to_nothing": (
        f'{HEAD}w = lg.Workflow("w", start="a", nodes={{"a": lg.checkpoint("Give", output={{'
        '"properties": {"x": {"$ref": "#/definitions/y"}}, "definitions": {"y": {"$ref": "#/$defs/gone"}}})})',
        "'a': the schema of its output refers to '#/$defs/gone', which is not in it",
    ),
    "input_schema_that_is_elsewhere": (
        f'{HEAD}w = lg.Workflow("w", start="a", nodes={{"a": lg.compute(len)}}, input={{"$ref": "http://x.invalid/s"}})',
        "the schema of the input refers to 'http://x.invalid/s', which is not in it",
    ),
    "settings_schema_that_is_none": (
        f'{HEAD}w = lg.Workflow("w", start="a", nodes={{"a": lg.compute(len)}}, '
        'settings=lg.settings({}, schema={"minProperties": -1}))',
        "the schema of the settings at $.minProperties",
    ),
    "choice_without_edge": (
        f'{HEAD}w = lg.Workflow("w", start="a", nodes={{"a": lg.human_decision(audience="x", request=len, '
        'choices={"yes": lg.choice("Yes"), "no": lg.choice("No")}), "b": lg.compute(len)}, '
        'edges=[lg.decision_edge("a", {"yes": "b"})])',
        "no",
    ),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
@pytest.mark.parametrize("command", ["check", "start"])
def test_a_broken_file_is_refused_before_anything_is_written(
    lockgate: Command, home: Path, name: str, command: str
) -> None:
    text, reason = BROKEN[name]
    file = home / f"{name}.py"
    file.write_text(text)
    said = lockgate(command, str(file), "--json")
    assert said.code == 5
    assert said.error["code"] == "definition_error"
    assert str(file) in said.error["message"]
    assert reason in said.error["message"]
    assert not (home / "store").exists()


def test_a_file_that_hangs_is_given_up(lockgate: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lockgate.engine import checking

    monkeypatch.setattr(checking.check, "__kwdefaults__", {**checking.check.__kwdefaults__, "limit": 0.5})
    (home / "hangs.py").write_text("import time\nwhile True: time.sleep(1)")
    said = lockgate("check", "hangs.py", "--json")
    assert said.code == 5
    assert "not loaded within" in said.error["message"]


@pytest.mark.parametrize("reference", ["missing.py", "missing", "plain.py:other", "./missing.py:x"])
def test_what_is_not_there_is_not_found(lockgate: Command, reference: str) -> None:
    if reference == "plain.py:other":
        reference = ".lockgate/workflows/plain.py:other"
    assert lockgate("check", reference, "--json").code == 4
    assert lockgate("start", reference, "--json").code == 4


def test_a_name_is_looked_up_from_below(lockgate: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(home / "deep" / "down")
    said = lockgate("check", "hello", "--json")
    assert said.code == 0
    hold(said.document, "check")
    assert said.document["file"] == str(home / ".lockgate" / "workflows" / "hello.py")
    assert said.document["project_dir"] == str(home)


def test_two_files_with_one_name_are_both_listed(lockgate: Command, home: Path) -> None:
    shelf = home / ".lockgate" / "workflows"
    (shelf / "again.py").write_text((shelf / "plain.py").read_text())
    said = lockgate("check", "plain", "--json")
    assert said.code == 5
    assert "again.py" in said.error["message"]
    assert "plain.py" in said.error["message"]


def test_the_graph_is_printed_in_the_order_of_a_run(lockgate: Command) -> None:
    lines = lockgate("graph", "hello").out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["▸", "ask", "said"]
    assert "change: greet" in lines[3]


def test_the_graph_as_mermaid_quotes_every_name(lockgate: Command) -> None:
    out = lockgate("graph", "hello", "--format", "mermaid").out
    assert out.startswith("flowchart TD\n")
    assert '-->|"say"|' in out


def test_the_graph_as_data(lockgate: Command) -> None:
    said = lockgate("graph", "hello", "--json")
    hold(said.document, "graph")
    assert set(said.document["definition"]["nodes"]) == {"greet", "ask", "said"}
