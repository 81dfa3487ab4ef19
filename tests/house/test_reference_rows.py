"""Every promise about runs names the tests that hold it, and every named test is there."""

import ast
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE: dict[str, list[dict[str, Any]]] = tomllib.loads(
    (Path(__file__).parent / "promises.toml").read_text(encoding="utf-8")
)


@cache
def names(path: str) -> frozenset[str]:
    """The tests of a file: its functions, the methods of its classes as `Class::test`, and assigned test cases."""
    found: set[str] = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
            found.update(f"{node.name}::{each.name}" for each in methods)
        elif isinstance(node, ast.Assign):
            found.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return frozenset(found)


@pytest.mark.parametrize("row", TABLE["kept"], ids=lambda row: row["what"])
def test_a_kept_promise_is_held_by_tests(row: dict[str, Any]) -> None:
    assert set(row) == {"what", "promise", "tests"}
    assert row["promise"].endswith(".")
    assert row["tests"]
    for test in row["tests"]:
        path, _, name = test.partition("::")
        assert (ROOT / path).is_file(), test
        assert name in names(path), test
        assert name.rpartition("::")[2].lower().startswith("test"), test


@pytest.mark.parametrize("row", TABLE["left_out"], ids=lambda row: row["what"])
def test_what_is_left_out_says_why(row: dict[str, Any]) -> None:
    assert set(row) == {"what", "why"}
    assert row["why"].endswith(".")


def test_nothing_is_said_twice() -> None:
    said = [row["what"] for row in TABLE["kept"] + TABLE["left_out"]]
    assert len(said) == len(set(said))


def test_what_is_left_out_has_no_column() -> None:
    """No table keeps a place for what is not there."""
    from lockgate.store.statements import schema

    for word in ("follow_up", "session", "presentation_revision", "outbox", "instructions"):
        assert word not in schema(), word
