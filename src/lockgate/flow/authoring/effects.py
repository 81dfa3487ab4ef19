"""How a side effect may be repeated when its outcome is not known."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from lockgate.flow.authoring.shapes import function
from lockgate.flow.graph import EffectSpec
from lockgate.model.errors import DefinitionError
from lockgate.model.ids import EFFECT_TYPE
from lockgate.model.statuses import Recovery


@dataclass(frozen=True, slots=True)
class Effect:
    """A declared side effect; `verify(ctx)` is there for verified ones."""

    type: str
    recovery: Recovery
    verify: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.type, str) or EFFECT_TYPE.fullmatch(self.type) is None:
            raise DefinitionError(f"an effect type must match {EFFECT_TYPE.pattern}, got {self.type!r}")

    @property
    def spec(self) -> EffectSpec:
        return EffectSpec(type=self.type, recovery=self.recovery)


def idempotent(type: str) -> Effect:
    """Doing it twice is as good as once: after a loss it is done again."""
    return Effect(type, Recovery.IDEMPOTENT)


def verified(type: str, *, verify: Callable[..., Any]) -> Effect:
    """After a loss `verify(ctx)` is asked first and returns `happened(output)` or `not_happened`.

    Anything else, an exception too, makes the effect ambiguous: a person says what became of it.
    """
    return Effect(type, Recovery.VERIFIED, function(verify, "verify"))


def manual(type: str) -> Effect:
    """Never repeated by itself: after a loss a person says whether it happened."""
    return Effect(type, Recovery.MANUAL)


@dataclass(frozen=True, slots=True)
class Happened:
    """What a verify function returns for an effect that took place; `output` becomes the node's output."""

    output: Any = None


@dataclass(frozen=True, slots=True)
class NotHappened:
    """What a verify function returns for an effect that did not take place."""


def happened(output: Any = None) -> Happened:
    """The effect took place, and this is what its node would have returned."""
    return Happened(output)


not_happened: Final = NotHappened()
"""The effect did not take place: the node runs again."""
