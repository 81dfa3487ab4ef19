"""What a wheel holds: everything that runs, and nothing that was only needed to build it."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("build")
pytest.importorskip("hatchling")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    target = tmp_path_factory.mktemp("wheel")
    ran = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target), str(ROOT)],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (wheel,) = target.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return frozenset(archive.namelist())


def test_the_style_sheets_lie_in_the_tui(names: frozenset[str]) -> None:
    sheets = {f"lockgate/tui/css/{path.name}" for path in (ROOT / "css").glob("*.tcss")}
    assert sheets
    assert sheets <= names


def test_every_file_of_the_package_is_in_the_wheel(names: frozenset[str]) -> None:
    package = ROOT / "src" / "lockgate"
    files = {
        f"lockgate/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and path.suffix in {".py", ".sql", ".json", ".typed", ".csv", ".md"}
    }
    assert "lockgate/py.typed" in files
    assert any(name.endswith(".sql") for name in files)
    assert files <= names


def test_the_demo_brings_its_project(names: frozenset[str]) -> None:
    assert {"lockgate/demo/sample/gitignore", "lockgate/demo/workflows/release.py"} <= names


def test_no_test_and_no_cache_is_shipped(names: frozenset[str]) -> None:
    assert not [name for name in names if name.startswith("tests/") or "__pycache__" in name]
