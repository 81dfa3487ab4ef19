"""The rooms import downwards only, as the contracts of pyproject.toml say."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("importlinter")

ROOT = Path(__file__).resolve().parents[2]


def test_every_import_contract_is_kept() -> None:
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_no_room_but_the_demo_imports_the_public_package() -> None:
    rooms = ROOT / "src" / "lockgate"
    offenders = [
        str(path.relative_to(ROOT))
        for path in rooms.rglob("*.py")
        if path.relative_to(rooms).parts[0] != "demo"
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith(("from lockgate import", "import lockgate"))
    ]
    assert offenders == []
