"""Live settings of a workflow, as authors declare them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from lockgate.flow.authoring.nodes import Callback
from lockgate.flow.authoring.shapes import schema as checked_schema
from lockgate.flow.patches import MAX_SETTINGS_BYTES, SettingsRule, split_pointer
from lockgate.model.encoding import checked
from lockgate.model.errors import DefinitionError, PayloadError
from lockgate.model.statuses import ActorKind

_ACTORS = (ActorKind.HUMAN, ActorKind.USER)
"""Who changes settings: a person at a terminal, or whoever types a command."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What `settings(...)` makes; `compute` gives the initial value where it depends on the input."""

    initial: Any
    schema: dict[str, Any] | bool | None
    rules: tuple[SettingsRule, ...]
    compute: Callback | None = None


def settings(initial: Any, *, schema: Any = None, rules: Iterable[SettingsRule] = ()) -> Settings:
    """A JSON value that people may change while the run goes on; each attempt keeps what it saw.

    `initial` is the value, or a function of the input that gives it when a run is started or restarted, within
    30 s; of an include, each time that it is entered. `schema` is the JSON Schema that it and every change must
    meet; there is no function for that, since whoever changes settings does not load the workflow's file. `rules`
    say who may change what: without a rule nobody may. The value has at most 256 KiB.
    """
    content = b"null"
    try:
        if not callable(initial):
            content = checked(initial, limit=MAX_SETTINGS_BYTES, root="$settings")
    except PayloadError as problem:
        raise DefinitionError(f"the initial settings: {problem.message}") from problem
    given = tuple(rules)
    for rule in given:
        if not isinstance(rule, SettingsRule):
            raise DefinitionError(f"a settings rule is made by allow, got {rule!r}")
    paths = [rule.path for rule in given]
    for path in paths:
        if paths.count(path) > 1:
            raise DefinitionError(f"two settings rules for the path {path!r}")
    return Settings(
        initial=msgspec.json.decode(content),
        schema=checked_schema(schema, "the schema of settings"),
        rules=given,
        compute=initial if callable(initial) else None,
    )


def allow(
    path: str,
    *,
    read: Iterable[str] = (),
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
    replace: Iterable[str] = (),
) -> SettingsRule:
    """Allows the actors `human` and `user` to do so at `path` (RFC 6901, "" is everything) and below it."""
    try:
        split_pointer(path, "path")
    except PayloadError as problem:
        raise DefinitionError(f"a settings rule: {problem.message}") from problem
    return SettingsRule(path, _actors(read), _actors(add), _actors(remove), _actors(replace))


def _actors(given: Iterable[str]) -> tuple[ActorKind, ...]:
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if name not in _ACTORS:
            raise DefinitionError(f"settings are changed by human or user, not by {name!r}")
    return tuple(ActorKind(name) for name in names)
