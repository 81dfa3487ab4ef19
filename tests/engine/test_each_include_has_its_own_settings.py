"""Live settings belong to one invocation: of the root workflow, or of an include. They never mix."""

from functools import partial
from typing import Any

import pytest

from lockgate import Workflow, allow, checkpoint, compute, edge, include, settings, switch_edge
from lockgate.model.encoding import stored
from lockgate.model.errors import DefinitionError
from lockgate.model.records import Receipt
from lockgate.store import commands, reads
from lockgate.store.audit import audit
from tests.engine.bench import USER, Bench
from tests.engine.test_an_include_sees_only_its_own import is_whole
from tests.store.test_audit_finds_every_changed_column import COLUMNS, key_of, other

RULES = [allow("/speed", read=["user"], replace=["user"])]


def asking(**more: Any) -> Workflow:
    return Workflow(
        "asking",
        start="ask",
        nodes={"ask": checkpoint("Go on?"), "told": compute(lambda ctx: ctx.settings)},
        edges=[edge("ask", "told")],
        exits={"out": "told"},
        settings=settings({"speed": 1}, schema={"properties": {"speed": {"maximum": 9}}}, rules=RULES),
        **more,
    )


def twice() -> Workflow:
    return Workflow(
        "twice",
        start="part",
        nodes={
            "part": include(asking()),
            "count": compute(lambda ctx: {"more": ctx.state.visit < 2, "own": ctx.settings}),
            "end": compute(lambda ctx: [ctx.outputs["count"]["own"], ctx.outputs["part"]["output"]]),
        },
        edges=[edge("part.out", "count"), switch_edge("count", "$.more", {"true": "part", "false": "end"})],
        settings=settings({"speed": 5}, rules=RULES),
    )


def change(bench: Bench, speed: int, key: str, scope: str, **more: Any) -> Receipt:
    patch = [{"op": "replace", "path": "/speed", "value": speed}]
    patched = bench.read(lambda c: commands.patch_settings(c, bench.run_id, patch, actor=USER, scope=scope))
    return bench.write(partial(commands.change_settings, patched=patched, actor=USER, key=key, **more))


def scopes(bench: Bench) -> list[tuple[str, int, int, Any]]:
    rows = bench.read(lambda connection: reads.settings(connection, bench.run_id))
    return [(row.mount_path, row.invocation, row.change_number, bench.value(row.current_hash)["speed"]) for row in rows]


async def test_a_change_reaches_one_scope_and_a_new_invocation_begins_anew(bench: Bench) -> None:
    assert await bench.go(twice()) == "waiting"
    assert scopes(bench) == [("$root", 1, 0, 5), ("part", 1, 0, 1)]
    assert change(bench, 2, "a", "part").outcome == "accepted"
    assert change(bench, 3, "b", "part#1").outcome == "accepted"
    assert change(bench, 7, "c", "$root").outcome == "accepted"
    bench.submit(None)
    assert await bench.work() == "waiting"
    assert scopes(bench) == [("$root", 1, 1, 7), ("part", 1, 2, 3), ("part", 2, 0, 1)]
    assert change(bench, 4, "d", "part").outcome == "accepted"
    bench.submit(None)
    assert await bench.work() == "completed"
    assert bench.result == [{"speed": 7}, {"speed": 4}]
    told = [bench.value(row.output_hash) for row in bench.attempts if row.node_id == "part/told"]
    assert told == [{"speed": 3}, {"speed": 4}]
    assert [row.settings_change for row in bench.attempts] == [0, 0, 2, 2, 1, 1, 0, 1, 1, 1, 1]
    assert [(row.mount_path, row.invocation) for row in bench.detail.settings] == [("$root", 1), ("part", 2)]
    is_whole(bench)


async def test_an_invocation_that_is_over_takes_no_change(bench: Bench) -> None:
    await bench.go(twice())
    bench.submit(None)
    await bench.work()
    over = change(bench, 2, "a", "part#1")
    assert (over.outcome, over.reason) == ("rejected", "scope_closed")
    assert over.details["message"] == "the settings of part#1 cannot be changed: 'part' is in its invocation 2"
    ahead = change(bench, 2, "b", "part#3")
    assert (ahead.outcome, ahead.reason) == ("rejected", "scope_closed")
    assert change(bench, 2, "c", "part#2").outcome == "accepted"
    assert scopes(bench) == [("$root", 1, 0, 5), ("part", 1, 0, 1), ("part", 2, 1, 2)]


async def test_a_change_that_was_made_for_an_invocation_meets_no_later_one(bench: Bench) -> None:
    """The patch was made for the first invocation, and is committed when the second goes on."""
    await bench.go(twice())
    patch = [{"op": "replace", "path": "/speed", "value": 2}]
    patched = bench.read(lambda c: commands.patch_settings(c, bench.run_id, patch, actor=USER, scope="part"))
    bench.submit(None)
    await bench.work()
    late = bench.write(partial(commands.change_settings, patched=patched, actor=USER, key="late"))
    assert (late.outcome, late.reason) == ("rejected", "scope_closed")
    assert scopes(bench) == [("$root", 1, 0, 5), ("part", 1, 0, 1), ("part", 2, 0, 1)]


@pytest.mark.parametrize(
    ("scope", "code", "message"),
    [
        ("parts", "no_scope", "the run has no settings scope 'parts': $root, part"),
        ("part#0", "invalid_scope", "a scope is MOUNT or MOUNT#INVOCATION from 1, got 'part#0'"),
        ("part#x", "invalid_scope", "a scope is MOUNT or MOUNT#INVOCATION from 1, got 'part#x'"),
        ("", "no_scope", "the run has no settings scope '': $root, part"),
    ],
)
async def test_a_scope_that_is_none_is_named(bench: Bench, scope: str, code: str, message: str) -> None:
    await bench.go(twice())
    receipt = change(bench, 2, "a", scope)
    assert (receipt.outcome, receipt.reason, receipt.details["message"]) == ("rejected", code, message)


