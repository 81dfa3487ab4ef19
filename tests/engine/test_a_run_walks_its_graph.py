"""From start to end: nodes in the order of the graph, each seeing what the earlier ones left."""

import sys
from typing import Any

import pytest

from lockgate import Context, Workflow, compute, edge, idempotent, manual, notify, shell, switch_edge
from lockgate import action as action_node
from lockgate.model.statuses import Outcome, RunStatus
from tests.engine.bench import Bench


def one(function: Any, **more: Any) -> Workflow:
    return Workflow("one", start="a", nodes={"a": compute(function)}, **more)


async def test_outputs_go_from_node_to_node(bench: Bench) -> None:
    async def double(ctx: Context) -> dict[str, Any]:
        return {"n": ctx.outputs["first"] * 2}

    flow = Workflow(
        "flow",
        start="first",
        nodes={
            "first": compute(lambda ctx: ctx.input["n"] + 1),
            "second": compute(double),
            "third": compute(lambda ctx: [ctx.outputs["first"], ctx.outputs["second"]["n"], list(ctx.outputs)]),
        },
        edges=[edge("first", "second"), edge("second", "third")],
    )
    assert await bench.go(flow, {"n": 20}) == "completed"
    assert bench.result == [21, 42, ["first", "second"]]
    assert bench.run.status is RunStatus.COMPLETED
    assert bench.types == ["node_started", "node_finished"] * 3 + ["run_completed"]


async def test_a_finished_step_and_the_next_start_are_one_transaction(bench: Bench) -> None:
    flow = Workflow(
        "flow",
        start="a",
        nodes={"a": compute(lambda ctx: 1), "b": shell(["true"], effect=idempotent("x"))},
        edges=[edge("a", "b")],
    )
    assert await bench.go(flow) == "completed"
    assert bench.holder is not None
    assert bench.holder.lists == [
        ("StartAttempt",),
        ("FinishAttempt", "StartAttempt", "ReserveEffect"),
        ("SettleEffect",),
        ("FinishAttempt", "Finish"),
    ]


async def test_a_switch_routes_by_the_scalars_string_form(bench: Bench) -> None:
    flow = Workflow(
        "flow",
        start="a",
        nodes={"a": compute(lambda ctx: {"ok": True}), "yes": compute(lambda ctx: "yes"), "no": compute(print)},
        edges=[switch_edge("a", "$.ok", {"true": "yes", "false": "no"})],
    )
    assert await bench.go(flow) == "completed"
    assert bench.result == "yes"
    assert bench.attempts[0].switch_value == "true"


@pytest.mark.parametrize("output", [{"x": "other"}, {"x": [1]}, {}, None, "text"])
async def test_a_value_without_a_route_fails_the_run_and_keeps_the_step(bench: Bench, output: Any) -> None:
    flow = Workflow(
        "flow",
        start="a",
        nodes={"a": compute(lambda ctx: output), "b": compute(print)},
        edges=[switch_edge("a", "$.x", {"y": "b"})],
    )
    assert await bench.go(flow) == "failed"
    assert bench.types == ["node_started", "node_finished", "run_failed"]
    assert bench.run.error_code == "no_route"
    assert "node 'a'" in (bench.run.error_summary or "")


def fail(ctx: Context) -> None:
    raise ValueError("broken\nin two lines")


async def test_a_failure_without_an_edge_fails_the_run(bench: Bench) -> None:
    assert await bench.go(one(fail)) == "failed"
    assert (bench.run.error_code, bench.run.error_summary) == ("failed", "a: ValueError: broken")
    error = bench.value(bench.detail.row.error_hash)
    assert (error["type"], error["message"]) == ("ValueError", "broken\nin two lines")
    assert "in fail" in error["traceback"]
    assert "lockgate/engine" not in error["traceback"]


async def test_outputs_handed_on_as_they_are_say_how_to(bench: Bench) -> None:
    assert await bench.go(one(lambda ctx: {"all": ctx.outputs})) == "failed"
    assert bench.run.error_summary == "a: PayloadError: $.all: a JSON value, got a Lazily: dict() makes one of it"
    assert await bench.go(one(lambda ctx: {"all": dict(ctx.outputs)})) == "completed"


async def test_a_failure_may_route_by_its_outcome(bench: Bench) -> None:
    flow = Workflow(
        "flow",
        start="a",
        nodes={
            "a": compute(fail),
            "b": compute(lambda ctx: [ctx.results["a"].outcome, ctx.results["a"].error["message"], "a" in ctx.outputs]),
        },
        edges=[switch_edge("a", "$result.outcome", {"failed": "b"})],
    )
    assert await bench.go(flow) == "completed"
    assert bench.result == ["failed", "broken\nin two lines", False]


async def test_an_output_switch_does_not_apply_after_a_failure(bench: Bench) -> None:
    flow = Workflow(
        "flow",
        start="a",
        nodes={"a": compute(fail), "b": compute(print)},
        edges=[switch_edge("a", "$.x", {"1": "b"})],
    )
    assert await bench.go(flow) == "failed"
    assert bench.run.error_code == "failed"


