"""What cannot be included, entered or left is refused when the workflow is made, naming the place and the value."""

from typing import Any

import pytest

from lockgate import Workflow, compute, edge, exit_at, include, settings, switch_edge
from lockgate.flow import graph
from lockgate.flow.mounts import MAX_ID_CHARS
from lockgate.model.encoding import sha256, stored
from lockgate.model.errors import DefinitionError


def nothing(ctx: Any) -> None:
    return None


def child(name: str = "child", **more: Any) -> Workflow:
    parts: dict[str, Any] = {
        "start": "look",
        "nodes": {"look": compute(nothing), "good": compute(nothing), "bad": compute(nothing)},
        "edges": [switch_edge("look", "$.way", {"good": "good", "bad": "bad"})],
        "exits": {"done": "good", "refused": exit_at("bad", output={"type": "string"})},
        **more,
    }
    return Workflow(name, **parts)


def parent(*edges: Any, **more: Any) -> Workflow:
    parts: dict[str, Any] = {
        "start": "review",
        "nodes": {"review": include(child()), "publish": compute(nothing)},
        "edges": edges or [edge("review.done", "publish")],
        **more,
    }
    return Workflow("parent", **parts)


def refusal(make: Any) -> DefinitionError:
    with pytest.raises(DefinitionError) as caught:
        make()
    return caught.value


def test_the_whole_graph_is_one_document_of_plain_data() -> None:
    inner = child(settings=settings({"speed": 1}), max_steps=7)
    middle = Workflow(
        "middle", start="inner", nodes={"inner": include(inner)}, exits={"out": "inner.done", "no": "inner.refused"}
    )
    outer = Workflow(
        "outer", start="a", nodes={"a": include(middle), "end": compute(nothing)}, edges=[edge("a.out", "end")]
    )
    content = stored(outer.document())
    found = graph.decode(sha256(content), content)
    assert found == outer.graph
    assert list(found.mounts) == ["a", "a/inner"]
    assert found.mounts["a/inner"].exits == {"done": "a/inner/good", "refused": "a/inner/bad"}
    assert found.mounts["a/inner"].max_steps == 7
    way, node = [], "a"
    while node is not None:
        way.append(node)
        node = found.next(node, "ok", "good")
    assert way == ["a", "a/inner", "a/inner/look", "a/inner/good", "a/inner.done", "a.out", "end"]
    assert found.open_after("a/inner", "ok") == ("a", "a/inner")
    assert found.open_after("a/inner/good", "ok") == ("a", "a/inner")
    assert found.open_after("a/inner.done", "ok") == ("a",)
    assert found.open_after("a.out", "ok") == ()
    assert found.open_after("a", "failed") == ()


def test_a_change_in_the_child_changes_the_digest_of_the_parent() -> None:
    def digest(**more: Any) -> str:
        nodes = {"review": include(child(**more)), "publish": compute(nothing)}
        return sha256(stored(parent(nodes=nodes).document()))

    assert digest() == digest()
    assert (
        len(
            {
                digest(),
                digest(max_steps=9),
                digest(settings=settings({})),
                digest(settings=settings(len)),
                digest(name="other"),
            }
        )
        == 5
    )


def test_a_graph_without_includes_has_the_document_that_it_always_had() -> None:
    assert "mounts" not in child().document()


@pytest.mark.parametrize(
    ("edges", "reason"),
    [
        (
            edge("review", "publish"),
            "the edge review → publish leaves an include without an exit: 'review.done', 'review.refused'",
        ),
        (edge("review.don", "publish"), "an exit 'don' that 'review' has not: 'review.done', 'review.refused'"),
        (edge("review.done", "review/good"), "names 'review/good', a node inside an include: in by 'review', out by"),
        (edge("review/good", "publish"), "names 'review/good', a node inside an include"),
        (edge("publish", "review.done"), "leads to an exit of 'review': in by 'review'"),
        (
            switch_edge("review.done", "$result.outcome", {"ok": "publish", "failed": "review"}),
            "the edge review.done → publish, review switches on $result.outcome: an exit that fails ends the run",
        ),
        (edge("publish.done", "review"), "starts at an unknown node 'publish.done'"),
    ],
)
def test_a_parent_goes_in_by_the_mount_and_out_by_an_exit(edges: Any, reason: str) -> None:
    assert reason in refusal(lambda: parent(edges)).reason


