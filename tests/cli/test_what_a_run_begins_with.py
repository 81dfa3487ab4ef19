"""An input is checked, a title made and settings computed before there is a run; what fails leaves nothing behind."""

import json
from pathlib import Path
from typing import Any

import pytest

from lockgate.flow.schemas import mismatch
from lockgate.flow.titles import check_title, fitted
from tests.cli.conftest import Command, hold

ORDER = """
from lockgate import Workflow, allow, compute, settings

SCHEMA = {
    "type": "object",
    "properties": {"rows": {"type": "integer", "minimum": 1}, "name": {"type": "string"}},
    "required": ["rows"],
    "additionalProperties": False,
}

def pace(given):
    given["rows"] += 1000
    return {"pace": given["rows"] - 999}

order = Workflow(
    "order",
    start="work",
    nodes={"work": compute(lambda ctx: [ctx.input, ctx.settings])},
    input=SCHEMA,
    title=lambda given: f"Order of {given['rows']} rows",
    settings=settings(pace, schema={"properties": {"pace": {"maximum": 99}}}, rules=[allow("", replace=["user"])]),
)
"""

ONE = """
from lockgate import Workflow, allow, compute, settings
{more}
one = Workflow("one", start="a", nodes={{"a": compute(len)}}, {given})
"""


@pytest.fixture
def order(home: Path) -> Path:
    file = home / "order.py"
    file.write_text(ORDER)
    return file


def one(home: Path, given: str, more: str = "") -> str:
    (home / "one.py").write_text(ONE.format(given=given, more=more))
    return "one.py"


def shown(lockgate: Command, run_id: str) -> Any:
    return lockgate("show", run_id, "--json").document


