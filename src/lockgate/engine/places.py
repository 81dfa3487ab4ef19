"""Where workflows are found, and which directory a run belongs to."""

import re
from collections.abc import Iterator
from pathlib import Path

from lockgate.model.errors import DefinitionError, NotFound

HOME = Path(".lockgate") / "workflows"
_MARKS = (".lockgate", ".git")
_NAMED = re.compile(r"\bWorkflow\(\s*(?:name\s*=\s*)?[\"']([^\"'\n]+)[\"']")


def project_dir(file: Path, caller: Path) -> Path:
    """The nearest parent of the workflow file that has .lockgate or .git, else the caller's directory."""
    for parent in file.resolve().parents:
        if any((parent / mark).exists() for mark in _MARKS):
            return parent
    return caller.resolve()


def split_reference(reference: str) -> tuple[str, str | None]:
    """`file.py[:name]` as (file, name); a bare workflow name comes back with None, without `.py`."""
    file, colon, name = reference.rpartition(":")
    if colon and file.endswith(".py"):
        return file, name
    return reference, None


def is_file_reference(reference: str) -> bool:
    return reference.endswith(".py") or "/" in reference


def existing(reference: str, caller: Path) -> Path:
    """The file that a reference names, absolute. Raises NotFound, DefinitionError for one that is no .py."""
    path = (caller / reference).resolve()
    if not path.is_file():
        raise NotFound("workflow file", reference)
    if path.suffix != ".py":
        raise DefinitionError("a workflow file has the suffix .py", file=str(path))
    return path


def shelves(caller: Path, data_dir: Path | None) -> Iterator[Path]:
    """The directories in which a workflow name is looked up, in order."""
    here = caller.resolve()
    for parent in (here, *here.parents):
        if (parent / HOME).is_dir():
            yield parent / HOME
            break
    if data_dir is not None and (data_dir / "workflows").is_dir():
        yield data_dir / "workflows"


def mentioning(shelf: Path, name: str) -> tuple[Path, ...]:
    """The files of a shelf whose text has the name at all: only these are worth loading."""
    return tuple(file for file in sorted(shelf.glob("*.py")) if name in _text(file))


def names_on(shelf: Path) -> tuple[str, ...]:
    """The workflow names that a shelf's files seem to have, for the advice after a miss."""
    found = {name for file in sorted(shelf.glob("*.py")) for name in _NAMED.findall(_text(file))}
    return tuple(sorted(found))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
