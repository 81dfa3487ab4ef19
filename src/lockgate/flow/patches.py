"""Changes of live settings: JSON Patch (RFC 6902) within limits, and who may do what where.

Permissions deny by default. A rule applies to its path and everything below it; the longest matching path
wins. `test` needs read; `copy` needs read at its source and add or replace at its target; `move` also needs
remove at its source. A target that exists and is no array element is replaced, any other is added.
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
    import jsonpatch

    operations = _checked_operations(patch)
    now = json.loads(stored(value))
    for index, operation in enumerate(operations):
        _check_permission(now, operation, index, rules, actor)
        try:
            now = jsonpatch.apply_patch(now, [operation])
        except jsonpatch.JsonPatchException as error:
            raise _failed(index, operation, str(error) or type(error).__name__) from error
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise _failed(index, operation, f"{type(error).__name__}: {error}") from error
        except Exception as error:
            if type(error).__name__ != "JsonPointerException":
                raise
            raise _failed(index, operation, str(error)) from error
    checked(now, limit=limit, root="$settings")
    return now


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
            raise Refused(
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