BAD = {
    "no object": ("3", "$", 'type "object"', "3"),
    "a name is missing": ("{}", "$", 'required ["rows"]', "{}"),
    "a name too many": ('{"rows": 1, "n": 2}', "$", "additionalProperties false", '{"n":2,"rows":1}'),
    "a wrong type": ('{"rows": "x"}', "$.rows", 'type "integer"', '"x"'),
    "too little": ('{"rows": 0}', "$.rows", "minimum 1", "0"),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_an_input_that_breaks_the_schema_makes_no_store(lockgate: Command, home: Path, order: Path, name: str) -> None:
    text, path, limit, observed = BAD[name]
    said = lockgate("start", "order.py", "--json", "--input", text)
    assert (said.code, said.error["code"]) == (5, "invalid_input")
    assert said.error["details"] == {"field": path, "limit": limit, "observed": observed}
    assert said.error["message"].startswith(f"{path}: ")
    assert said.error["message"].endswith(f", got {observed}")
    assert not (home / "store").exists()


def test_without_an_input_it_is_said_what_is_missing(lockgate: Command, home: Path, order: Path) -> None:
    said = lockgate("start", "order.py")
    assert said.code == 5
    assert 'order.py needs an input, give it with --input: $: type "object", got null' in said.err
    assert not (home / "store").exists()


def test_a_good_input_begins_a_run_with_title_and_settings(lockgate: Command, order: Path) -> None:
    run = lockgate("start", "order.py", "--json", "--input", '{"rows": 5}').document["run_id"]
    assert (shown(lockgate, run)["input"], shown(lockgate, run)["title"]) == ({"rows": 5}, "Order of 5 rows")
    (scope,) = lockgate("settings", run, "--json").document["scopes"]
    assert (scope["initial"], scope["change_number"]) == ({"pace": 6}, 0)
    assert lockgate("set", run, '[{"op": "replace", "path": "/pace", "value": 100}]').code == 5
    assert lockgate("audit", run).code == 0
    named = lockgate("start", "order.py", "--json", "--input", '{"rows": 5}', "--title", "Mine").document["run_id"]
    assert shown(lockgate, named)["title"] == "Mine"


def test_a_repeated_start_is_the_same_run_whatever_the_file_has_become(lockgate: Command, order: Path) -> None:
    call = ("start", "order.py", "--json", "--input", '{"rows": 5}', "--key", "k")
    run = lockgate(*call).document["run_id"]
    assert lockgate(*call).document["outcome"] == "adopted"
    order.write_text(ORDER.replace('"minimum": 1', '"minimum": 6'))
    again = lockgate(*call).document
    assert (again["outcome"], again["run_id"]) == ("adopted", run)


def test_a_restart_is_checked_against_the_file_as_it_is_now(lockgate: Command, order: Path) -> None:
    run = lockgate("start", "order.py", "--json", "--input", '{"rows": 5}').document["run_id"]
    lockgate("cancel", run)
    order.write_text(ORDER.replace('"minimum": 1', '"minimum": 6'))
    said = lockgate("restart", run, "--json")
    assert (said.code, said.error["details"]["field"], said.error["details"]["limit"]) == (5, "$.rows", "minimum 6")
    assert len(lockgate("runs", "--json").document["runs"]) == 1
    order.write_text(ORDER.replace("- 999", "- 990").replace("Order of", "Now"))
    child = lockgate("restart", run, "--json").document["run_id"]
    assert (shown(lockgate, child)["input"], shown(lockgate, child)["title"]) == ({"rows": 5}, "Order of 5 rows")
    assert lockgate("settings", child, "--json").document["scopes"][0]["initial"] == {"pace": 15}


REFUSED = {
    "title fails": ("title=lambda given: given['n']", "line 4: the title of 'one': TypeError: 'NoneType'"),
    "title exits": ("title=lambda given: exit(3)", "the title of 'one': SystemExit"),
    "title is no text": ("title=lambda given: 5", "the title of 'one': a text was expected, got a int"),
    "title dies": ("title=lambda given: __import__('os')._exit(3)", "it ended the loading process (exit code 3)"),
    "settings fail": ("settings=settings(lambda given: 1 // 0)", "the settings of 'one': ZeroDivisionError"),
    "nan": ("settings=settings(lambda given: [float('nan')])", "$settings[0]: a finite number"),
    "1e400": ("settings=settings(lambda given: {'a': 1e400})", "$settings.a: a finite number"),
    "2**53": ("settings=settings(lambda given: 2**53)", "9007199254740991, got 9007199254740992"),
    "surrogate": (r"settings=settings(lambda given: '\ud800')", "a lone surrogate at 0"),
    "65 levels": ("settings=settings(lambda given: deep(65))", "at most 64 levels"),
    "256 KiB": ("settings=settings(lambda given: 'x' * 262_144)", "at most 262144 bytes, got 262146 bytes"),
    "no JSON": ("settings=settings(lambda given: {1})", "$settings: a JSON value, got a set"),
}
DEEP = "def deep(n): return [deep(n - 1)] if n > 1 else []"


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_function_of_the_input_that_fails_refuses_the_start(lockgate: Command, home: Path, name: str) -> None:
    given, reason = REFUSED[name]
    said = lockgate("start", one(home, given, DEEP), "--json")
    assert (said.code, said.error["code"]) == (5, "definition_error")
    assert str(home / "one.py") in said.error["message"]
    assert reason in said.error["message"]
    assert not (home / "store").exists()


def test_settings_that_break_their_schema_refuse_the_start(lockgate: Command, home: Path) -> None:
    file = one(home, 'settings=settings(lambda given: {"a": given}, schema={"properties": {"a": {"type": "string"}}})')
    said = lockgate("start", file, "--json", "--input", "7")
    assert (said.code, said.error["code"]) == (5, "invalid_settings")
    assert said.error["details"] == {"field": "$.a", "limit": 'type "string"', "observed": "7"}
    assert lockgate("start", file, "--input", '"x"').code == 0


DEFINITIONS = {
    "no schema": ('input={"type": "objekt"}', "the schema of the input at $.type"),
    "no JSON": ('input={"enum": [object()]}', "the input of a workflow must be JSON"),
    "not even an object": ('input="x"', "must be a JSON Schema (an object), got str"),
    "a schema 65 deep": ('input={"not": deep(65)}', "64 levels"),
    "a blank title": ('title=" "', "a title must be a non-blank text"),
    "a title of two lines": (r'title="a\nb"', "no control characters"),
    "a long title": ('title="x" * 501', "at most 500 characters"),
    "a title that is heavy": (r'title="\U0001f600" * 500', "2000 bytes"),
    "a title beyond Unicode": (r'title="\ud800"', "whole characters"),
    "settings against their own schema": ('settings=settings(1, schema={"type": "string"})', 'type "string", got 1'),
}


@pytest.mark.parametrize("name", sorted(DEFINITIONS))
def test_a_definition_that_cannot_begin_is_refused(lockgate: Command, home: Path, name: str) -> None:
    given, reason = DEFINITIONS[name]
    said = lockgate("check", one(home, given, DEEP), "--json")
    assert (said.code, said.error["code"]) == (5, "definition_error")
    assert reason in said.error["message"]
    assert not (home / "store").exists()


def test_a_schema_that_refers_to_itself_without_end_takes_nothing(lockgate: Command, home: Path) -> None:
    said = lockgate("start", one(home, 'input={"$ref": "#"}'), "--json", "--input", "1")
    assert (said.code, said.error["code"]) == (5, "invalid_input")
    assert "without end" in said.error["message"]


@pytest.mark.parametrize("ref", ["#/$defs/gone", "http://x.invalid/s"])
def test_a_stored_schema_that_refers_to_what_is_not_there_fits_nothing(ref: str) -> None:
    found = mismatch({"$ref": ref}, 1)
    assert found is not None
    assert found.reason == f"the schema refers to {ref.removeprefix('#')!r}, which is not in it"


def test_a_function_may_check_the_input_and_never_changes_it(lockgate: Command, home: Path) -> None:
    more = """
def known(given):
    if given.pop("customer") != 7:
        raise ValueError("no such customer")
    return "unused"
"""
    file = one(home, "input=known", more)
    said = lockgate("start", file, "--json", "--input", '{"customer": 8}')
    assert (said.code, said.error["code"]) == (5, "invalid_input")
    assert said.error["message"] == '$: ValueError: no such customer, got {"customer":8}'
    run = lockgate("start", file, "--json", "--input", '{"customer": 7}').document["run_id"]
    assert shown(lockgate, run)["input"] == {"customer": 7}


def test_a_title_is_made_one_clean_line_that_fits(lockgate: Command, home: Path) -> None:
    made = {
        "two\nlines \t of it": "two lines of it",
        "\u202eright": "<U+202E>right",
        "  ": None,
        "x" * 600: "x" * 499 + "…",
        "\U0001f600" * 600: "\U0001f600" * 498 + "…",
        "\ud800": "\ufffd",
    }
    for text, title in made.items():
        assert fitted(text) == title
        check_title(title)
    file = one(home, "title=lambda given: given")
    run = lockgate("start", file, "--json", "--input", json.dumps("\x1b[2Jclear\x9b")).document["run_id"]
    assert shown(lockgate, run)["title"] == "␛clear␛"


def test_functions_of_the_input_end_at_their_limit(
    lockgate: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lockgate.engine import checking

    monkeypatch.setattr(checking, "BEGIN_LIMIT", 0.5)
    monkeypatch.setattr(checking, "_WIND_UP", 0.0)
    monkeypatch.setattr(checking.check, "__kwdefaults__", {**checking.check.__kwdefaults__, "limit": 1.5})
    said = lockgate("start", one(home, "title=lambda given: __import__('time').sleep(60)"), "--json")
    assert said.code == 5
    assert "its functions of the input did not end within 0.5 s" in said.error["message"]
    assert not (home / "store").exists()


def test_check_and_graph_say_what_a_workflow_takes(lockgate: Command, home: Path, order: Path) -> None:
    said = lockgate("check", "order.py", "--json")
    hold(said.document, "check")
    assert said.document["input"]["required"] == ["rows"]
    assert (said.document["title"], said.document["computed"]) == (None, ["settings", "title"])
    lines = lockgate("check", "order.py").out.splitlines()
    assert any(line.startswith("input       {") and '"required":["rows"]' in line for line in lines)
    assert "title       made from the input" in lines
    assert lockgate("graph", "order.py").out.startswith('order, input {"additionalProperties":false')
    assert lockgate("graph", "order.py", "--json").document["definition"]["input"]["required"] == ["rows"]
    digest = said.document["digest"]
    order.write_text(ORDER.replace('"minimum": 1', '"minimum": 2'))
    assert lockgate("check", "order.py", "--json").document["digest"] != digest
    (home / "plain.py").write_text(ONE.format(given='title="Weekly"', more=""))
    assert lockgate("check", "plain.py", "--json").document["title"] == "Weekly"


def test_a_value_that_is_wrong_everywhere_is_refused_at_its_first_place(lockgate: Command, home: Path) -> None:
    file = one(home, 'input={"items": {"type": "string"}}')
    (home / "given.json").write_text(json.dumps([1] * 300_000))
    said = lockgate("start", file, "--json", "--input", "@given.json")
    assert said.error["details"] == {"field": "$[0]", "limit": 'type "string"', "observed": "1"}