async def test_a_failed_repeat_takes_the_earlier_output_away(bench: Bench) -> None:
    def once(ctx: Context) -> str:
        if ctx.state.visit == 2:
            raise ValueError
        return "first"

    flow = Workflow(
        "flow",
        start="a",
        nodes={
            "a": compute(once),
            "b": compute(lambda ctx: {"has": "a" in ctx.outputs, "again": ctx.state.visit < 2}),
        },
        edges=[
            switch_edge("a", "$result.outcome", {"ok": "b", "failed": "b"}),
            switch_edge("b", "$.again", {"true": "a", "false": "end"}),
        ][:1],
    )
    looping = Workflow(
        "flow",
        start="a",
        nodes={**flow.nodes, "end": compute(lambda ctx: ctx.outputs["b"])},
        edges=[*flow.edges, switch_edge("b", "$.again", {"true": "a", "false": "end"})],
    )
    assert await bench.go(looping) == "completed"
    assert bench.result == {"has": False, "again": False}
    assert [(attempt.node_id, attempt.visit) for attempt in bench.attempts] == [
        ("a", 1),
        ("b", 1),
        ("a", 2),
        ("b", 2),
        ("end", 1),
    ]


async def test_too_many_steps_fail_the_run(bench: Bench) -> None:
    flow = Workflow("flow", start="a", nodes={"a": compute(lambda ctx: 1)}, edges=[edge("a", "a")], max_steps=3)
    assert await bench.go(flow) == "failed"
    assert bench.run.steps == 3
    assert bench.run.error_code == "max_steps"


async def test_the_last_of_max_steps_may_end_the_run(bench: Bench) -> None:
    assert await bench.go(one(lambda ctx: "done", max_steps=1)) == "completed"


@pytest.mark.parametrize(
    ("output", "path"),
    [
        ({"a": {1, 2}}, "$.a"),
        ([float("nan")], "$[0]"),
        (2**60, "$"),
        ("\ud800", "$"),
        ({1: 2}, "$"),
        (object(), "$"),
    ],
)
async def test_an_output_that_is_no_json_fails_the_node(bench: Bench, output: Any, path: str) -> None:
    assert await bench.go(one(lambda ctx: output)) == "failed"
    assert f"PayloadError: {path}: " in (bench.run.error_summary or "")


async def test_nothing_returned_is_null(bench: Bench) -> None:
    assert await bench.go(one(lambda ctx: None)) == "completed"
    assert bench.result is None


@pytest.mark.parametrize("leave", [lambda ctx: sys.exit(1), lambda ctx: exit()])
async def test_a_node_that_calls_exit_fails_alone(bench: Bench, leave: Any) -> None:
    assert await bench.go(one(leave)) == "failed"
    assert "SystemExit" in (bench.run.error_summary or "")


async def test_changing_a_value_changes_nothing_else(bench: Bench) -> None:
    def change(ctx: Context) -> int:
        ctx.input.append(1)
        ctx.outputs["a"].append(2)
        return len(ctx.input)

    flow = Workflow(
        "flow",
        start="a",
        nodes={
            "a": compute(lambda ctx: []),
            "b": compute(change),
            "c": compute(lambda ctx: [ctx.input, ctx.outputs["a"], ctx.outputs["b"]]),
        },
        edges=[edge("a", "b"), edge("b", "c")],
    )
    assert await bench.go(flow, []) == "completed"
    assert bench.result == [[], [], 1]


async def test_a_value_is_sent_once(bench: Bench) -> None:
    flow = Workflow(
        "flow",
        start="a",
        nodes={"a": action_node(lambda ctx: "same", effect=manual("x")), "b": compute(lambda ctx: "same")},
        edges=[edge("a", "b")],
    )
    assert await bench.go(flow) == "completed"
    assert bench.holder is not None
    assert bench.holder.sent == [0, 1, 0, 0]


async def test_a_notice_is_an_event_and_an_output(bench: Bench) -> None:
    flow = Workflow("flow", start="a", nodes={"a": notify(lambda ctx: f"hello {ctx.input}\nsecond line")})
    assert await bench.go(flow, "bo") == "completed"
    assert bench.result == {"message": "hello bo\nsecond line"}
    notice = next(event for event in bench.events if event.type == "notified")
    assert notice.payload["summary"] == "hello bo"


async def test_the_state_says_where_the_run_stands(bench: Bench) -> None:
    seen: list[Any] = []
    flow = Workflow(
        "flow",
        start="a",
        nodes={"a": compute(lambda ctx: seen.append(ctx.state)), "b": compute(lambda ctx: seen.append(ctx.state))},
        edges=[edge("a", "b")],
    )
    assert await bench.go(flow) == "completed"
    assert [(s.run_id, s.workflow, s.node, s.visit, s.attempt_number, s.steps) for s in seen] == [
        (bench.run_id, "flow", "a", 1, 1, 0),
        (bench.run_id, "flow", "b", 1, 1, 1),
    ]
    assert [s.attempt_id for s in seen] == [attempt.attempt_id for attempt in bench.attempts]
    assert bench.attempts[0].outcome is Outcome.OK
