"""A restart asks the workflow's file as it is now about the old input, from a program and from a screen alike."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lockgate import Actor, Refused, open_store, restart, start_run
from lockgate.model.records import Human
from lockgate.model.statuses import ActorKind
from lockgate.store import reads
from lockgate.store.clock import SystemClock
from lockgate.store.shell import Store
from lockgate.view.desk import Desk
from lockgate.view.door import Door

FILE = """
from lockgate import Workflow, compute, settings
one = Workflow("one", start="a", nodes={{"a": compute(len)}}, title=lambda given: "The {name}",
    input={{"properties": {{"n": {{"minimum": {least}}}}}}}, settings=settings(lambda given: [given["n"], "{name}"]))
"""
USER = Actor(kind=ActorKind.USER, id="tester")
Restart = Callable[[str, int], Awaitable[Any]]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(tmp_path / "s.sqlite", create=True) as store:
        yield store


@pytest.fixture(params=["program", "screen"])
async def again(request: pytest.FixtureRequest, store: Store) -> AsyncIterator[Restart]:
    if request.param == "program":
        yield lambda run_id, revision: restart(run_id, store=store, expected_revision=revision, actor=USER)
        return
    door = Door(store.path, read_only=False, clock=SystemClock())
    await door.open()
    try:
        yield lambda run_id, revision: Desk(door, Human.for_test("ada")).restart(run_id, expected_revision=revision)
    finally:
        await door.close()


async def test_a_restart_takes_the_input_and_title_and_makes_new_settings(
    store: Store, tmp_path: Path, again: Restart
) -> None:
    file = tmp_path / "one.py"
    file.write_text(FILE.format(name="first", least=1))
    parent = (await start_run(str(file), {"n": 3}, store=store)).run_id or ""
    revision = (await store.cancel(parent, actor=USER)).revision or 0
    file.write_text(FILE.format(name="second", least=4))
    with pytest.raises(Refused, match=r"\$\.n: minimum 4, got 3") as caught:
        await again(parent, revision)
    assert caught.value.code == "invalid_input"
    assert len((await store.runs()).rows) == 1
    file.write_text(FILE.format(name="second", least=2))
    child = (await again(parent, revision)).run_id
    found = await store.run(child)
    assert found.run.title == "The first"
    assert found.row.input_hash == (await store.run(parent)).row.input_hash
    [scope] = await store.read(lambda connection: reads.settings(connection, child))
    content = await store.read(lambda connection: reads.value(connection, scope.initial_hash))
    assert msgspec.json.decode(content) == [3, "second"]
