"""What a benchmark says: figures with their budgets, and the arithmetic of samples."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured number. `at_most` and `at_least` are its budget, `goal` what we would like; each may be None.

    `rounds` are the values that the figure is the median (or the best) of, `note` says how it was taken.
    """

    name: str
    value: float | None
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    goal: float | None = None
    rounds: tuple[float, ...] = ()
    note: str | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the budget holds; None without a budget, or where the figure could not be taken."""
        if self.value is None or (self.at_most is None and self.at_least is None):
            return None
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )

    def document(self) -> dict[str, Any]:
        shown = {key: _rounded(value) for key, value in asdict(self).items()}
        return {**shown, "pass": self.holds}


@dataclass(frozen=True)
class Report:
    """All figures of one benchmark, with the state of the machine around it."""

    benchmark: str
    figures: tuple[Figure, ...]
    machine: dict[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        return all(figure.holds is not False for figure in self.figures)

    def document(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark,
            "pass": self.holds,
            "figures": [figure.document() for figure in self.figures],
            "machine": self.machine,
        }


def middle(name: str, rounds: Sequence[float], unit: str, **facts: Any) -> Figure:
    """The median of several rounds."""
    return Figure(name=name, value=median(rounds), unit=unit, rounds=tuple(rounds), **facts)


def quantile(samples: Sequence[float], share: float) -> float:
    """The smallest sample that at least `share` of all do not exceed (nearest rank)."""
    ordered = sorted(samples)
    rank = max(1, -(-len(ordered) * round(share * 10_000) // 10_000))
    return ordered[min(rank, len(ordered)) - 1]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, tuple | list):
        return [_rounded(item) for item in value]
    return value
