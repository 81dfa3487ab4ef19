"""Progress of a step from its updates: how far, how fast, when done, and how sure.

An epoch is a stretch of comparable samples: it begins anew when phase, unit or total change, when the count
falls, or when a finished progress goes on. The rate is the median over the last eight intervals of the epoch.
Rules and limits are those of the reference system's `progress` record.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from lockgate.model.errors import PayloadError

TYPE = "progress"
STATUSES = ("pending", "running", "waiting", "blocked", "completed", "failed", "cancelled", "unknown")
_ENDED = ("completed", "failed", "cancelled")
_HELD = ("waiting", "blocked")
_INTERVALS = 8
_LONGEST_MS = 100 * 365 * 86_400_000
"""Counts may be any numbers; of what would take more than a century nothing is said."""
_FIELDS = {
    "status",
    "label",
    "phase",
    "completed",
    "total",
    "unit",
    "source_updated_at",
    "source_estimated_finish_at",
}


class Progress(Struct, frozen=True, kw_only=True):
    """One published state. Counts are numbers of `unit`; times are epoch milliseconds."""

    status: str
    label: str | None = None
    phase: str | None = None
    completed: float | None = None
    total: float | None = None
    unit: str | None = None
    source_updated_at: int | None = None
    source_finish_at: int | None = None


class Sample(Struct, frozen=True, kw_only=True):
    at: int
    progress: Progress


class Estimate(Struct, frozen=True, kw_only=True):
    """`remaining_ms` with its likely range; `confidence` low, medium, high, or source for the step's own word."""

    remaining_ms: int
    earliest_ms: int
    latest_ms: int
    confidence: str
    rate_per_s: float | None


def read_progress(data: Any) -> Progress:
    """The progress in an update's data. Raises PayloadError naming the field, its limit and what was seen."""
    if not isinstance(data, dict):
        raise PayloadError("$", "a progress object", f"a {type(data).__name__}")
    unknown = set(data) - _FIELDS
    if unknown:
        raise PayloadError(f"$.{min(unknown)}", f"one of {', '.join(sorted(_FIELDS))}", "an unknown field")
    if data.get("status") not in STATUSES:
        raise PayloadError("$.status", f"one of {', '.join(STATUSES)}", repr(data.get("status"))[:80])
    completed, total = _count(data, "completed"), _count(data, "total")
    if total is not None and total <= 0:
        raise PayloadError("$.total", "more than 0", str(total))
    if total is not None and completed is not None and completed > total:
        raise PayloadError("$.completed", f"at most the total {total}", str(completed))
    unit = _text(data, "unit", 32)
    if unit is None and (completed is not None or total is not None):
        raise PayloadError("$.unit", "1 to 32 printable characters with counts", "nothing")
    return Progress(
        status=data["status"],
        label=_text(data, "label", 200),
        phase=_text(data, "phase", 128),
        completed=completed,
        total=total,
        unit=unit,
        source_updated_at=_time(data, "source_updated_at"),
        source_finish_at=_time(data, "source_estimated_finish_at"),
    )


def estimate(samples: Sequence[Sample], now_ms: int) -> Estimate | None:
    """How long it will still take, from samples in order of time; None where nothing can be said, or nothing sane."""
    if not samples:
        return None
    last = samples[-1].progress
    if last.status in _ENDED or last.status in _HELD:
        return None
    if last.source_finish_at is not None and last.source_finish_at > now_ms:
        left = last.source_finish_at - now_ms
        return Estimate(remaining_ms=left, earliest_ms=left, latest_ms=left, confidence="source", rate_per_s=None)
    rates = _rates(_epoch(samples))
    if not rates or last.total is None or last.completed is None:
        return None
    # It brings fractions and decimals along: only who estimates pays for that.
    from statistics import median

    rate = median(rates)
    left_units = last.total - last.completed
    if not 0 < rate * 1000 < math.inf or left_units / rate > _LONGEST_MS:
        return None
    low, high = _quartiles(rates)
    since = max(0, now_ms - samples[-1].at)
    return Estimate(
        remaining_ms=_left(left_units, rate, since),
        earliest_ms=_left(left_units, high, since),
        latest_ms=_left(left_units, low if low > 0 else rate, since),
        confidence=_confidence(rates, rate, low, high),
        rate_per_s=rate * 1000,
    )


def _epoch(samples: Sequence[Sample]) -> list[Sample]:
    """The newest comparable stretch; held samples stay out, their time is not work."""
    kept: list[Sample] = []
    for sample in samples:
        if kept and _breaks(kept[-1].progress, sample.progress):
            kept = []
        if sample.progress.completed is not None:
            kept.append(sample)
    return kept


def _breaks(before: Progress, after: Progress) -> bool:
    if (before.phase, before.unit, before.total) != (after.phase, after.unit, after.total):
        return True
    if before.status in _ENDED and after.status not in _ENDED:
        return True
    return before.completed is not None and after.completed is not None and after.completed < before.completed


def _rates(samples: Sequence[Sample]) -> list[float]:
    """Units per millisecond of the last intervals in which work could go on."""
    rates = []
    for before, after in pairwise(samples):
        held = before.progress.status in _HELD
        if after.at > before.at and not held:
            done = (after.progress.completed or 0) - (before.progress.completed or 0)
            rates.append(done / (after.at - before.at))
    return rates[-_INTERVALS:]


def _quartiles(rates: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(rates)

    def at(share: float) -> float:
        place = share * (len(ordered) - 1)
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    return at(0.25), at(0.75)


def _confidence(rates: Sequence[float], middle: float, low: float, high: float) -> str:
    spread = (high - low) / middle
    if len(rates) >= 5 and spread <= 0.25:
        return "high"
    if len(rates) >= 2 and spread <= 0.5:
        return "medium"
    return "low"


def _left(units: float, rate: float, since_ms: int) -> int:
    return max(0, round(min(units / rate, _LONGEST_MS)) - since_ms)


def _count(data: dict[str, Any], name: str) -> float | None:
    value = data.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise PayloadError(f"$.{name}", "a number of at least 0", repr(value)[:80])
    return value


def _text(data: dict[str, Any], name: str, limit: int) -> str | None:
    value = data.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not 1 <= len(value) <= limit or not value.isprintable():
        raise PayloadError(f"$.{name}", f"1 to {limit} printable characters", repr(value)[:80])
    return value


def _time(data: dict[str, Any], name: str) -> int | None:
    value = data.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise PayloadError(f"$.{name}", "epoch milliseconds", repr(value)[:80])
    return value
