"""What a person may answer, and what an answer leads to."""

from typing import Any

import pytest

from lockgate import (
    Ask,
    Workflow,
    checkpoint,
    choice,
    compute,
    decision_edge,
    edge,
    human_decision,
    idempotent,
    shell,
    switch_edge,
)
from lockgate.flow.answers import check_answer
from lockgate.flow.choices import Choice, TextInput
from lockgate.flow.consequences import consequences
from lockgate.model.errors import Refused

CHOICES = (
    Choice(key="go", label="Go"),
    Choice(key="edit", label="Edit", input=TextInput(name="text", prompt="What?", min_length=3, max_length=5)),
    Choice(key="note", label="Note", input=TextInput(name="note", prompt="Why?", min_length=0)),
)


def refused(choice_key: str, text: str | None) -> Any:
    with pytest.raises(Refused) as caught:
        check_answer(CHOICES, choice_key, text)
    assert caught.value.code == "invalid_input"
    return caught.value.details


def test_a_plain_choice() -> None:
    assert check_answer(CHOICES, "go", None) == {"choice": "go"}
    assert check_answer(CHOICES, "go", "") == {"choice": "go"}


@pytest.mark.parametrize("text", ["abc", "abcde", "日本語", "a\nb"])
def test_a_text_within_its_bounds(text: str) -> None:
    assert check_answer(CHOICES, "edit", text) == {"choice": "edit", "input": {"text": text}}


@pytest.mark.parametrize("text", ["ab", "abcdef", None, "", "   "])
def test_a_text_outside_its_bounds(text: str | None) -> None:
    assert refused("edit", text)["field"] == "text"


def test_line_ends_are_one_character() -> None:
    assert check_answer(CHOICES, "edit", "ab\r\ncd")["input"] == {"text": "ab\ncd"}


def test_a_text_may_be_left_out_where_it_may_be_empty() -> None:
    assert check_answer(CHOICES, "note", None) == {"choice": "note", "input": {"note": ""}}


def test_an_unknown_choice_names_the_known_ones() -> None:
    assert refused("stop", None) == {"field": "choice", "limit": "one of go, edit, note", "observed": "'stop'"}


def test_a_text_that_nobody_asked_for() -> None:
    assert refused("go", "hello")["field"] == "text"


def test_a_lone_surrogate() -> None:
    assert "surrogate" in refused("edit", "ab\ud800")["observed"]


def test_consequences_are_read_from_the_graph() -> None:
    def nothing(ctx: Any) -> None:
        return None

    decision = human_decision(
        audience="ops",
        choices={key: choice(key.title()) for key in ("publish", "revise", "stop", "fork", "round", "form")},
        request=lambda ctx: Ask(title="Go?", summary="s"),
    )
    made = Workflow(
        "w",
        start="notes",
        nodes={
            "notes": compute(nothing),
            "approve": decision,
            "publish": shell(["true"], effect=idempotent("x")),
            "announce": compute(nothing),
            "stopped": compute(nothing),
            "look": compute(nothing),
            "ping": compute(nothing),
            "pong": compute(nothing),
            "form": checkpoint("Say"),
        },
        edges=[
            edge("notes", "approve"),
            edge("publish", "announce"),
            switch_edge("look", "$.x", {"1": "publish", "2": "stopped"}),
            edge("ping", "pong"),
            edge("pong", "ping"),
            decision_edge(
                "approve",
                {
                    "publish": "publish",
                    "revise": "notes",
                    "stop": "stopped",
                    "fork": "look",
                    "round": "ping",
                    "form": "form",
                },
            ),
        ],
    )
    assert consequences(made.graph, "approve") == {
        "publish": "publish → announce → done",
        "revise": "notes → approve, asks again",
        "stop": "the run ends: stopped",
        "fork": "look → publish or stopped",
        "round": "ping → pong → ping, goes round",
        "form": "form, waits for input",
    }
