"""The shape of `progress` updates, which bars and estimates are drawn from."""

from collections.abc import Mapping
from typing import Any

from lockgate.model.errors import PayloadError

STATUSES = (
    "pending",
    "running",
    "waiting",
    "blocked",
    "completed",
    "failed",
    "cancelled",
    "unknown",
)
_TEXTS = {"label": 200, "phase": 128, "unit": 32}
_KNOWN = {"status", "completed", "total", "estimated_finish_at", *_TEXTS}


def check_progress(data: Mapping[str, Any]) -> None:
    """Raises PayloadError with the field, the limit and what was seen."""
    for field in data.keys() - _KNOWN:
        raise PayloadError(f"$.{field}", f"one of {', '.join(sorted(_KNOWN))}", "an unknown field")
    if data.get("status") is not None and data["status"] not in STATUSES:
        raise PayloadError("$.status", f"one of {', '.join(STATUSES)}", repr(data["status"]))
    for field, limit in _TEXTS.items():
        _check_text(data.get(field), f"$.{field}", limit)
    completed, total = _number(data, "completed"), _number(data, "total")
    if completed is not None and completed < 0:
        raise PayloadError("$.completed", "at least 0", str(completed))
    if total is not None and (total <= 0 or (completed or 0) > total):
        raise PayloadError("$.total", "above 0 and not below completed", f"{total} with {completed}")


def _check_text(text: Any, path: str, limit: int) -> None:
    if text is None:
        return
    if not isinstance(text, str) or not 1 <= len(text) <= limit:
        raise PayloadError(path, f"a text of 1 to {limit} characters", repr(text)[:80])


def _number(data: Mapping[str, Any], field: str) -> float | None:
    given = data.get(field)
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise PayloadError(f"$.{field}", "a number", repr(given)[:80])
    return given