async def test_rules_and_schema_are_those_of_the_included_workflow(bench: Bench) -> None:
    await bench.go(twice())
    assert change(bench, 10, "a", "part").reason == "invalid_settings"
    assert change(bench, 10, "b", "$root").outcome == "accepted"


async def test_a_route_inside_decides_again_when_its_own_settings_change(bench: Bench) -> None:
    seen: list[int] = []

    def choose(ctx: Any) -> dict[str, str]:
        seen.append(ctx.settings["speed"])
        if len(seen) == 1:
            change(bench, 8, "a", "$root")
            change(bench, 2, "b", "part")
        return {"way": "slow" if ctx.settings["speed"] < 2 else "fast"}

    inner = Workflow(
        "inner",
        start="choose",
        nodes={
            "choose": compute(choose, settings_route=True),
            "fast": compute(lambda ctx: "fast"),
            "slow": compute(lambda ctx: "slow"),
        },
        edges=[switch_edge("choose", "$.way", {"fast": "fast", "slow": "slow"})],
        exits={"fast": "fast", "slow": "slow"},
        settings=settings({"speed": 1}, rules=RULES),
    )
    outer = Workflow(
        "outer", start="part", nodes={"part": include(inner)}, settings=settings({"speed": 5}, rules=RULES)
    )
    assert await bench.go(outer) == "completed"
    assert (bench.result, seen) == ({"exit": "fast", "output": "fast"}, [1, 2])
    assert bench.types.count("settings_route_retried") == 1
    is_whole(bench)


async def test_first_settings_that_break_their_schema_are_refused_before_the_run(bench: Bench) -> None:
    inner = Workflow(
        "inner",
        start="a",
        nodes={"a": compute(lambda ctx: 1)},
        exits={"out": "a"},
        settings=settings({}, schema={"required": ["speed"]}),
    )
    with pytest.raises(DefinitionError, match=r"the initial settings at \$: 'speed' is a required property, got \{\}"):
        bench.start(Workflow("outer", start="part", nodes={"part": include(inner)}))
    assert bench.run_id == ""


async def test_the_longest_ids_keep_every_payload_small(bench: Bench) -> None:
    mount, name = "m" * 99, "w" * 80
    inner = Workflow(
        name,
        start="n" * 100,
        nodes={"n" * 100: checkpoint("Go on?")},
        exits={"e" * 100: "n" * 100},
        settings=settings({"speed": 1}, rules=RULES),
    )
    assert await bench.go(Workflow("v" * 80, start=mount, nodes={mount: include(inner)})) == "waiting"
    assert change(bench, 2, "a", mount).outcome == "accepted"
    bench.submit(None)
    assert await bench.work() == "completed"
    sizes = {event.type: len(stored(event.payload)) for event in bench.events}
    assert max(sizes.values()) < 3_000, sizes
    is_whole(bench)


async def test_first_settings_are_a_function_of_the_input_that_the_child_gets(bench: Bench) -> None:
    def first(given: Any) -> Any:
        return {"speed": given["n"] * 2}

    inner = Workflow(
        "inner",
        start="a",
        nodes={"a": compute(lambda ctx: ctx.settings)},
        exits={"out": "a"},
        settings=settings(first, schema={"properties": {"speed": {"maximum": 9}}}),
    )
    outer = Workflow("outer", start="part", nodes={"part": include(inner, input=lambda ctx: ctx.input)})
    assert await bench.go(outer, {"n": 4}) == "completed"
    assert bench.result == {"exit": "out", "output": {"speed": 8}}
    assert scopes(bench) == [("part", 1, 0, 8)]
    is_whole(bench)
    for given, reason in (
        ({"n": 5}, "RouteError: what the settings of 'part' begin with does not fit: $.speed: maximum 9, got 10"),
        ({"m": 5}, "KeyError: 'n'"),
        ({"n": "x" * (128 << 10)}, "PayloadError: $settings: at most 262144 bytes, got 262156 bytes"),
    ):
        assert await bench.go(outer, given) == "failed"
        assert bench.run.error_summary == f"part: {reason}"
        assert bench.types == ["node_started", "node_failed", "run_failed"]
        is_whole(bench)


async def test_an_audit_finds_each_changed_cell_of_a_run_with_includes(bench: Bench) -> None:
    await bench.go(twice())
    for key, scope in (("a", "part"), ("b", "$root")):
        assert change(bench, 2, key, scope).outcome == "accepted"
    bench.submit(None)
    await bench.work()
    assert change(bench, 3, "c", "part").outcome == "accepted"
    bench.submit(None)
    assert await bench.work() == "completed"
    connection = bench.file.connection
    connection.execute("PRAGMA ignore_check_constraints=ON")
    connection.execute("PRAGMA foreign_keys=OFF")
    assert audit(connection, bench.run_id).difference is None
    for table, column in COLUMNS:
        names = key_of(connection, table)
        rows = connection.execute(f"SELECT {names}, {column} FROM {table} WHERE run_id = ?", (bench.run_id,)).fetchall()
        where = " AND ".join(f"{name} IS ?" for name in names.split(", "))
        for *row_key, old in rows:
            connection.execute("BEGIN")
            new = other(connection, table, column, old)
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (new, *row_key))
            difference = audit(connection, bench.run_id).difference
            connection.execute("ROLLBACK")
            assert difference is not None, (table, column, row_key)
            assert (difference.table, difference.column in (column, None)) == (table, True)
