"""Which files a workflow consists of, by SHA-256."""

import sys
from pathlib import Path

from lockgate.model.encoding import sha256

_OWN = Path(__file__).resolve().parents[1]
_LIBRARIES = {"site-packages", "dist-packages"}


def measure(workflow_file: Path, content: bytes, project_dir: Path) -> dict[str, str]:
    """The workflow's file, as `content` was executed, and every loaded module below the project directory.

    Modules below sys.prefix, a site-packages or a dot directory other than .lockgate are libraries: not ours.
    Keys are absolute paths.
    """
    found = {str(workflow_file): sha256(content)}
    for file in _loaded_files():
        if str(file) not in found and _belongs(file, project_dir):
            try:
                found[str(file)] = sha256(file.read_bytes())
            except OSError:
                continue
    return dict(sorted(found.items()))


def _loaded_files() -> set[Path]:
    files = set()
    for module in list(sys.modules.values()):
        name = getattr(module, "__file__", None)
        if isinstance(name, str) and name.endswith(".py"):
            files.add(Path(name).resolve())
    return files


def _belongs(file: Path, project_dir: Path) -> bool:
    if not file.is_relative_to(project_dir) or file.is_relative_to(_OWN):
        return False
    if Path(sys.prefix).resolve() != project_dir and file.is_relative_to(Path(sys.prefix).resolve()):
        return False
    below = file.relative_to(project_dir).parts[:-1]
    hidden = any(part.startswith(".") and part != ".lockgate" for part in below)
    return not hidden and not _LIBRARIES.intersection(below)
