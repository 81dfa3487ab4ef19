"""The one time zone of every screen and every line of text."""

import os
from datetime import UTC, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_SYSTEM = Path("/etc/localtime")


def zone(name: str | None) -> tzinfo:
    """The named zone; None is the system's: of $TZ, else of the machine, else UTC."""
    for candidate in (name, os.environ.get("TZ", "").lstrip(":")):
        if candidate:
            try:
                return ZoneInfo(candidate)
            except (ZoneInfoNotFoundError, ValueError, OSError):
                continue
    try:
        with _SYSTEM.open("rb") as file:
            return ZoneInfo.from_file(file, key="local")
    except (OSError, ValueError):
        return UTC
