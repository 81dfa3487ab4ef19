"""A definition is data: it holds no code, survives storing, and routes the same afterwards."""

from typing import Any

import msgspec
import pytest

from lockgate import (
    Ask,
    Workflow,
    choice,
    compute,
    decision_edge,
    edge,
    human_decision,
    idempotent,
    manual,
    shell,
    switch_edge,
    text_input,
)
from lockgate.flow import graph
from lockgate.flow.switches import form, scalar
from lockgate.model.encoding import sha256, stored
from lockgate.model.errors import DefinitionError, RouteError


def write_notes(ctx: Any) -> dict[str, Any]:
    return {}


def public_example() -> Workflow:
    """The example of the public API, as it is printed for authors."""
    return Workflow("release", start="test", nodes={
        "test": shell(["{python}", "-m", "unittest"], effect=idempotent("tests"), timeout=600),
        "notes": compute(write_notes),
        "approve": human_decision(audience="operator", on_timeout=("stop", 3600),
            choices={"publish": choice("Publish", intent="approve"),
                     "revise": choice("Change the notes", input=text_input("instructions", "What should change?")),
                     "stop": choice("Stop here", intent="reject")},
            request=lambda ctx: Ask(title="Publish 1.4.0?", summary="...", blocks=[], subject=ctx.outputs["notes"])),
        "publish": shell(["git", "tag", "v1.4.0"], effect=manual("tag")),
        "stopped": compute(lambda ctx: {"status": "stopped"})},
      edges=[edge("test", "notes"), edge("notes", "approve"), decision_edge("approve", {"publish": "publish", "revise": "notes", "stop": "stopped"})])  # fmt: skip # noqa: E501


def decoded(workflow: Workflow) -> graph.Graph:
    content = stored(workflow.document())
    return graph.decode(sha256(content), content)


def test_the_public_example_is_a_definition() -> None:
    made = public_example()
    assert made.file == __file__
    assert decoded(made) == made.graph
    assert made.graph.next("approve", "ok", "revise") == "notes"
    assert made.graph.node("approve").default is not None
    assert made.graph.node("test").timeout_ms == 600_000


def test_a_document_is_the_same_each_time_and_has_no_code() -> None:
    assert public_example().document() == public_example().document()
    assert b"lambda" not in stored(public_example().document())


def test_another_graph_has_another_document() -> None:
    small = Workflow("w", start="a", nodes={"a": compute(write_notes)})
    assert small.document() != Workflow("w", start="a", nodes={"a": compute(write_notes, timeout=1)}).document()


def test_a_graph_is_decoded_once_per_digest() -> None:
    made = public_example()
    assert decoded(made) is decoded(made)
    assert graph.remembered(sha256(stored(made.document()))) is decoded(made)
    assert graph.remembered("unknown") is None


def test_bytes_that_are_no_document_are_refused() -> None:
    with pytest.raises(DefinitionError, match="cannot be read"):
        graph.decode("0" * 64, msgspec.json.encode({"version": 1}))


def routed(on: str, **cases: str) -> graph.Graph:
    nodes = {name: compute(write_notes) for name in ("a", "b", "c")}
    return Workflow("w", start="a", nodes=nodes, edges=[switch_edge("a", on, cases)]).graph


def test_a_node_without_an_edge_ends_the_run() -> None:
    assert public_example().graph.next("publish", "ok", None) is None


def test_only_a_result_switch_leads_on_after_a_failure() -> None:
    by_result = routed("$result.outcome", ok="b", failed="c")
    by_output = routed("$.x", ok="b", failed="c")
    assert by_result.next("a", "failed", "failed") == "c"
    assert by_output.next("a", "failed", "failed") is None
    assert by_output.next("a", "timed_out", None) is None


def test_cancelled_never_routes() -> None:
    assert routed("$result.outcome", ok="b", cancelled="c").next("a", "cancelled", "cancelled") is None


def test_a_value_without_a_case_is_a_route_error() -> None:
    with pytest.raises(RouteError, match="no case for 'z'"):
        routed("$.x", y="b", n="c").next("a", "ok", "z")
    with pytest.raises(RouteError, match="found no scalar"):
        routed("$.x", y="b", n="c").next("a", "ok", None)


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (False, "false"), (None, "null"), (3, "3"), (3.0, "3"), (2.5, "2.5"), ("x", "x"), (-0.0, "0")],
)
def test_scalars_have_one_string_form(value: Any, text: str) -> None:
    assert form(value) == text


def test_a_switch_reads_output_and_result() -> None:
    result = {"outcome": "ok", "output": {"x": {"y": 1}}, "error": None}
    assert scalar("a", "$.x.y", {"x": {"y": 1}}, result) == "1"
    assert scalar("a", "$output.x.y", {"x": {"y": 1}}, result) == "1"
    assert scalar("a", "$result.outcome", None, result) == "ok"
    for on in ("$.z", "$.x", "$.x.y.z"):
        with pytest.raises(RouteError):
            scalar("a", on, {"x": {"y": 1}}, result)
