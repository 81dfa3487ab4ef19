"""Which files a workflow consists of, by SHA-256."""

import os.path
import sys
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path
from types import ModuleType

from lockgate.model.encoding import sha256

_OWN = os.path.join(Path(__file__).resolve().parents[1], "")
_LIBRARIES = {"site-packages", "dist-packages"}


def measure(workflow_file: Path, content: bytes, project_dir: Path) -> dict[str, str]:
    """The workflow's file, as `content` was executed, and every loaded module below the project directory.

    Modules below sys.prefix, a site-packages or a dot directory other than .lockgate are libraries: not ours.
    Keys are absolute paths.
    """
    found = {str(workflow_file): sha256(content)}
    for file in _loaded_below(os.path.realpath(project_dir)):
        if file not in found:
            try:
                found[file] = sha256(Path(file).read_bytes())
            except OSError:
                continue
    return dict(sorted(found.items()))


_seen: set[str] = set()
_seen_files: dict[str, set[str]] = {}


def remember() -> None:
    """Looks at the modules that are loaded now, so that `measure`, also in a fork, looks only at those that come.

    Before any code of a user has run: what that puts in the place of a module would not be seen.
    """
    _seen.update(sys.modules)
    _seen_files.update(_files_of(sys.modules.copy().values()))


def _loaded_below(root: str) -> set[str]:
    """The source files of modules below a directory."""
    new = _files_of(_newcomers())
    places = [place for files in (_seen_files, new) for place in files.items()]
    return {os.path.join(directory, file) for directory, names in places if _belongs(directory, root) for file in names}


def _newcomers() -> Iterator[ModuleType]:
    """From the last module back to the first remembered one: a fork has no page of the others to copy for it."""
    for name in takewhile(lambda name: name not in _seen, reversed(list(sys.modules))):
        module = sys.modules.get(name)
        if module is not None:
            yield module


def _files_of(modules: Iterable[ModuleType]) -> dict[str, set[str]]:
    """Source files by their real directory. A directory is resolved once, however many modules it has."""
    real: dict[str, str] = {}
    found: dict[str, set[str]] = {}
    for module in modules:
        name = getattr(module, "__file__", None)
        if not isinstance(name, str) or not name.endswith(".py"):
            continue
        directory, file = os.path.split(name)
        if directory not in real:
            real[directory] = os.path.realpath(directory)
        found.setdefault(real[directory], set()).add(file)
    return found


def _belongs(directory: str, root: str) -> bool:
    inside = os.path.join(directory, "")
    if not inside.startswith(os.path.join(root, "")) or inside.startswith(_OWN):
        return False
    prefix = os.path.realpath(sys.prefix)
    if prefix != root and inside.startswith(os.path.join(prefix, "")):
        return False
    below = os.path.relpath(directory, root).split(os.sep)
    hidden = any(part.startswith(".") and part not in (".", ".lockgate") for part in below)
    return not hidden and not _LIBRARIES.intersection(below)
