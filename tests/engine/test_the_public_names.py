"""The public API: every promised name resolves, and authoring loads flow and model only."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import lockgate

SRC = Path(lockgate.__file__).parents[1]


def test_every_name_resolves() -> None:
    for name in lockgate.__all__:
        assert getattr(lockgate, name) is not None


def test_the_type_checker_sees_the_same_names() -> None:
    tree = ast.parse(Path(lockgate.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        (f"{node.module}", alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }
    assert seen == {(f"lockgate.{home}", name) for name, home in lockgate._HOME_OF.items()}


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(lockgate, "nothing_of_that_name")


def test_authoring_loads_flow_and_model_only() -> None:
    names = "Ask, Workflow, choice, compute, decision_edge, edge, human_decision, idempotent, manual, shell"
    code = f"from lockgate import {names}, text_input, paragraph\nimport sys\nprint(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(SRC)},
    )
    modules = ran.stdout.split()
    rooms = {name.split(".")[1] for name in modules if name.startswith("lockgate.")}
    assert rooms == {"flow", "model"}
    assert not {"asyncio", "sqlite3", "textual", "jsonschema", "subprocess"} & set(modules)
