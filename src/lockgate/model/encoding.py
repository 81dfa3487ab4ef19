"""The two encodings and the one parser of users' JSON (design: values and digests).

*Stored values* are compact UTF-8 JSON with sorted keys by msgspec; their hash is the SHA-256 of exactly those
bytes. *Digests that others recompute* are SHA-256 over RFC 8785; `canonical` makes those bytes. For objects
without floats and with ASCII keys the two encodings agree byte for byte, which `chained` relies on: it runs
once for every event, and the RFC 8785 library would cost more there than the whole law.

A decision's subject is between the two: it is a user's value, and it enters the decision's digest. One of at most
64 KiB in RFC 8785 is stored in just that form, so that its hash can be recomputed from the value by anybody; a
larger one enters by the hash of its stored form, which only its stored bytes give.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

import msgspec

from lockgate.model.errors import PayloadError

MAX_DEPTH = 64
MAX_VALUE_BYTES = 1 << 20
MAX_OUTPUT_BYTES = 8 << 20
MAX_CANONICAL_BYTES = 64 << 10
"""How large a subject may be, in RFC 8785, to be stored in that form."""

_SHRINKS = 3
"""RFC 8785 is never shorter than the stored form by more than this: `-0.0,` there is `0,`."""

MAX_INTEGER = (1 << 53) - 1

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_BRACKET = re.compile(rb"[\[\]{}]")

_sorted = msgspec.json.Encoder(order="sorted")


def sha256(content: bytes) -> str:
    """The lower-case hex SHA-256 of `content`."""
    return hashlib.sha256(content).hexdigest()


def stored(value: Any) -> bytes:
    """The stored form of a value that `checked` has accepted, or of our own records."""
    return _sorted.encode(value)


def canonical(value: Any) -> bytes:
    """RFC 8785 bytes, for digests that others recompute; slow for large values (about 0.4 ms a KiB)."""
    import rfc8785

    return rfc8785.dumps(value)


def chained(value: Any) -> bytes:
    """RFC 8785 bytes of a value without floats and with ASCII keys, fast enough for every event."""
    return _sorted.encode(value)


def digest(value: Any) -> str:
    return sha256(canonical(value))


def checked(value: Any, *, limit: int = MAX_VALUE_BYTES, root: str = "$") -> bytes:
    """The stored bytes of a Python value, or PayloadError with the JSON path, the limit and what was seen."""
    _walk(value, root, 0)
    try:
        content = stored(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise PayloadError(root, "a JSON value", str(error)) from error
    if len(content) > limit:
        raise PayloadError(root, f"at most {limit} bytes", f"{len(content)} bytes")
    return content


def recomputable(value: Any, *, limit: int = MAX_VALUE_BYTES, root: str = "$") -> bytes:
    """The bytes under whose hash a value enters a digest: RFC 8785 where that has at most MAX_CANONICAL_BYTES,
    else as `checked`, whose errors it raises."""
    content = checked(value, limit=limit, root=root)
    if len(content) > _SHRINKS * MAX_CANONICAL_BYTES or _is_canonical(value):
        return content
    exact = canonical(value)
    return exact if len(exact) <= MAX_CANONICAL_BYTES else content


def _is_canonical(value: Any) -> bool:
    """Whether the two encodings agree for certain, so that the library need not be loaded."""
    if isinstance(value, dict):
        return all(key.isascii() and _is_canonical(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_canonical, value))
    return not isinstance(value, float)


def parsed(text: str | bytes, *, limit: int = MAX_VALUE_BYTES) -> Any:
    """A user's JSON text as a value, refused by the payload rules before anything is written.

    Raises PayloadError naming the JSON path: duplicate keys, NaN, infinities, integers beyond 2^53-1, lone
    surrogates, depth over 64, size over `limit` bytes. Malformed text is refused at `$` with line and column.
    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(raw) > limit:
        raise PayloadError("$", f"at most {limit} bytes", f"{len(raw)} bytes")
    _bound_depth(raw)
    try:
        value = json.loads(
            raw.decode("utf-8", "surrogatepass"),
            object_pairs_hook=_Pairs,
            parse_constant=_Constant,
            parse_float=_Float,
            parse_int=_parse_integer,
        )
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise PayloadError("$", "JSON", str(error)) from error
    return _settle(value, "$")


class _Pairs(list[tuple[str, Any]]):
    """An object before its keys are known to be unique."""


class _Constant(str):
    """NaN or an infinity, kept until its path is known."""


class _Float(str):
    """A float's text, kept until its path is known: 1e400 would silently become infinity."""


def _parse_integer(text: str) -> int | _Constant:
    # int() of a very long text is quadratic and refused by Python itself beyond 4,300 digits.
    return int(text) if len(text) <= 20 else _Constant(text[:20] + "...")


def _bound_depth(raw: bytes) -> None:
    """Refuse what would exhaust the parser's stack; brackets inside strings do not count."""
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return
    depth = deepest = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", raw)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise PayloadError("$", f"at most {MAX_DEPTH} levels", f"{deepest} levels")


def _settle(value: Any, path: str) -> Any:
    if isinstance(value, _Pairs):
        result: dict[str, Any] = {}
        for key, item in value:
            place = _member(path, key)
            if key in result:
                raise PayloadError(place, "each key once", f"the key {key!r} twice")
            _check_text(key, place)
            result[key] = _settle(item, place)
        return result
    if isinstance(value, list):
        return [_settle(item, f"{path}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, _Constant):
        _refuse_number(path, str(value))
    if isinstance(value, _Float):
        number = float(value)
        if number in (float("inf"), float("-inf")):
            _refuse_number(path, str(value))
        return number
    _walk(value, path, 0)
    return value


def _walk(value: Any, path: str, depth: int) -> None:
    """Check a Python value against the payload rules, depth first."""
    if value is None or value is True or value is False:
        return
    kind = type(value)
    if kind is str:
        _check_text(value, path)
    elif kind is int:
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            _refuse_number(path, str(value) if abs(value) < 10**30 else f"{len(str(abs(value) >> 64))}+ digits")
    elif kind is float:
        if value != value or value in (float("inf"), float("-inf")):
            _refuse_number(path, str(value))
    elif kind is dict:
        _check_depth(path, depth)
        for key, item in value.items():
            if type(key) is not str:
                raise PayloadError(path, "text keys", f"a key of type {type(key).__name__}")
            place = _member(path, key)
            _check_text(key, place)
            _walk(item, place, depth + 1)
    elif kind is list or kind is tuple:
        _check_depth(path, depth)
        for index, item in enumerate(value):
            _walk(item, f"{path}[{index}]", depth + 1)
    else:
        way = ": dict() makes one of it" if isinstance(value, Mapping) else ""
        raise PayloadError(path, "a JSON value", f"a {kind.__name__}{way}")


def _check_depth(path: str, depth: int) -> None:
    if depth >= MAX_DEPTH:
        raise PayloadError(path[:200], f"at most {MAX_DEPTH} levels", f"more than {depth} levels")


def _check_text(text: str, path: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise PayloadError(
            path.encode("utf-8", "backslashreplace").decode(),
            "whole characters",
            f"a lone surrogate at {error.start}",
        ) from error


def _refuse_number(path: str, seen: str) -> NoReturn:
    raise PayloadError(path, f"a finite number, integers up to {MAX_INTEGER}", seen)


def _member(path: str, key: str) -> str:
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{json.dumps(key)}]"
