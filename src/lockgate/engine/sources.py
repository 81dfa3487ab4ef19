"""Which files a workflow consists of, by SHA-256."""

import os.path
import sys
from pathlib import Path

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


def _loaded_below(root: str) -> set[str]:
    """The source files of modules below a directory. A directory is resolved once, however many modules it has."""
    real: dict[str, str | None] = {}
    files = set()
    for module in list(sys.modules.values()):
        name = getattr(module, "__file__", None)
        if not isinstance(name, str) or not name.endswith(".py"):
            continue
        directory, file = os.path.split(name)
        if directory not in real:
            found = os.path.realpath(directory)
            real[directory] = found if _belongs(found, root) else None
        place = real[directory]
        if place is not None:
            files.add(os.path.join(place, file))
    return files


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
