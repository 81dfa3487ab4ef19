"""Values against the JSON Schemas of their definitions, the one way for every door; the library is loaded only
where there is a schema.

A schema that refers to another document is never fetched: what it names must be in it.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from lockgate.flow.graph import Graph
from lockgate.model.encoding import stored
from lockgate.model.errors import DefinitionError, Refused
from lockgate.model.records import Record

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Schema = dict[str, Any] | bool
_SHOWN = 160
_MOST_ERRORS = 64
"""A large value may be wrong in a million places; one of the first is told."""
_NAMING = ("required", "dependentRequired", "additionalProperties", "unevaluatedProperties")


class Mismatch(Record, frozen=True, kw_only=True):
    """The first thing in a value that does not fit: its JSON path, the keyword with its limit, and what was seen."""

    path: str
    limit: str
    observed: str
    reason: str


def check_schemas(graph: Graph, inputs: Mapping[str, Any], file: str | None = None) -> None:
    """Raises DefinitionError for a schema that is none, and for what is fixed and breaks its own: initial settings,
    and `inputs`, what an include is always given."""
    _check(graph.input, "the schema of the input", file)
    for node, spec in graph.nodes.items():
        value = "input" if node in graph.mounts else "output"
        _check(spec.contract, f"the schema of its {value}", file, node)
        if node in inputs:
            _check_fixed(spec.contract, inputs[node], "its input", file, node)
    every = [(graph.settings, "settings" in graph.computed)]
    every += [(mount.settings, mount.computed) for mount in graph.mounts.values()]
    for settings, is_computed in every:
        if settings is not None:
            _check(settings.schema, "the schema of the settings", file)
            if not is_computed:
                _check_fixed(settings.schema, settings.initial, "the initial settings", file)


def meet(schema: Schema | None, value: Any, code: str) -> None:
    """Raises Refused `code` naming path, limit and what was seen; without a schema every value fits."""
    problem = mismatch(schema, value)
    if problem is not None:
        raise refusal(problem, code)


def refusal(problem: Mismatch, code: str) -> Refused:
    facts = {"field": problem.path, "limit": problem.limit, "observed": problem.observed}
    return Refused(code, f"{problem.path}: {problem.reason}", **facts)


def mismatch(schema: Schema | None, value: Any) -> Mismatch | None:
    """What does not fit, or None. A schema that cannot be applied fits nothing, and the mismatch says why."""
    if schema is None or schema is True:
        return None
    import jsonschema
    from referencing.exceptions import Unresolvable

    try:
        errors = list(islice(_validator(stored(schema)).iter_errors(value), _MOST_ERRORS))
        # The first one of the outermost; of the branches of an anyOf the library knows which was meant.
        outermost = sorted(errors, key=lambda error: len(error.absolute_path))[:1]
        problem = jsonschema.exceptions.best_match(outermost)
    except Unresolvable as unresolved:
        reason = f"the schema refers to {unresolved.ref!r}, which is not in it"
        return Mismatch(path="$", limit=f"$ref {unresolved.ref}", observed=_short(value), reason=reason)
    except RecursionError:
        reason = "the schema refers to itself without end"
        return Mismatch(path="$", limit="$ref", observed=_short(value), reason=reason)
    if problem is None:
        return None
    keyword, observed = problem.validator or "", _short(problem.instance)
    limit = f"{keyword} {_short(problem.validator_value)}" if keyword else "false (nothing fits)"
    # Which name is missing or unknown, only the library's own words say.
    says_more = keyword in _NAMING and len(problem.message) <= _SHOWN
    reason = f"{problem.message if says_more else limit}, got {observed}"
    return Mismatch(path=problem.json_path, limit=limit, observed=observed, reason=reason)


def _check_fixed(schema: Schema | None, value: Any, what: str, file: str | None, node: str | None = None) -> None:
    problem = mismatch(schema, value)
    if problem is not None:
        raise DefinitionError(f"{what} at {problem.path}: {problem.reason}", file=file, node=node)


def _check(schema: Schema | None, what: str, file: str | None, node: str | None = None) -> None:
    if not isinstance(schema, dict):
        return
    import jsonschema

    if not isinstance(schema.get("$schema", ""), str):
        reason = f"{what} at $['$schema']: the name of a dialect, got {_short(schema['$schema'])}"
        raise DefinitionError(reason, file=file, node=node)
    try:
        _validator(stored(schema))
    except jsonschema.SchemaError as problem:
        reason = f"{what} at {problem.json_path}: {problem.message[:300]}"
        raise DefinitionError(reason, file=file, node=node) from problem
    lost = _lost_reference(schema)
    if lost is not None:
        raise DefinitionError(f"{what} refers to {lost!r}, which is not in it", file=file, node=node)


def _lost_reference(schema: dict[str, Any]) -> str | None:
    """A reference that leads nowhere: with it no value would ever fit."""
    from referencing import Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012, EMPTY_REGISTRY

    whole: Resource[Any] = Resource.from_contents(schema, default_specification=DRAFT202012)
    places, seen = [(whole, EMPTY_REGISTRY.resolver_with_root(whole))], set[int]()
    while places:
        part, resolver = places.pop()
        if id(part.contents) in seen or not isinstance(part.contents, dict):
            continue
        seen.add(id(part.contents))
        places += [(sub, resolver.in_subresource(sub)) for sub in part.subresources()]
        for keyword in ("$ref", "$dynamicRef"):
            if isinstance(reference := part.contents.get(keyword), str):
                try:
                    found = resolver.lookup(reference)
                except Unresolvable:
                    return reference
                places.append((Resource.from_contents(found.contents, DRAFT202012), found.resolver))
    return None


@lru_cache(maxsize=64)
def _validator(schema: bytes) -> "Validator":
    """Raises jsonschema.SchemaError for what is no schema."""
    import jsonschema
    from referencing.jsonschema import EMPTY_REGISTRY

    made = msgspec.json.decode(schema)
    kind = jsonschema.validators.validator_for(made, default=jsonschema.Draft202012Validator)
    kind.check_schema(made)
    return kind(made, registry=EMPTY_REGISTRY)


def _short(value: Any) -> str:
    text = stored(value).decode()
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
