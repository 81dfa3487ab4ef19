"""The demo's project is a real one: a repository with a history, tests that pass, and workflows to edit."""

import subprocess
import sys
from pathlib import Path

import pytest

from lockgate.demo import project
from lockgate.demo.project import WORKFLOWS, DemoError, Place, prepare


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "demo")


def git(place: Place, *arguments: str) -> str:
    ran = subprocess.run(["git", *arguments], cwd=place.directory, capture_output=True, text=True, check=True)
    return ran.stdout


def test_the_project_has_a_history_a_release_and_nothing_uncommitted(place: Place) -> None:
    prepare(place)
    assert len(git(place, "log", "--oneline").splitlines()) == 6
    assert git(place, "describe", "--tags", "--abbrev=0").strip() == "v1.3.0"
    assert git(place, "status", "--porcelain") == ""


def test_its_unit_tests_pass(place: Place) -> None:
    prepare(place)
    ran = subprocess.run([sys.executable, "-m", "unittest"], cwd=place.directory, capture_output=True, text=True)
    assert ran.returncode == 0
    assert "Ran 6 tests" in ran.stderr


def test_the_users_git_configuration_does_not_reach_in(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "gitconfig"
    config.write_text("[commit]\n\tgpgSign = true\n[core]\n\thooksPath = /nowhere\n[init]\n\tdefaultBranch = trunk\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    prepare(place)
    assert not (tmp_path / "elsewhere").exists()


def test_what_the_user_edited_stays(place: Place) -> None:
    prepare(place)
    place.workflow("flaky").write_text("# mine\n")
    place.workflow("import").unlink()
    (place.directory / "tally" / "counting.py").unlink()
    prepare(place)
    assert place.workflow("flaky").read_text() == "# mine\n"
    assert place.workflow("import").is_file()
    assert not (place.directory / "tally" / "counting.py").exists()


def test_an_interrupted_demo_is_made_whole(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(directory: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(project, "_make_big_files", interrupted)
        with pytest.raises(KeyboardInterrupt):
            prepare(place)
    assert not place.is_whole
    prepare(place)
    assert place.is_whole
    assert len(git(place, "log", "--oneline").splitlines()) == 6


def test_without_git_nothing_is_made(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DemoError, match="git"):
        prepare(place)
    assert not place.directory.exists()


def test_a_directory_with_other_things_in_it_is_left_alone(place: Place) -> None:
    place.directory.mkdir()
    (place.directory / "thesis.txt").write_text("years of work")
    with pytest.raises(DemoError, match="not empty"):
        prepare(place)
    assert [path.name for path in place.directory.iterdir()] == ["thesis.txt"]


def test_the_demo_is_private(place: Place) -> None:
    prepare(place)
    assert place.directory.stat().st_mode & 0o777 == 0o700
    assert place.home.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_workflow_can_be_started_where_it_was_copied(place: Place, name: str) -> None:
    from lockgate.engine.checking import check

    prepare(place)
    found = check(name, caller=place.directory)
    assert found.name == name
    assert found.project_dir == place.directory
    assert set(found.sources) == {str(place.workflow(name))}


def test_the_first_file_is_a_workflow_and_is_written_once(tmp_path: Path) -> None:
    from lockgate.demo.first_file import write_first_workflow
    from lockgate.engine.checking import check

    path, written = write_first_workflow(tmp_path)
    assert written
    assert check("hello", caller=tmp_path).file == path
    assert write_first_workflow(tmp_path) == (path, False)
