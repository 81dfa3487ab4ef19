"""An included workflow runs like a part of its parent's graph, and each invocation sees nothing but its own."""

import sqlite3
from typing import Any

from lockgate import (
    Context,
    Workflow,
    action,
    allow,
    checkpoint,
    compute,
    edge,
    exit_at,
    include,
    manual,
    settings,
    switch_edge,
)
from lockgate.flow.fold import fold
from lockgate.model.statuses import RunStatus
from lockgate.store import heads
from lockgate.store.audit import audit
from lockgate.store.audit_chain import chain
from lockgate.store.doctor_rows import broken_rules
from tests.engine.bench import Bench


def seen(ctx: Context) -> dict[str, Any]:
    state = ctx.state
    return {
        "workflow": state.workflow,
        "node": state.node,
        "steps": state.steps,
        "input": ctx.input,
        "outputs": sorted(ctx.outputs),
        "results": sorted(ctx.results),
        "settings": ctx.settings,
    }


def judged(**more: Any) -> Workflow:
    """Refuses the first time that it is included, and asks for a word each time."""
    parts: dict[str, Any] = {
        "start": "look",
        "nodes": {
            "look": compute(seen),
            "ask": checkpoint("Say a word."),
            "judge": compute(lambda ctx: {**seen(ctx), "word": ctx.outputs["ask"]}),
            "good": compute(lambda ctx: ctx.outputs["judge"]),
            "bad": compute(lambda ctx: ctx.outputs["judge"]),
        },
        "edges": [edge("look", "ask"), edge("ask", "judge"), switch_edge("judge", "$.word", {"y": "good", "n": "bad"})],
        "exits": {"done": "good", "refused": "bad"},
        **more,
    }
    return Workflow("judged", **parts)


def around(inner: Workflow, **more: Any) -> Workflow:
    return Workflow(
        "around",
        start="first",
        nodes={
            "first": compute(lambda ctx: [*ctx.outputs.get("review", {}).items()]),
            "review": include(inner, input=lambda ctx: {"from": ctx.state.node, "first": ctx.outputs["first"]}),
            "last": compute(lambda ctx: [seen(ctx), ctx.outputs["review"]]),
        },
        edges=[edge("first", "review"), edge("review.refused", "first"), edge("review.done", "last")],
        **more,
    )


def is_whole(bench: Bench) -> None:
    """The events give the rows, and no row contradicts another."""
    found = bench.read(lambda connection: audit(connection, bench.run_id))
    assert found.difference is None
    assert bench.read(lambda connection: list(broken_rules(connection))) == []


async def test_a_child_is_left_refused_entered_again_and_left_done(bench: Bench) -> None:
    declared = settings({"tone": "dry"}, rules=[allow("/tone", replace=["user"])])
    assert await bench.go(around(judged(settings=declared), settings=settings({"own": 1})), {"to": "all"}) == "waiting"
    bench.submit("n")
    assert await bench.work() == "waiting"
    bench.submit("y")
    assert await bench.work() == "completed"
    last, review = bench.result
    first_output = bench.value(next(row for row in bench.attempts if row.node_id == "review/bad").output_hash)
    inside = {"workflow": "judged", "node": "judge", "steps": 2, "outputs": ["ask", "look"], "results": ["ask", "look"]}
    assert first_output == {
        **inside,
        "input": {"from": "review", "first": []},
        "settings": {"tone": "dry"},
        "word": "n",
    }
    came_back = [["exit", "refused"], ["output", first_output]]
    assert review == {
        "exit": "done",
        "output": {
            **inside,
            "input": {"from": "review", "first": came_back},
            "settings": {"tone": "dry"},
            "word": "y",
        },
    }
    assert last == {
        "workflow": "around",
        "node": "last",
        "steps": 10,
        "input": {"to": "all"},
        "outputs": ["first", "review"],
        "results": ["first", "review"],
        "settings": {"own": 1},
    }
    assert [row.node_id for row in bench.attempts] == [
        *("first", "review", "review/look", "review/ask", "review/judge", "review/bad", "review.refused"),
        *("first", "review", "review/look", "review/ask", "review/judge", "review/good", "review.done", "last"),
    ]
    assert bench.run.steps == 11
    is_whole(bench)


async def test_the_events_say_what_was_entered_and_left_and_every_time_anew(bench: Bench) -> None:
    await bench.go(around(judged()))
    bench.submit("n")
    await bench.work()
    bench.submit("y")
    await bench.work()
    told = [event for event in bench.events if event.type.startswith("include_")]
    assert [(event.type, event.payload["mount_path"], event.payload["workflow"]) for event in told] == [
        ("include_entered", "review", "judged"),
        ("include_exited", "review", "judged"),
    ] * 2
    assert [event.payload["invocation"] for event in told] == [1, 1, 2, 2]
    assert [event.payload.get("exit") for event in told] == [None, "refused", None, "done"]
    types = [event.type for event in bench.events]
    assert types[types.index("include_entered") - 1] == "node_finished"
    assert types[types.index("include_entered") + 1] == "node_started"
    exits = [row for row in bench.attempts if row.node_id.startswith("review.")]
    assert [event.payload.get("output_hash") for event in told[1::2]] == [row.output_hash for row in exits]


