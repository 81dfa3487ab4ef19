"""Makes the demo's project: a git repository with a Python package, its unit tests, data and workflows."""

import os
import random
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

WORKFLOWS = ("handover", "flaky", "import", "cleanup", "release")
"""The demo's workflows in the order in which they are started: the newest run is the first that people see."""

_HISTORY: Sequence[tuple[str, Sequence[str]]] = (
    (
        "Count lines, words and letters",
        ("README.md", ".gitignore", "tally/__init__.py", "tally/counting.py", "tests/__init__.py"),
    ),
    ("Test what is counted", ("tests/test_counting.py",)),
    ("Find the longest line", ("tally/longest.py", "tests/test_longest.py")),
    ("Run as python -m tally", ("tally/__main__.py",)),
    ("Keep the orders of November", ("data/orders.csv",)),
    ("Describe the work as workflows", (".lockgate/workflows",)),
)
_RELEASED = 2
"""How many commits of the history the tag v1.3.0 has."""

_BIG_FILES = {"var/cache/thumbnails.bin": 420_000, "var/cache/index.bin": 260_000, "var/log/old.log": 180_000}


_BEGUN, _WHOLE = "begun\n", "whole\n"


class DemoError(Exception):
    """The demo cannot be made; nothing was."""


@dataclass(frozen=True)
class Place:
    """Where a demo lives."""

    directory: Path

    @property
    def home(self) -> Path:
        return self.directory / ".lockgate"

    @property
    def store(self) -> Path:
        return self.home / "state.sqlite"

    @property
    def workflows(self) -> Path:
        return self.home / "workflows"

    @property
    def host_log(self) -> Path:
        return self.home / "host.log"

    def workflow(self, name: str) -> Path:
        return self.workflows / f"{name}.py"

    @property
    def mark(self) -> Path:
        """Written first; its text says when the project is whole."""
        return self.home / "demo"

    @property
    def is_whole(self) -> bool:
        return self.mark.is_file() and self.mark.read_text() == _WHOLE


def check(place: Place) -> None:
    """Raises DemoError without git, or where the directory has other things in it; makes nothing."""
    if shutil.which("git") is None:
        raise DemoError("the demo needs git, and there is no git on the PATH")
    directory = place.directory
    if directory.exists() and not directory.is_dir():
        raise DemoError(f"{directory} is not a directory: name another with --dir")
    if directory.exists() and not place.mark.is_file() and any(directory.iterdir()):
        raise DemoError(f"{directory} is not empty and holds no demo: name another directory with --dir")


def prepare(place: Place) -> None:
    """Makes the project, or what is missing of it: files that are there, edited or not, stay as they are.

    Raises DemoError, before anything is made, where `check` does.
    """
    check(place)
    directory = place.directory
    for path in (directory, place.home):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if place.is_whole:
        _copy(files("lockgate.demo") / "workflows", place.workflows)
        return
    place.mark.write_text(_BEGUN)
    _copy(files("lockgate.demo") / "sample", directory)
    _copy(files("lockgate.demo") / "workflows", place.workflows)
    # What an interrupted demo left of the history is no history.
    shutil.rmtree(directory / ".git", ignore_errors=True)
    _commit_history(directory)
    _make_big_files(directory)
    place.mark.write_text(_WHOLE)


def _copy(source: Traversable, target: Path) -> None:
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        for item in source.iterdir():
            if item.name != "__pycache__":
                _copy(item, target / (".gitignore" if item.name == "gitignore" else item.name))
    elif not target.exists():
        target.write_bytes(source.read_bytes())


def _commit_history(directory: Path) -> None:
    """A history of small commits, the first of them released."""
    _git(directory, "init", "--quiet", "--initial-branch=main")
    for name, value in (
        ("user.name", "Lockgate demo"),
        ("user.email", "demo@localhost"),
        ("commit.gpgSign", "false"),
        ("tag.gpgSign", "false"),
        ("core.hooksPath", os.devnull),
    ):
        _git(directory, "config", name, value)
    for number, (subject, paths) in enumerate(_HISTORY, start=1):
        _git(directory, "add", "--", *paths)
        _git(directory, "commit", "--quiet", "--message", subject)
        if number == _RELEASED:
            _git(directory, "tag", "--annotate", "v1.3.0", "--message", "v1.3.0")


def _git(directory: Path, *arguments: str) -> None:
    """git with the user's own configuration left out: templates and signing keys do not belong in a demo."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TEMPLATE_DIR": ""}
    ran = subprocess.run(
        ["git", *arguments], cwd=directory, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    if ran.returncode != 0:
        raise DemoError(f"git {arguments[0]} failed in {directory}: {ran.stderr.strip()[:500]}")


def _make_big_files(directory: Path) -> None:
    for name, size in _BIG_FILES.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(random.Random(name).randbytes(size))
