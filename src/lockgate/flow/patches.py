"""Changes of live settings: JSON Patch (RFC 6902) within limits, and who may do what where.

Permissions deny by default. A rule applies to its path and everything below it; the longest matching path
wins, also where an operation on a place above it would change or read what the rule keeps. `test` needs read;
`copy` needs read at its source and add or replace at its target; `move` also needs remove at its source. A
target that exists and is no array element is replaced, any other is added.
"""

import json
from typing import Any

from msgspec import Struct

from lockgate.model.encoding import checked, stored
from lockgate.model.errors import PayloadError, Refused
from lockgate.model.statuses import ActorKind

MAX_OPERATIONS = 256
MAX_PATCH_BYTES = 64 << 10
MAX_POINTER_BYTES = 1 << 10
MAX_SETTINGS_BYTES = 256 << 10

_FIELDS = {
    "add": {"op", "path", "value"},
    "replace": {"op", "path", "value"},
    "test": {"op", "path", "value"},
    "remove": {"op", "path"},
    "move": {"op", "path", "from"},
    "copy": {"op", "path", "from"},
}
_MISSING = object()


class SettingsRule(Struct, frozen=True, forbid_unknown_fields=True):
    """Which actors may do what at `path` (RFC 6901) and below; actors are kinds: human, user, worker, policy."""

    path: str
    read: tuple[ActorKind, ...] = ()
    add: tuple[ActorKind, ...] = ()
    remove: tuple[ActorKind, ...] = ()
    replace: tuple[ActorKind, ...] = ()


def apply_patch(
    value: Any, patch: Any, *, rules: tuple[SettingsRule, ...], actor: ActorKind, limit: int = MAX_SETTINGS_BYTES
) -> Any:
    """The settings after the whole patch; a refused patch changes nothing and `value` is never touched.

    Raises PayloadError for a malformed patch or a result over `limit` bytes, Refused `not_allowed` where no rule
    allows an operation, Refused `patch_failed` where an operation does not apply (a test that differs, a
    missing path). Each names the operation by its index.
    """
    operations = _checked_operations(patch)
    content = stored(value)
    now = json.loads(content)
    for index, operation in enumerate(operations):
        _check_permission(now, operation, index, rules, actor)
        now = _applied(now, operation, index)
        before, content = content, stored(now)
        # After each operation: copies of copies double, and would fill the memory before the end.
        if len(content) > limit:
            raise PayloadError(f"$patch[{index}]", f"settings of at most {limit} bytes", f"{len(content)} bytes")
        _check_kept(before, now, _below(operation, rules), index, actor)
    checked(now, limit=limit, root="$settings")
    return now


def _applied(value: Any, operation: dict[str, Any], index: int) -> Any:
    """One operation, done in place. Raises Refused `patch_failed` where it does not apply."""
    import jsonpatch
    from jsonpointer import JsonPointerException

    try:
        return jsonpatch.apply_patch(value, [operation], in_place=True)
    except (jsonpatch.JsonPatchException, JsonPointerException) as error:
        raise _failed(index, operation, str(error) or type(error).__name__) from error
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise _failed(index, operation, f"{type(error).__name__}: {error}") from error


def split_pointer(pointer: str, place: str) -> tuple[str, ...]:
    """The unescaped tokens of an RFC 6901 pointer; `place` names it in the error."""
    if len(pointer.encode("utf-8", "surrogatepass")) > MAX_POINTER_BYTES:
        raise PayloadError(place, f"a pointer of at most {MAX_POINTER_BYTES} bytes", f"{len(pointer)} characters")
    if pointer == "":
        return ()
    if not pointer.startswith("/"):
        raise PayloadError(place, "a pointer that starts with /", repr(pointer[:80]))
    tokens = []
    for part in pointer[1:].split("/"):
        if "~" in part.replace("~0", "").replace("~1", ""):
            raise PayloadError(place, "the escapes ~0 and ~1 only", repr(part[:80]))
        tokens.append(part.replace("~1", "/").replace("~0", "~"))
    return tuple(tokens)


def _checked_operations(patch: Any) -> list[dict[str, Any]]:
    if not isinstance(patch, list):
        raise PayloadError("$patch", "an array of operations", f"a {type(patch).__name__}")
    if len(patch) > MAX_OPERATIONS:
        raise PayloadError("$patch", f"at most {MAX_OPERATIONS} operations", str(len(patch)))
    checked(patch, limit=MAX_PATCH_BYTES, root="$patch")
    for index, operation in enumerate(patch):
        _check_shape(operation, f"$patch[{index}]")
    return patch