async def test_after_a_loss_inside_the_child_goes_on_in_the_same_invocation(bench: Bench) -> None:
    await bench.go(around(judged()))
    bench.submit("n")
    await bench.work()
    bench.submit("y")
    holder = bench.claim()
    await holder.ready({})
    bench.lose()
    assert await bench.work() == "completed"
    assert bench.result[1]["output"]["steps"] == 2
    is_whole(bench)


async def test_includes_of_includes(bench: Bench) -> None:
    leaf = Workflow(
        "leaf",
        start="add",
        nodes={"add": compute(lambda ctx: ctx.input + 1), "done": compute(lambda ctx: ctx.outputs["add"])},
        edges=[edge("add", "done")],
        exits={"out": "done"},
    )
    middle = Workflow(
        "middle",
        start="one",
        nodes={
            "one": include(leaf, input=lambda ctx: ctx.input),
            "two": include(leaf, input=lambda ctx: ctx.outputs["one"]["output"]),
            "end": compute(lambda ctx: [ctx.state.steps, *(ctx.outputs[name]["output"] for name in ctx.outputs)]),
        },
        edges=[edge("one.out", "two"), edge("two.out", "end")],
        exits={"ready": "end"},
    )
    outer = Workflow("outer", start="m", nodes={"m": include(middle, input=10)})
    assert await bench.go(outer) == "completed"
    assert bench.result == {"exit": "ready", "output": [4, 11, 12]}
    assert bench.run.steps == 5
    assert [event.payload["mount_path"] for event in bench.events if event.type == "include_exited"] == [
        "m/one",
        "m/two",
        "m",
    ]
    is_whole(bench)


async def test_the_limit_of_a_child_counts_one_invocation_and_ways_in_and_out_count_for_none(bench: Bench) -> None:
    # look ask judge bad | first | look ask judge good: five steps of the child never come together.
    await bench.go(around(judged(max_steps=4), max_steps=11))
    bench.submit("n")
    await bench.work()
    bench.submit("y")
    assert await bench.work() == "completed"


async def test_a_child_over_its_limit_fails_the_run(bench: Bench) -> None:
    await bench.go(around(judged(max_steps=3)))
    bench.submit("n")
    assert await bench.work() == "failed"
    assert bench.run.error_code == "max_steps"
    assert bench.run.error_summary == (
        "MaxSteps: invocation 1 of 'review' has made its 3 steps, the next would be 'review/bad'"
    )
    is_whole(bench)


async def test_the_limit_of_the_run_counts_what_is_included(bench: Bench) -> None:
    await bench.go(around(judged(), max_steps=4))
    bench.submit("n")
    assert await bench.work() == "failed"
    assert bench.run.error_summary == "MaxSteps: the run has made its 4 steps, the next would be 'review/bad'"


async def test_an_input_that_cannot_be_made_or_is_no_json_fails_the_run_at_the_entry(bench: Bench) -> None:
    flow = Workflow("w", start="review", nodes={"review": include(judged(), input=lambda ctx: {"at": {1, 2}})})
    assert await bench.go(flow) == "failed"
    assert bench.run.error_summary is not None
    assert bench.run.error_summary.startswith("review: PayloadError: $input.at: ")
    assert bench.types == ["node_started", "node_failed", "run_failed"]
    is_whole(bench)


def worded(output: Any) -> Workflow:
    inner = Workflow(
        "inner",
        start="say",
        nodes={"say": compute(lambda ctx: {"word": ctx.input})},
        exits={"said": exit_at("say", output=output)},
    )
    return Workflow("w", start="m", nodes={"m": include(inner, input=lambda ctx: ctx.input)})


async def test_an_output_that_does_not_meet_its_exit_fails_the_run_there(bench: Bench) -> None:
    schema = {"type": "object", "properties": {"word": {"$ref": "#/$defs/word"}}, "$defs": {"word": {"type": "string"}}}
    assert await bench.go(worded(schema), "fine") == "completed"
    assert bench.result == {"exit": "said", "output": {"word": "fine"}}
    assert await bench.go(worded(schema), 7) == "failed"
    assert bench.run.error_summary == (
        "m.said: RouteError: the output at 'm.said' does not fit: $.word: type \"string\", got 7"
    )
    is_whole(bench)


async def test_a_child_that_fails_ends_the_run_with_its_error(bench: Bench) -> None:
    def broken(ctx: Context) -> None:
        raise ValueError("no")

    inner = Workflow("inner", start="a", nodes={"a": compute(broken)}, exits={"out": "a"})
    outer = Workflow(
        "outer", start="m", nodes={"m": include(inner), "z": compute(lambda ctx: 1)}, edges=[edge("m.out", "z")]
    )
    assert await bench.go(outer) == "failed"
    assert bench.run.status is RunStatus.FAILED
    assert bench.run.error_summary == "m/a: ValueError: no"
    is_whole(bench)


