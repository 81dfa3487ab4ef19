"""What a process loads: a command, a worker or a workflow file never pays for rooms that it does not use."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

HEAVY = ("textual", "rich", "jsonschema", "jsonpatch", "rfc8785", "asyncinotify")


def loaded_by(code: str, *arguments: str, cwd: Path = ROOT) -> frozenset[str]:
    """The names in sys.modules of a fresh interpreter after it ran the code."""
    report = "\nimport sys as _s; print('MODULES', *_s.modules, file=_s.stderr)"
    ran = subprocess.run(
        [sys.executable, "-c", code + report, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    line = next(line for line in ran.stderr.splitlines() if line.startswith("MODULES "))
    return frozenset(line.split()[1:])


def rooms(modules: frozenset[str]) -> frozenset[str]:
    return frozenset(name.split(".")[1] for name in modules if name.startswith("lockgate."))


def imports_of(room: str) -> str:
    """Code that imports every module of a room."""
    place = ROOT / "src" / "lockgate" / room
    names = [
        ".".join(("lockgate", room, *path.relative_to(place).with_suffix("").parts)).removesuffix(".__init__")
        for path in sorted(place.rglob("*.py"))
        if path.name != "__main__.py" and not {"sample", "workflows", "first"} & set(path.relative_to(place).parts)
    ]
    return "\n".join(f"import {name}" for name in names)


@pytest.mark.parametrize(
    ("room", "never"),
    [
        ("model", ("sqlite3", "asyncio", "click", *HEAVY)),
        ("flow", ("sqlite3", "aiosqlite", "asyncio", "click", "textual", "rich")),
        ("config", ("sqlite3", "asyncio", "click", *HEAVY)),
        ("engine", ("sqlite3", "aiosqlite", "click", "textual", "rich")),
        ("store", ("click", "textual", "rich")),
        ("view", ("click", "textual", "rich")),
        ("host", ("click", "textual", "rich")),
        ("cli", ("textual", "rich", "jsonschema", "jsonpatch", "asyncinotify", "aiosqlite")),
        ("demo", ("sqlite3", "click", "textual", "rich")),
    ],
)
def test_a_headless_room_stays_headless(room: str, never: tuple[str, ...]) -> None:
    assert loaded_by(imports_of(room)) & set(never) == frozenset()


def test_a_workflow_file_loads_flow_and_model_only() -> None:
    modules = loaded_by("from lockgate import Workflow, compute, edge, human_decision")
    assert rooms(modules) == {"flow", "model"}
    assert modules & {"sqlite3", "asyncio", "click", *HEAVY} == frozenset()


def test_a_worker_never_loads_the_database_the_schemas_or_the_screen() -> None:
    modules = loaded_by("import lockgate.host.worker")
    assert rooms(modules) <= {"host", "engine", "flow", "model"}
    assert modules & {"sqlite3", "aiosqlite", "jsonschema", "click", "textual", "rich"} == frozenset()


def test_the_command_line_itself_loads_no_store_and_no_screen() -> None:
    modules = loaded_by("import lockgate.cli.app")
    assert rooms(modules) <= {"cli", "config", "model"}
    assert modules & {"sqlite3", "asyncio", *HEAVY} == frozenset()


MAKE_STORE = """
import sys
from pathlib import Path
from lockgate.store.once import write_once
write_once(Path(sys.argv[1]), lambda tx: None, create=True)
"""
LIST_RUNS = "import sys; from lockgate.cli.app import run; run(['runs', '--json', '--db', sys.argv[1]])"


def test_a_list_of_runs_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    store = str(tmp_path / "store" / "state.sqlite")
    loaded_by(MAKE_STORE, store)
    modules = loaded_by(LIST_RUNS, store)
    assert "lockgate.store.reads.runs" in modules
    assert modules & {"asyncio", "aiosqlite", *HEAVY} == frozenset()
