"""Every constructor refuses at once what could only fail later."""

from typing import Any

import pytest

from lockgate import (
    Ask,
    action,
    agent,
    checkpoint,
    choice,
    compute,
    edge,
    human_decision,
    idempotent,
    manual,
    notify,
    paragraph,
    shell,
    switch_edge,
    text_input,
    verified,
)
from lockgate.flow.choices import Default
from lockgate.model.errors import DefinitionError, PayloadError
from lockgate.model.statuses import Intent

ODD: Any = object()


def nothing(ctx: Any) -> None:
    return None


def decision(**parts: Any) -> Any:
    return human_decision(**{"audience": "ops", "choices": {"a": choice("A")}, "request": nothing, **parts})


@pytest.mark.parametrize(
    "make",
    [
        lambda: compute(ODD),
        lambda: compute(nothing, timeout=0),
        lambda: compute(nothing, timeout=-1),
        lambda: compute(nothing, timeout=float("inf")),
        lambda: compute(nothing, timeout=True),
        lambda: action(nothing, effect=ODD),
        lambda: shell("ls -l", effect=manual("x")),
        lambda: shell([], effect=manual("x")),
        lambda: shell(["ls", 3], effect=manual("x")),  # type: ignore[list-item]
        lambda: shell(["a\0b"], effect=manual("x")),
        lambda: shell(["ls"], effect=manual("x"), env={"A=B": "c"}),
        lambda: shell(["ls"], effect=manual("x"), allow=[]),
        lambda: shell(["ls"], effect=manual("x"), capture=0),
        lambda: notify(" "),
        lambda: notify(ODD),
        lambda: checkpoint(""),
        lambda: checkpoint("Say", output=ODD),
        lambda: checkpoint("Say", output={"const": ODD}),
        lambda: agent(""),
        lambda: agent("Do", command="cat"),
        lambda: agent("Do", validate=ODD),
        lambda: idempotent("a b"),
        lambda: manual(""),
        lambda: verified("x", verify=ODD),
        lambda: edge("a", ""),
        lambda: switch_edge("a", "x.y", {"1": "a"}),
        lambda: switch_edge("a", "$.", {"1": "a"}),
        lambda: switch_edge("a", "$.x", {}),
        lambda: switch_edge("a", "$.x", {1: "a"}),  # type: ignore[dict-item]
        lambda: decision(audience="two words"),
        lambda: decision(choices={}),
        lambda: decision(choices={"1": choice("A")}),
        lambda: decision(choices={"a": "A"}),
        lambda: decision(choices={"a": choice("Same"), "b": choice("Same")}),
        lambda: decision(choices={"a": choice("Caf\u00e9"), "b": choice("Cafe\u0301")}),
        lambda: decision(request=ODD),
        lambda: decision(on_timeout="a"),
        lambda: decision(on_timeout=("b", 1)),
        lambda: decision(on_timeout=("a", 0)),
        lambda: decision(choices={"a": choice("A", input=text_input("t", "Text"))}, on_timeout=("a", 5)),
        lambda: choice(""),
        lambda: choice("two\nlines"),
        lambda: choice("A", intent="maybe"),
        lambda: choice("A", input=ODD),
        lambda: text_input("1", "Text"),
        lambda: text_input("t", "Text", min_length=-1),
        lambda: text_input("t", "Text", min_length=5, max_length=4),
        lambda: text_input("t", "Text", max_length=0),
    ],
)
def test_a_wrong_shape_is_a_definition_error(make: Any) -> None:
    with pytest.raises(DefinitionError):
        make()


def test_seconds_become_milliseconds() -> None:
    assert compute(nothing, timeout=1.5).spec.timeout_ms == 1500


def test_a_computed_timeout_is_said_to_be_one() -> None:
    spec = compute(nothing, timeout=lambda ctx: 3).spec
    assert (spec.timeout_ms, spec.timeout_computed) == (None, True)


def test_only_agent_commands_have_a_timeout_by_default() -> None:
    assert agent("Do", command=["cat"]).spec.timeout_ms == 900_000
    assert agent("Do").spec.timeout_ms is None
    assert agent("Do", timeout=60).spec.timeout_ms == 60_000
    assert agent("Do", command=["cat"], timeout=None).spec.timeout_ms is None
    assert shell(["ls"], effect=manual("x")).spec.timeout_ms is None


def test_a_deadline_counts_whole_seconds() -> None:
    assert decision(on_timeout=("a", 1.2)).default == Default(choice="a", after_ms=2000)


def test_a_default_may_have_a_text_that_may_be_empty() -> None:
    free = choice("A", input=text_input("t", "Text", min_length=0))
    assert decision(choices={"a": free}, on_timeout=("a", 5)).default.choice == "a"


def test_choices_keep_their_order_and_get_their_keys() -> None:
    made = decision(choices={"z": choice("Z", intent="approve"), "a": choice("A")}).choices
    assert [(one.key, one.intent) for one in made] == [("z", Intent.APPROVE), ("a", Intent.NEUTRAL)]


def test_an_ask_is_checked_when_it_is_made() -> None:
    assert Ask(title="Go?", summary="s", blocks=[paragraph("x")]).blocks
    with pytest.raises(PayloadError, match=r"\$.title"):
        Ask(title="two\nlines", summary="s")
    with pytest.raises(PayloadError, match=r"\$.blocks\[0\]"):
        Ask(title="Go?", summary="s", blocks=[{"kind": "video", "url": "x"}])
