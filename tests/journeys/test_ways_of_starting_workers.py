"""A host forks its workers, or starts a Python for each where that is wished: by flag or by setting."""

import sys
from pathlib import Path

import pytest

from tests.journeys.conftest import Home

WORKFLOW = """
import os
from lockgate import Workflow, compute
parent = Workflow("parent", start="n", nodes={"n": compute(
    lambda ctx: open(f"/proc/{os.getppid()}/cmdline").read().split(chr(0)))})
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is one way")
@pytest.mark.parametrize(
    ("flag", "setting", "parent"),
    [(None, None, "lockgate.host.zygote"), ("--no-fork-server", None, "host"), (None, "off", "host")],
)
def test_the_parent_of_a_worker(tmp_path: Path, home: Home, flag: str | None, setting: str | None, parent: str) -> None:
    if setting is not None:
        home.environment["LOCKGATE_FORK_SERVER"] = setting
    (tmp_path / "parent.py").write_text(WORKFLOW)
    run_id = home.json("start", "parent.py")["run_id"]
    home.call("host", "--drain", *([flag] if flag else []))
    assert parent in home.json("show", run_id)["output"]