def test_a_parent_cannot_start_inside() -> None:
    assert refusal(lambda: parent(start="review/look")).reason == "the start 'review/look' is not a node"


@pytest.mark.parametrize(
    ("exits", "reason"),
    [
        ({"done": "god"}, "the exit 'done' names 'god', which is not a node"),
        ({"done": "look"}, "the exit 'done' names a node that leads on, to good, bad"),
        ({"done": "good", "fine": "good"}, "the exits 'done' and 'fine' both name this node"),
        ({"so.so": "good"}, "an exit must match"),
        ({"done": None}, "the exit 'done' names None, which is not a node"),
        ({"done": exit_at("good"), "bad": 3}, "the exit 'bad' names 3"),
        ([("done", "good")], "exits must be a map from exit to node id"),
    ],
)
def test_an_exit_is_one_of_the_places_where_the_graph_ends(exits: Any, reason: str) -> None:
    assert reason in refusal(lambda: child(exits=exits)).reason


def test_an_exit_names_an_include_by_one_of_its_exits() -> None:
    nodes = {"inner": include(child())}
    found = refusal(lambda: Workflow("w", start="inner", nodes=nodes, exits={"done": "inner"}))
    assert found.node == "inner"
    assert "name one of its own exits, 'inner.done', 'inner.refused'" in found.reason
    inside = refusal(lambda: Workflow("w", start="inner", nodes=nodes, exits={"done": "inner/good"}))
    assert "names 'inner/good', which is not a node" in inside.reason


def test_a_workflow_without_exits_or_with_another_end_is_not_included() -> None:
    def holding(made: Workflow) -> Any:
        return lambda: Workflow("w", start="m", nodes={"m": include(made)})

    assert refusal(holding(child(exits=None))).reason == (
        "the workflow 'child' has no exits, so nothing can include it"
    )
    found = refusal(holding(child(exits={"done": "good"})))
    assert (found.node, found.reason) == (
        "m",
        "the workflow 'child' ends at 'bad' too, which is none of its exits: 'done'",
    )


def test_a_workflow_that_includes_itself_is_refused_with_the_chain() -> None:
    def around(name: str, inner: Workflow) -> Workflow:
        return Workflow(name, start="m", nodes={"m": include(inner)}, exits={"done": "m.done", "refused": "m.refused"})

    found = refusal(lambda: around("a", around("b", around("c", child("a")))))
    assert (found.node, found.reason) == ("m", "the workflow includes itself: a → b → c → a")
    assert refusal(lambda: around("a", child("a"))).reason == "the workflow includes itself: a → a"


@pytest.mark.parametrize("given", [{"x": float("nan")}, {1, 2}, b"bytes"])
def test_an_input_that_is_no_json_is_refused(given: Any) -> None:
    found = refusal(lambda: include(child(), input=given))
    assert found.reason.startswith("the input of the include of 'child': $input")


def test_only_a_workflow_is_included_and_ids_stay_short() -> None:
    assert refusal(lambda: include("child.py")).reason == "include takes a Workflow, got 'child.py'"  # type: ignore[arg-type]
    long = "n" * 80
    inner = Workflow("inner", start=long, nodes={long: compute(nothing)}, exits={"done": long})
    middle = Workflow("middle", start=long, nodes={long: include(inner)}, exits={"done": f"{long}.done"})
    found = refusal(lambda: Workflow("outer", start=long, nodes={long: include(middle)}))
    assert found.reason == f"an included node's id has at most {MAX_ID_CHARS} characters, got 242"


def test_what_multiplies_is_bounded() -> None:
    def twice(name: str, inner: Workflow) -> Workflow:
        nodes = {"one": include(inner), "two": include(inner)}
        return Workflow(name, start="one", nodes=nodes, edges=[edge("one.done", "two")], exits={"done": "two.done"})

    made = Workflow("w0", start="n", nodes={"n": compute(nothing)}, exits={"done": "n"})

    def grow() -> None:
        grown = made
        for number in range(1, 20):
            grown = twice(f"w{number}", grown)

    assert "nodes, at most 10000" in refusal(grow).reason
