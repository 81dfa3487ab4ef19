"""Which node of a workflow file a place in its text belongs to.

A constructor that refuses its arguments does not know the node that it was to become; the text does.
"""

import ast
import traceback
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

_OWN = Path(__file__).resolve().parents[1]


def place_of(problem: BaseException, file: Path) -> tuple[int, int]:
    """The line (from 1) and column (from 0, in bytes) of the file at which the error passed through last."""
    frames = traceback.extract_tb(problem.__traceback__)
    frame = next((frame for frame in reversed(frames) if frame.filename == str(file)), None)
    return (0, 0) if frame is None else (frame.lineno or 0, getattr(frame, "colno", None) or 0)


def other_file(problem: BaseException, file: Path, root: Path) -> tuple[Path, tuple[int, int]] | None:
    """The imported file of the project from which the error came, and the place in it; None where it came from
    `file` itself."""
    frames = traceback.extract_tb(problem.__traceback__)
    for frame in reversed(frames):
        path = Path(frame.filename)
        if path == file or (path.is_relative_to(root) and not path.is_relative_to(_OWN)):
            place = (frame.lineno or 0, getattr(frame, "colno", None) or 0)
            return None if path == file else (path, place)
    return None


def import_circle(problem: BaseException) -> list[str]:
    """The files, by name, that import each other where it failed for that; empty where it is no circle."""
    if not isinstance(problem, ImportError | AttributeError) or "partially initialized module" not in str(problem):
        return []
    frames = traceback.extract_tb(problem.__traceback__)
    files = [file for file, _ in groupby(frame.filename for frame in frames if frame.filename[:1] != "<")]
    for end, file in enumerate(files):
        start = files.index(file)
        if start < end:
            return [Path(each).name for each in files[start : end + 1]]
    return []


def node_at(content: bytes, place: tuple[int, int]) -> str | None:
    """The id of the node whose value in `nodes={...}` covers the place, None where the text does not say."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return None
    for key, value in _entries(tree):
        end = (value.end_lineno or value.lineno, value.end_col_offset or 0)
        if (value.lineno, value.col_offset) <= place < end:
            return key
    return None


def _entries(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        for keyword in call.keywords:
            if keyword.arg == "nodes" and isinstance(keyword.value, ast.Dict):
                for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield key.value, value
