"""A graph that cannot run is refused when it is made, with the node or edge and the reason."""

from typing import Any

import pytest

from lockgate import (
    Ask,
    Workflow,
    choice,
    compute,
    decision_edge,
    edge,
    human_decision,
    switch_edge,
)
from lockgate.model.errors import DefinitionError


def nothing(ctx: Any) -> None:
    return None


def ask(**choices: Any) -> Any:
    return human_decision(
        audience="operator",
        choices=choices or {"yes": choice("Yes"), "no": choice("No")},
        request=lambda ctx: Ask(title="Go?", summary="Go on?"),
    )


def refusal(**parts: Any) -> DefinitionError:
    parts = {"start": "a", "nodes": {"a": compute(nothing)}, "edges": [], **parts}
    with pytest.raises(DefinitionError) as caught:
        Workflow(parts.pop("name", "w"), **parts)
    return caught.value


def test_an_unknown_start() -> None:
    assert refusal(start="b").reason == "the start 'b' is not a node"


def test_an_edge_to_an_unknown_node() -> None:
    found = refusal(edges=[edge("a", "b")])
    assert found.node == "a"
    assert "edge a → b leads to an unknown node 'b'" in found.reason


def test_an_edge_from_an_unknown_node() -> None:
    assert "starts at an unknown node 'b'" in refusal(edges=[edge("b", "a")]).reason


def test_a_case_to_an_unknown_node() -> None:
    found = refusal(edges=[switch_edge("a", "$.x", {"1": "a", "2": "z"})])
    assert found.node == "a"
    assert "'z'" in found.reason


def test_two_outgoing_edges() -> None:
    nodes = {"a": compute(nothing), "b": compute(nothing), "c": compute(nothing)}
    found = refusal(nodes=nodes, edges=[edge("a", "b"), edge("a", "c")])
    assert found.node == "a"
    assert found.reason.startswith("two outgoing edges, to b and to c")


def test_an_unreachable_node() -> None:
    found = refusal(nodes={"a": compute(nothing), "lost": compute(nothing)})
    assert found.node == "lost"
    assert "no edge leads here" in found.reason


def test_a_choice_without_an_edge() -> None:
    nodes = {"a": ask(), "b": compute(nothing)}
    found = refusal(nodes=nodes, edges=[decision_edge("a", {"yes": "b"})])
    assert found.node == "a"
    assert found.reason == "the choice 'no' has no edge"


def test_a_case_that_is_not_a_choice() -> None:
    nodes = {"a": ask(), "b": compute(nothing)}
    found = refusal(nodes=nodes, edges=[decision_edge("a", {"yes": "b", "no": "b", "maybe": "b"})])
    assert found.reason == "the edge has a case 'maybe', which is not a choice"


@pytest.mark.parametrize("steps", [0, -1, True, 1.5, "3", None])
def test_max_steps_is_a_positive_whole_number(steps: Any) -> None:
    assert "max_steps" in refusal(max_steps=steps).reason


@pytest.mark.parametrize("name", ["", "a b", "x/y", "-a", "é", 3, "a" * 81])
def test_a_workflow_name_follows_its_grammar(name: Any) -> None:
    assert "name must match" in refusal(name=name).reason


@pytest.mark.parametrize("node_id", ["", "1a", "a b", "a/b", "ä", 3])
def test_a_node_id_follows_its_grammar(node_id: Any) -> None:
    assert "a node id must match" in refusal(nodes={node_id: compute(nothing)}, start=node_id).reason


@pytest.mark.parametrize("nodes", [{}, None, [compute(nothing)]])
def test_a_workflow_needs_nodes(nodes: Any) -> None:
    assert "needs nodes" in refusal(nodes=nodes).reason


def test_a_node_is_made_by_a_constructor() -> None:
    assert refusal(nodes={"a": nothing}).node == "a"


def test_an_edge_is_made_by_a_constructor() -> None:
    assert "an edge is made by" in refusal(edges=[("a", "a")]).reason


def test_a_loop_is_no_error() -> None:
    looping = Workflow("w", start="a", nodes={"a": compute(nothing)}, edges=[edge("a", "a")])
    assert looping.graph.next("a", "ok", None) == "a"