def _check_shape(operation: Any, place: str) -> None:
    if not isinstance(operation, dict):
        raise PayloadError(place, "an operation object", f"a {type(operation).__name__}")
    name = operation.get("op")
    fields = _FIELDS.get(name) if isinstance(name, str) else None
    if fields is None:
        raise PayloadError(f"{place}.op", f"one of {', '.join(_FIELDS)}", repr(name))
    if set(operation) != fields:
        raise PayloadError(place, f"exactly {', '.join(sorted(fields))}", ", ".join(sorted(map(str, operation))))
    for key in fields & {"path", "from"}:
        if not isinstance(operation[key], str):
            raise PayloadError(f"{place}.{key}", "a pointer", repr(operation[key])[:80])
        split_pointer(operation[key], f"{place}.{key}")


def _check_permission(
    value: Any, operation: dict[str, Any], index: int, rules: tuple[SettingsRule, ...], actor: ActorKind
) -> None:
    name, path = operation["op"], operation["path"]
    needs: list[tuple[str, str]] = []
    if name in ("move", "copy"):
        needs.append(("read", operation["from"]))
        if name == "move":
            needs.append(("remove", operation["from"]))
        needs.append((_arrival(value, path), path))
    elif name == "test":
        needs.append(("read", path))
    elif name == "add":
        needs.append((_arrival(value, path), path))
    else:
        needs.append((name, path))
    for permission, pointer in needs:
        if not _allows(rules, permission, pointer, actor):
            raise _forbidden(index, actor, permission, pointer)
        if permission == "read":
            _check_readable(value, pointer, index, rules, actor)


def _check_readable(value: Any, pointer: str, index: int, rules: tuple[SettingsRule, ...], actor: ActorKind) -> None:
    """Reading a place reads everything below it: each rule there must allow it too."""
    tokens = split_pointer(pointer, "$patch")
    for rule in rules:
        below = split_pointer(rule.path, "$rule")
        is_below = len(below) > len(tokens) and below[: len(tokens)] == tokens
        if is_below and _at(value, below) is not _MISSING and actor not in rule.read:
            raise _forbidden(index, actor, "read", rule.path)


def _check_kept(before: bytes, after: Any, kept: list[SettingsRule], index: int, actor: ActorKind) -> None:
    """What a rule keeps may not change by an operation on a place above it."""
    for rule in kept:
        place = split_pointer(rule.path, "$rule")
        old, new = _at(json.loads(before), place), _at(after, place)
        if old is not new and (_MISSING in (old, new) or stored(old) != stored(new)):
            needed = "add" if old is _MISSING else "remove" if new is _MISSING else "replace"
            if actor not in getattr(rule, needed):
                raise _forbidden(index, actor, needed, rule.path)


def _below(operation: dict[str, Any], rules: tuple[SettingsRule, ...]) -> list[SettingsRule]:
    """The rules whose places lie below one that the operation writes."""
    written = [operation["path"]] + ([operation["from"]] if operation["op"] == "move" else [])
    targets = [split_pointer(pointer, "$patch") for pointer in written if operation["op"] != "test"]
    places = [(rule, split_pointer(rule.path, "$rule")) for rule in rules]
    return [
        rule
        for rule, place in places
        if any(len(place) > len(target) and place[: len(target)] == target for target in targets)
    ]


def _at(value: Any, tokens: tuple[str, ...]) -> Any:
    for token in tokens:
        value = _member(value, token)
    return value


def _forbidden(index: int, actor: ActorKind, permission: str, pointer: str) -> Refused:
    return Refused(
        "not_allowed",
        f"$patch[{index}]: {actor} may not {permission} {pointer or 'the whole settings'}",
        operation=index,
        permission=permission,
        path=pointer,
    )


def _arrival(value: Any, pointer: str) -> str:
    """Whether writing to `pointer` adds or replaces; in an array an element is always added."""
    parent: Any = value
    tokens = split_pointer(pointer, "$patch")
    for token in tokens[:-1]:
        parent = _member(parent, token)
    if isinstance(parent, list) and tokens:
        return "add"
    return "add" if tokens and _member(parent, tokens[-1]) is _MISSING else "replace"


def _member(value: Any, token: str) -> Any:
    if isinstance(value, dict):
        return value.get(token, _MISSING)
    if isinstance(value, list) and token.isascii() and token.isdigit() and int(token) < len(value):
        return value[int(token)]
    return _MISSING


def _allows(rules: tuple[SettingsRule, ...], permission: str, pointer: str, actor: ActorKind) -> bool:
    tokens = split_pointer(pointer, "$patch")
    best: SettingsRule | None = None
    longest = -1
    for rule in rules:
        prefix = split_pointer(rule.path, "$rule")
        if len(prefix) > longest and tokens[: len(prefix)] == prefix:
            best, longest = rule, len(prefix)
    return best is not None and actor in getattr(best, permission)


def _failed(index: int, operation: dict[str, Any], why: str) -> Refused:
    return Refused(
        "patch_failed",
        f"$patch[{index}]: {operation['op']} {operation['path']} does not apply: {why[:200]}",
        operation=index,
        path=operation["path"],
    )
