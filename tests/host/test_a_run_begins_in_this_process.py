"""A program's own Workflow: its input is checked, its title and settings made here, before there is a run."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from lockgate import DefinitionError, Refused, Workflow, allow, compute, execute, open_store, settings, start_run
from lockgate.engine import beginning
from lockgate.engine.checking import described
from lockgate.flow.definition import Begun
from lockgate.host.starting import new_run
from lockgate.store import commands, reads
from lockgate.store.shell import Store, new_key

SCHEMA = {"type": "object", "required": ["n"]}
Start = Callable[..., Any]


def workflow(**more: Any) -> Workflow:
    made = Workflow("one", start="a", nodes={"a": compute(lambda ctx: [ctx.input, ctx.settings])}, **more)
    made.file = None
    return made


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(tmp_path / "s.sqlite", create=True) as store:
        yield store


async def kept(store: Store) -> int:
    """How many values and runs there are."""
    query = "SELECT (SELECT count(*) FROM blobs) + (SELECT count(*) FROM runs)"
    found: int = await store.read(lambda connection: connection.execute(query).fetchone()[0])
    return found


async def value(store: Store, name: str | None) -> Any:
    return msgspec.json.decode(await store.read(lambda connection: reads.value(connection, name or "")))


@pytest.mark.parametrize("start", [execute, start_run])
async def test_an_input_that_breaks_the_schema_makes_no_run(store: Store, start: Start) -> None:
    with pytest.raises(Refused, match=r"'n' is a required property, got \{\}") as caught:
        await start(workflow(input=SCHEMA), {}, store=store)
    assert (caught.value.code, caught.value.details["field"]) == ("invalid_input", "$")
    assert await kept(store) == 0


async def test_what_a_run_begins_with_is_made_from_a_fresh_input(store: Store) -> None:
    threads = []

    def title(given: Any) -> str:
        threads.append(threading.current_thread())
        given["n"] = "changed"
        return "sync"

    async def later(given: Any) -> Any:
        await asyncio.sleep(0)
        return {"pace": given["n"]}

    made = workflow(input=SCHEMA, title=title, settings=settings(later, rules=[allow("", replace=["user"])]))
    run = await execute(made, {"n": 4}, store=store)
    assert (run.status, run.title) == ("completed", "sync")
    assert threads[0] is not threading.main_thread()
    output = await value(store, (await store.run(run.run_id)).row.output_hash)
    assert output == [{"n": 4}, {"pace": 4}]


async def test_a_title_that_was_given_is_not_made(store: Store) -> None:
    made = workflow(title=lambda given: 1 / 0)
    assert (await execute(made, store=store, title="Mine")).title == "Mine"
    with pytest.raises(DefinitionError, match="the title of 'one': ZeroDivisionError"):
        await execute(made, store=store)
    assert (await execute(workflow(title="Weekly"), store=store)).title == "Weekly"


async def test_a_function_that_does_not_end_is_left_behind(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beginning.begin, "__kwdefaults__", {"limit": 0.05})
    ended = threading.Event()
    with pytest.raises(DefinitionError, match=r"TimeoutError: it did not end within 0\.05 s"):
        await start_run(workflow(title=lambda given: ended.wait(30)), store=store)
    ended.set()
    assert await kept(store) == 0


async def test_the_store_takes_only_the_input_that_was_looked_at(store: Store) -> None:
    definition = described(workflow(input=SCHEMA)).definition
    for begun in (None, Begun(input_hash="0" * 64)):
        new, actor = new_run(replace(definition, begun=begun), b"{}", None)
        receipt = await store.transact(partial(commands.start, new=new, actor=actor, key=new_key()))
        assert (receipt.outcome, receipt.reason, receipt.run_id) == ("rejected", "unchecked_input", None)
    assert await kept(store) == 0
