"""Sizes and names: a module is a noun that fits on a few screens, a function does one thing."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "lockgate"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "sample" not in path.parts and "workflows" not in path.parts)
BANNED = {"utils", "util", "helpers", "helper", "manager", "managers", "base", "common", "misc", "core", "types"}
MODULE_LINES, CLASS_LINES, FUNCTION_LINES = 400, 300, 60


def definitions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_is_small_and_says_why_it_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert path.stem not in BANNED
    assert len(text.splitlines()) <= MODULE_LINES
    assert not text.strip() or ast.get_docstring(ast.parse(text)), "a module says why it exists"
    for node in definitions(path):
        limit = CLASS_LINES if isinstance(node, ast.ClassDef) else FUNCTION_LINES
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        assert lines <= limit, f"{node.name} has {lines} lines"


def test_most_functions_are_short() -> None:
    lengths = sorted(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for path in MODULES
        for node in definitions(path)
        if not isinstance(node, ast.ClassDef)
    )
    assert lengths[len(lengths) // 2] <= 10
    assert lengths[len(lengths) * 9 // 10] <= 32