async def test_an_input_that_the_child_does_not_take_fails_the_way_in(bench: Bench) -> None:
    def known(given: Any) -> None:
        if given.pop("word") != "y":
            raise ValueError("no such word")

    def taking(rule: Any) -> Workflow:
        nodes = {"a": compute(lambda ctx: ctx.input)}
        inner = Workflow("inner", start="a", nodes=nodes, exits={"out": "a"}, input=rule)
        return Workflow("w", start="m", nodes={"m": include(inner, input=lambda ctx: ctx.input)})

    schema = {"type": "object", "properties": {"word": {"const": "y"}}}
    for rule, reason in (
        (schema, 'RouteError: the input at \'m\' does not fit: $.word: const "y", got "n"'),
        (known, "ValueError: no such word"),
    ):
        assert await bench.go(taking(rule), {"word": "y"}) == "completed"
        assert bench.result == {"exit": "out", "output": {"word": "y"}}
        assert await bench.go(taking(rule), {"word": "n"}) == "failed"
        assert bench.run.error_summary == f"m: {reason}"
    is_whole(bench)


async def test_before_every_change_the_head_is_read_as_the_events_made_it(bench: Bench) -> None:
    """The invocations that go on are found in the rows by their last step; the events count them one by one."""
    depths: list[int] = []

    def compare(proposals: Any) -> None:
        def look(connection: sqlite3.Connection) -> None:
            stored = heads.head(connection, bench.run_id)
            folded = fold(chain(connection, bench.run_id), stored.graph).head
            assert folded is not None
            assert stored.scopes == folded.scopes
            depths.append(len(stored.scopes))

        bench.read(look)

    inner = judged(settings=settings({"tone": "dry"}))
    middle = Workflow(
        "middle",
        start="in",
        nodes={"in": include(inner), "again": compute(lambda ctx: ctx.outputs["in"])},
        edges=[edge("in.refused", "again"), edge("again", "in")],
        exits={"out": "in.done"},
    )
    bench.start(Workflow("outer", start="part", nodes={"part": include(middle)}, settings=settings({"own": 1})))
    for word in ("n", "n", "y", None):
        holder = bench.claim()
        holder.before_commit = compare
        reason = await bench.work(holder)
        if word is not None:
            assert reason == "waiting"
            bench.submit(word)
    assert reason == "completed"
    assert (max(depths), depths[-1]) == (3, 2)
    assert bench.result["output"]["exit"] == "done"
    is_whole(bench)


async def test_a_node_that_is_included_twice_has_an_effect_at_each_place(bench: Bench) -> None:
    keys: list[str] = []

    def send(ctx: Context) -> str:
        assert ctx.effect is not None
        keys.append(ctx.effect.key)
        return "sent"

    inner = Workflow("inner", start="send", nodes={"send": action(send, effect=manual("mail"))}, exits={"out": "send"})
    outer = Workflow(
        "outer",
        start="a",
        nodes={
            "a": include(inner),
            "b": include(inner),
            "more": compute(lambda ctx: {"on": ctx.state.visit < 2}),
            "end": compute(lambda ctx: None),
        },
        edges=[edge("a.out", "b"), edge("b.out", "more"), switch_edge("more", "$.on", {"true": "a", "false": "end"})],
    )
    assert await bench.go(outer) == "completed"
    assert len(set(keys)) == len(keys) == 4
    assert [(row.node_id, row.visit) for row in bench.detail.effects] == [
        ("a/send", 1),
        ("b/send", 1),
        ("a/send", 2),
        ("b/send", 2),
    ]
    is_whole(bench)


async def test_visits_are_counted_in_the_invocation_also_after_another_worker_took_it(bench: Bench) -> None:
    seen_visits: list[tuple[str, int]] = []

    def draft(ctx: Context) -> dict[str, bool]:
        seen_visits.append((ctx.state.node, ctx.state.visit))
        return {"again": ctx.state.visit < 2}

    def count(ctx: Context) -> dict[str, bool]:
        seen_visits.append((ctx.state.node, ctx.state.visit))
        return {"more": ctx.state.visit < 3}

    inner = Workflow(
        "inner",
        start="draft",
        nodes={"draft": compute(draft), "ask": checkpoint("Well?"), "redo": compute(draft), "end": compute(draft)},
        edges=[
            switch_edge("draft", "$.again", {"true": "ask", "false": "redo"}),
            edge("ask", "draft"),
            edge("redo", "end"),
        ],
        exits={"out": "end"},
    )
    outer = Workflow(
        "outer",
        start="part",
        nodes={"part": include(inner), "count": compute(count), "over": compute(lambda ctx: 0)},
        edges=[edge("part.out", "count"), switch_edge("count", "$.more", {"true": "part", "false": "over"})],
    )
    assert await bench.go(outer) == "waiting"
    for _ in range(3):
        bench.submit(None)
        reason = await bench.work()
    assert reason == "completed"
    each = [("draft", 1), ("draft", 2), ("redo", 1), ("end", 1)]
    assert seen_visits == [*each, ("count", 1), *each, ("count", 2), *each, ("count", 3)]
    assert [row.visit for row in bench.attempts if row.node_id == "part/draft"] == [1, 2, 3, 4, 5, 6]
    is_whole(bench)
