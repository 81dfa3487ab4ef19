"""What people hand over as JSON: the text itself, `@FILE`, or `-` for stdin."""

import sys
from pathlib import Path
from typing import Any

import click

from lockgate.model.encoding import MAX_VALUE_BYTES, parsed


def json_value(given: str, *, limit: int = MAX_VALUE_BYTES) -> Any:
    """The value, checked by the payload rules before anything else happens.

    Raises PayloadError with the JSON path, and UsageError for a file that cannot be read. Reads one byte more
    than the limit and no further, so that an endless stdin is refused like a big one.
    """
    if given == "-":
        return parsed(sys.stdin.buffer.read(limit + 1), limit=limit)
    if given.startswith("@"):
        return parsed(_start_of(Path(given[1:]), limit + 1), limit=limit)
    return parsed(given, limit=limit)


def _start_of(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(limit)
    except (OSError, ValueError) as error:
        raise click.UsageError(f"@{path}: {getattr(error, 'strerror', None) or error}") from error
