"""A settings patch is applied whole or not at all, within its limits, and only where a rule allows it."""

from typing import Any

import pytest

from lockgate.flow.patches import MAX_OPERATIONS, SettingsRule, apply_patch
from lockgate.model.errors import LockgateError, PayloadError, Refused
from lockgate.model.statuses import ActorKind

USER, HUMAN, WORKER = ActorKind.USER, ActorKind.HUMAN, ActorKind.WORKER
ALL = (USER, HUMAN)
OPEN = (SettingsRule(path="", read=ALL, add=ALL, remove=ALL, replace=ALL),)
VALUE = {"speed": 3, "names": ["a", "b"], "deep": {"x": {"y": 1}}, "odd/key~": 0}


def patched(*operations: dict[str, Any], rules: tuple[SettingsRule, ...] = OPEN, actor: ActorKind = USER) -> Any:
    return apply_patch(VALUE, list(operations), rules=rules, actor=actor)


@pytest.mark.parametrize(
    ("operation", "path", "expected"),
    [
        ({"op": "replace", "path": "/speed", "value": 5}, "speed", 5),
        ({"op": "add", "path": "/names/1", "value": "x"}, "names", ["a", "x", "b"]),
        ({"op": "add", "path": "/names/-", "value": "x"}, "names", ["a", "b", "x"]),
        ({"op": "remove", "path": "/names/0"}, "names", ["b"]),
        ({"op": "move", "from": "/speed", "path": "/pace"}, "pace", 3),
        ({"op": "copy", "from": "/deep/x", "path": "/speed"}, "speed", {"y": 1}),
        ({"op": "replace", "path": "/odd~1key~0", "value": 1}, "odd/key~", 1),
        ({"op": "test", "path": "/speed", "value": 3}, "speed", 3),
    ],
)
def test_each_operation_of_rfc_6902(operation: dict[str, Any], path: str, expected: object) -> None:
    assert patched(operation)[path] == expected
    assert VALUE["speed"] == 3


@pytest.mark.parametrize(
    ("patch", "place"),
    [
        ({"op": "add"}, "$patch"),
        ([1], "$patch[0]"),
        ([{"op": "Add", "path": "/a", "value": 1}], "$patch[0].op"),
        ([{"op": "add", "path": "/a"}], "$patch[0]"),
        ([{"op": "remove", "path": "/a", "value": 1}], "$patch[0]"),
        ([{"op": "add", "path": "a", "value": 1}], "$patch[0].path"),
        ([{"op": "add", "path": "/a~2", "value": 1}], "$patch[0].path"),
        ([{"op": "add", "path": "/" + "x" * 1024, "value": 1}], "$patch[0].path"),
        ([{"op": "add", "path": "/a", "value": float("nan")}], "$patch[0].value"),
        ([{"op": "test", "path": "/speed", "value": 3}] * (MAX_OPERATIONS + 1), "$patch"),
        ([{"op": "add", "path": "/a", "value": "x" * 70_000}], "$patch"),
    ],
)
def test_a_malformed_patch_is_refused_at_its_place(patch: Any, place: str) -> None:
    with pytest.raises(PayloadError) as caught:
        apply_patch(VALUE, patch, rules=OPEN, actor=USER)
    assert caught.value.path == place


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/speed", "value": 4},
        {"op": "remove", "path": "/nothing"},
        {"op": "replace", "path": "/names/7", "value": 1},
        {"op": "add", "path": "/names/01", "value": 1},
        {"op": "add", "path": "/speed/x", "value": 1},
        {"op": "move", "from": "/deep", "path": "/deep/x"},
    ],
)
def test_what_does_not_apply_is_refused_by_index(operation: dict[str, Any]) -> None:
    with pytest.raises(LockgateError) as caught:
        patched({"op": "replace", "path": "/speed", "value": 9}, operation)
    assert "$patch[1]" in caught.value.message
    assert VALUE["speed"] == 3


RULES = (
    SettingsRule(path="/deep", read=ALL, replace=ALL),
    SettingsRule(path="/deep/x", read=(HUMAN,)),
    SettingsRule(path="/names", add=ALL),
)


@pytest.mark.parametrize(
    ("operation", "actor", "allowed"),
    [
        ({"op": "replace", "path": "/deep", "value": {"x": {"y": 1}, "z": 2}}, USER, True),
        ({"op": "replace", "path": "/deep", "value": {"x": {"y": 2}}}, USER, False),
        ({"op": "replace", "path": "/deep", "value": 1}, USER, False),
        ({"op": "replace", "path": "/deep", "value": {"x": {"y": True}}}, USER, False),
        ({"op": "replace", "path": "/deep/x", "value": 1}, USER, False),
        ({"op": "test", "path": "/deep/x/y", "value": 1}, HUMAN, True),
        ({"op": "test", "path": "/deep/x/y", "value": 1}, USER, False),
        ({"op": "replace", "path": "/deeper", "value": 1}, USER, False),
        ({"op": "add", "path": "/names/0", "value": 1}, USER, True),
        ({"op": "add", "path": "/names", "value": 1}, USER, False),
        ({"op": "remove", "path": "/names/0"}, USER, False),
        ({"op": "copy", "from": "/deep", "path": "/names/-"}, HUMAN, True),
        ({"op": "copy", "from": "/deep", "path": "/names/-"}, USER, False),
        ({"op": "move", "from": "/deep", "path": "/names/-"}, USER, False),
        ({"op": "replace", "path": "/speed", "value": 1}, HUMAN, False),
        ({"op": "replace", "path": "/deep", "value": 1}, WORKER, False),
    ],
)
def test_permissions_deny_by_default_and_the_longest_path_wins(
    operation: dict[str, Any], actor: ActorKind, allowed: bool
) -> None:
    if allowed:
        patched(operation, rules=RULES, actor=actor)
        return
    with pytest.raises(Refused) as caught:
        patched(operation, rules=RULES, actor=actor)
    assert caught.value.code == "not_allowed"


def test_copies_of_copies_end_at_the_limit_and_not_in_memory() -> None:
    rules = (SettingsRule(path="", read=ALL, add=ALL),)
    doubling = [{"op": "copy", "from": "/l", "path": "/l/-"}] * MAX_OPERATIONS
    with pytest.raises(PayloadError, match="settings of at most 262144 bytes") as caught:
        apply_patch({"l": []}, doubling, rules=rules, actor=USER)
    assert caught.value.path == "$patch[16]"


def test_the_result_has_a_limit_too() -> None:
    with pytest.raises(PayloadError, match="at most 300 bytes"):
        apply_patch({}, [{"op": "add", "path": "/a", "value": "x" * 400}], rules=OPEN, actor=USER, limit=300)
