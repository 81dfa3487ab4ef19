"""Live settings from the command line: shown with every change, changed by a patch that the workflow allows."""

from pathlib import Path

import pytest

from tests.cli.conftest import Command, hold

PACED = """
from lockgate import Workflow, allow, compute, settings

paced = Workflow(
    "paced",
    start="only",
    settings=settings(
        {"speed": 3, "name": "x"},
        schema={"type": "object", "properties": {"speed": {"type": "integer", "maximum": 9}}},
        rules=[allow("/speed", read=["user", "human"], replace=["user", "human"])],
    ),
    nodes={"only": compute(lambda ctx: ctx.settings)},
)
"""


@pytest.fixture
def run_id(lockgate: Command, home: Path) -> str:
    (home / ".lockgate" / "workflows" / "paced.py").write_text(PACED)
    found: str = lockgate("start", "paced", "--json").document["run_id"]
    return found


def test_a_patch_changes_the_settings_and_is_kept(lockgate: Command, run_id: str) -> None:
    said = lockgate("set", run_id, '[{"op": "replace", "path": "/speed", "value": 5}]', "--json")
    assert said.code == 0
    hold(said.document, "receipt")
    document = lockgate("settings", run_id, "--json").document
    hold(document, "settings")
    (scope,) = document["scopes"]
    assert (scope["initial"]["speed"], scope["current"]["speed"], scope["change_number"]) == (3, 5, 1)
    assert [change["actor"]["kind"] for change in document["changes"]] == ["user"]
    assert '"speed": 5' in lockgate("settings", run_id).out


@pytest.mark.parametrize(
    ("patch", "code"),
    [
        ('[{"op": "replace", "path": "/name", "value": "y"}]', 5),
        ('[{"op": "replace", "path": "/speed", "value": 10}]', 5),
        ('[{"op": "replace", "path": "/gone", "value": 1}]', 5),
        ('{"op": "replace"}', 5),
        ("[", 2),
    ],
    ids=["not-allowed", "against-the-schema", "no-such-place", "no-patch", "no-json"],
)
def test_a_patch_that_may_not_be_changes_nothing(lockgate: Command, run_id: str, patch: str, code: int) -> None:
    assert lockgate("set", run_id, patch, "--json").code == code
    (scope,) = lockgate("settings", run_id, "--json").document["scopes"]
    assert scope["current"] == {"speed": 3, "name": "x"}


def test_a_change_that_came_in_between_is_refused(lockgate: Command, run_id: str) -> None:
    patch = '[{"op": "replace", "path": "/speed", "value": 5}]'
    assert lockgate("set", run_id, patch, "--expect", "0", "--json").code == 0
    again = '[{"op": "replace", "path": "/speed", "value": 6}]'
    assert lockgate("set", run_id, again, "--expect", "0", "--json").code == 5


def test_a_workflow_without_settings_has_none(lockgate: Command) -> None:
    run = lockgate("start", "plain", "--json").document["run_id"]
    document = lockgate("settings", run, "--json").document
    hold(document, "settings")
    assert document["scopes"] == []
    assert lockgate("set", run, "[]", "--json").code == 5
