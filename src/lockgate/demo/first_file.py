"""The first workflow file, which `lockgate init` puts where a user can edit it."""

from importlib.resources import files
from pathlib import Path

_HOME = Path(".lockgate") / "workflows"


def write_first_workflow(directory: Path) -> tuple[Path, bool]:
    """Gives the file's path and whether it was written; a file of that name that is there stays as it is."""
    target = directory / _HOME / "hello.py"
    if target.exists():
        return target, False
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes((files("lockgate.demo") / "first" / "hello.py").read_bytes())
    return target, True
