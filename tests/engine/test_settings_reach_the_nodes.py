"""Live settings: each attempt keeps what it saw, a route sees the newest, and rules and schema are kept."""

from pathlib import Path
from typing import Any

import pytest

from lockgate import Workflow, allow, compute, edge, execute, open_store, settings, switch_edge
from lockgate.model.records import Actor, AttemptRow, Receipt
from lockgate.model.statuses import ActorKind
from lockgate.store import reads
from lockgate.store.shell import Store

USER = Actor(kind=ActorKind.USER, id="bo")
BOTH = ("human", "user")
SCHEMA = {"type": "object", "properties": {"speed": {"type": "integer", "maximum": 9}}, "required": ["speed"]}
DECLARED = settings(
    {"speed": 1, "secret": "x"},
    schema=SCHEMA,
    rules=[allow("/speed", read=BOTH, replace=BOTH), allow("/extra", add=["human"])],
)


async def change(store: Store, run_id: str, speed: Any, **more: Any) -> Receipt:
    patch = [{"op": "replace", "path": "/speed", "value": speed}]
    return await store.change_settings(run_id, patch, actor=USER, **more)


async def attempts(store: Store, run_id: str) -> list[AttemptRow]:
    return list(await store.read(lambda connection: reads.attempts(connection, run_id)))


async def test_a_change_reaches_later_attempts_and_no_earlier_one(tmp_path: Path) -> None:
    async with open_store(tmp_path / "state.sqlite", create=True) as store:

        async def first(ctx: Any) -> int:
            receipt = await change(store, ctx.state.run_id, 5)
            assert receipt.outcome == "accepted"
            return int(ctx.settings["speed"])

        flow = Workflow(
            "tuned",
            start="one",
            nodes={"one": compute(first), "two": compute(lambda ctx: ctx.settings["speed"])},
            edges=[edge("one", "two")],
            settings=DECLARED,
        )
        run = await execute(flow, None, store=store)
        assert run.status == "completed"
        one, two = await attempts(store, run.run_id)
        assert (one.settings_change, two.settings_change) == (0, 1)
        outputs = [await store.read(lambda c, h=row.output_hash: reads.value(c, h)) for row in (one, two)]
        assert outputs == [b"1", b"5"]
        (scope,) = await store.read(lambda connection: reads.settings(connection, run.run_id))
        assert scope.change_number == 1


async def test_a_route_decides_again_when_the_settings_change_under_it(tmp_path: Path) -> None:
    seen: list[int] = []
    async with open_store(tmp_path / "state.sqlite", create=True) as store:

        async def choose(ctx: Any) -> dict[str, str]:
            seen.append(ctx.settings["speed"])
            if len(seen) < 3:
                await change(store, ctx.state.run_id, len(seen) + 1)
            return {"way": "fast" if ctx.settings["speed"] > 2 else "slow"}

        flow = Workflow(
            "routed",
            start="choose",
            nodes={
                "choose": compute(choose, settings_route=True),
                "fast": compute(lambda ctx: "fast"),
                "slow": compute(lambda ctx: "slow"),
            },
            edges=[switch_edge("choose", "$output.way", {"fast": "fast", "slow": "slow"})],
            settings=DECLARED,
        )
        run = await execute(flow, None, store=store)
        assert (run.status, seen) == ("completed", [1, 2, 3])
        rows = await attempts(store, run.run_id)
        assert [row.node_id for row in rows] == ["choose", "fast"]
        assert rows[0].settings_change == 2
        types = [event.type for event in await store.events(run.run_id)]
        assert types.count("settings_route_retried") == 2


@pytest.mark.parametrize(
    ("patch", "code"),
    [
        ([{"op": "replace", "path": "/speed", "value": 10}], "invalid_settings"),
        ([{"op": "replace", "path": "/secret", "value": "y"}], "not_allowed"),
        ([{"op": "add", "path": "/extra", "value": 1}], "not_allowed"),
        ([{"op": "test", "path": "/speed", "value": 7}], "patch_failed"),
        ([{"op": "turn"}], "invalid_patch"),
    ],
)
async def test_a_refused_patch_changes_nothing(tmp_path: Path, patch: Any, code: str) -> None:
    receipts: list[Receipt] = []
    async with open_store(tmp_path / "state.sqlite", create=True) as store:

        async def attempt(ctx: Any) -> None:
            receipts.append(await store.change_settings(ctx.state.run_id, patch, actor=USER))

        flow = Workflow("kept", start="only", nodes={"only": compute(attempt)}, settings=DECLARED)
        run = await execute(flow, None, store=store)
        assert run.status == "completed"
        assert (receipts[0].outcome, receipts[0].reason) == ("rejected", code)
        (scope,) = await store.read(lambda connection: reads.settings(connection, run.run_id))
        assert scope.change_number == 0


async def test_an_expected_change_and_a_key_are_held(tmp_path: Path) -> None:
    receipts: list[Receipt] = []
    async with open_store(tmp_path / "state.sqlite", create=True) as store:

        async def attempt(ctx: Any) -> None:
            receipts.append(await change(store, ctx.state.run_id, 2, expected_change=0, key="k"))
            receipts.append(await change(store, ctx.state.run_id, 2, expected_change=0, key="k"))
            receipts.append(await change(store, ctx.state.run_id, 3, expected_change=0))
            receipts.append(await change(store, ctx.state.run_id, 2))

        flow = Workflow("held", start="only", nodes={"only": compute(attempt)}, settings=DECLARED)
        await execute(flow, None, store=store)
    assert [(receipt.outcome, receipt.reason) for receipt in receipts] == [
        ("accepted", None),
        ("adopted", None),
        ("conflict", "stale"),
        ("adopted", None),
    ]


async def test_a_workflow_without_settings_refuses_changes(tmp_path: Path) -> None:
    receipts: list[Receipt] = []
    async with open_store(tmp_path / "state.sqlite", create=True) as store:

        async def attempt(ctx: Any) -> None:
            receipts.append(await change(store, ctx.state.run_id, 2))

        await execute(Workflow("none", start="only", nodes={"only": compute(attempt)}), None, store=store)
    assert receipts[0].reason == "no_settings"
