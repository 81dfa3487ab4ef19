"""What is not exactly JSON is refused at every door, with its path, the limit and what was seen, and before any write.

Case S12. Doors of programs take Python values: a start, a checkpoint's output, a patch of the settings, an update, an
output of a node. Doors of the command line take JSON texts. What is accepted is read back equal, to the character.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lockgate import Workflow, compute, execute, open_store
from lockgate.host.starting import start_run
from lockgate.model.errors import LockgateError, PayloadError, Refused
from lockgate.model.records import Human
from lockgate.store import reads
from lockgate.store.shell import Store
from tests.cli.conftest import Command, home, lockgate

from . import histories
from .conftest import USER, Bench

__all__ = ["home", "lockgate"]

MIB = 1 << 20
LIMITS = {"start": MIB, "execute": MIB, "submit": 8 * MIB, "set": 64 << 10, "update": 64 << 10, "output": 8 * MIB}


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


BAD: dict[str, tuple[Any, str, str]] = {
    "nan": ({"a": [1, float("nan")]}, ".a[1]", "finite"),
    "infinity": ({"a": float("-inf")}, ".a", "finite"),
    "2**70": ({"n": 2**70}, ".n", "9007199254740991"),
    "lone surrogate": ({"t": "a\ud800"}, ".t", "whole characters"),
    "surrogate in a key": ({"\udfff": 1}, '["\\udfff"]', "whole characters"),
    "10,000 levels": (deep(10_000), "[0]", "64 levels"),
    "a set": ({"s": {1, 2}}, ".s", "a JSON value"),
    "a key that is no text": ({1: 2}, "", "text keys"),
}
KEPT = {
    "nul": "a\0b",
    "\u00e9": "composed",
    "e\u0301": "decomposed",
    "big": 2**53 - 1,
    "float": 0.1,
    "esc": "\x1b[2J\u202e",
}

Door = Callable[["House", Any], Awaitable[Any]]


class House:
    """An open store with a run that waits at a checkpoint, under settings."""

    def __init__(self, store: Store, run_id: str, request_id: str) -> None:
        self.store, self.run_id, self.request_id = store, run_id, request_id

    async def rows(self) -> dict[str, int]:
        """How many rows each table has, and the newest event."""
        query = "SELECT name FROM sqlite_schema WHERE type = 'table'"

        def count(connection: Any) -> dict[str, int]:
            names = [row[0] for row in connection.execute(query).fetchall()]
            return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}

        return await self.store.read(count)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    bench = Bench(tmp_path / "state.sqlite")
    run_id, request_id = bench.at_checkpoint()
    bench.close()
    async with open_store(tmp_path / "state.sqlite") as store:
        yield House(store, run_id, request_id)


PLAIN = Workflow("plain", start="only", nodes={"only": compute(lambda ctx: ctx.input)})


async def start(house: House, value: Any) -> Any:
    return await start_run(PLAIN, value, store=house.store)


async def run(house: House, value: Any) -> Any:
    return await execute(PLAIN, value, store=house.store)


async def submit(house: House, value: Any) -> Any:
    return await house.store.submit(house.request_id, value, actor=USER)


async def change(house: House, value: Any) -> Any:
    patch = [{"op": "replace", "path": "/pace", "value": value}]
    return await house.store.change_settings(house.run_id, patch, actor=USER)


DOORS: dict[str, tuple[Door, str]] = {
    "start": (start, "$"),
    "execute": (run, "$"),
    "submit": (submit, "$"),
    "set": (change, "$patch[0].value"),
}


@pytest.mark.parametrize("door", DOORS)
async def test_a_program_is_told_the_path_and_nothing_is_written(house: House, door: str) -> None:
    enter, root = DOORS[door]
    before = await house.rows()
    matrix = {**BAD, "too long": ("x" * LIMITS[door], "", f"{LIMITS[door]} bytes")}
    for name, (value, path, limit) in matrix.items():
        with pytest.raises(PayloadError) as caught:
            await enter(house, value)
        refused = caught.value
        place = "$patch" if (door, name) == ("set", "too long") else root + path
        assert refused.path.startswith(place), (name, refused.path)
        assert limit in refused.limit, (name, refused.limit)
        assert refused.observed, name
    assert await house.rows() == before


async def test_an_update_is_refused_in_the_function_that_makes_it(house: House) -> None:
    told: dict[str, PayloadError] = {}
    matrix = {**BAD, "too long": ("x" * LIMITS["update"], ".v", f"{LIMITS['update']} bytes")}

    def publish(ctx: Any) -> str:
        for name, (value, _, _) in matrix.items():
            try:
                ctx.update({"v": value}, type="note", key="k")
            except PayloadError as refused:
                told[name] = refused
        ctx.update({"v": KEPT}, type="note", key="k")
        return "done"

    flow = Workflow("updates", start="only", nodes={"only": compute(publish)})
    ended = await execute(flow, None, store=house.store)
    assert ended.status == "completed"
    for name, (_, path, limit) in matrix.items():
        expected = "$" if name == "too long" else f"$.v{path}"
        assert told[name].path.startswith(expected), (name, told[name].path)
        assert limit in told[name].limit
    detail = await house.store.run(ended.run_id)
    assert len(detail.updates) == 1
    assert await stored(house.store, detail.updates[0].data_hash) == {"v": KEPT}


@pytest.mark.parametrize("name", [*BAD, "too long"])
async def test_an_output_fails_its_node_and_is_not_kept(house: House, name: str) -> None:
    value, path, limit = BAD.get(name, ("x" * LIMITS["output"], "", f"{LIMITS['output']} bytes"))
    flow = Workflow("outputs", start="only", nodes={"only": compute(lambda ctx: value)})
    ended = await execute(flow, None, store=house.store)
    assert ended.status == "failed"
    detail = await house.store.run(ended.run_id)
    [attempt] = detail.attempts
    assert attempt.output_hash is None
    error = await stored(house.store, attempt.error_hash)
    assert error["type"] == "PayloadError"
    assert limit in error["message"]
    if name != "surrogate in a key":
        assert error["message"].startswith(f"${path}"), error["message"]


async def test_an_exception_may_say_anything(house: House) -> None:
    """Its words are the user's too: they end up in an event, and must not end the worker."""

    def fail(ctx: Any) -> None:
        raise ValueError("a\ud800\0 \x1b[2J" + "x" * 3 * MIB)

    ended = await execute(Workflow("fails", start="only", nodes={"only": compute(fail)}), None, store=house.store)
    assert ended.status == "failed"
    events = await house.store.events(ended.run_id)
    assert all(len(json.dumps(event.payload)) < 4096 for event in events)


async def test_a_persons_text_is_checked_before_it_is_written(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "state.sqlite")
    _, request_id, digest = bench.at_decision()
    bench.close()
    async with open_store(tmp_path / "state.sqlite", clock=bench.clock) as store:
        house = House(store, "", request_id)
        before = await house.rows()
        for text, limit in (
            ("a\ud800", "whole characters"),
            ("x" * 41, "1 to 40 characters"),
            (" \n", "1 to 40 characters"),
            (None, "1 to 40 characters"),
        ):
            told = await store.answer(request_id, "again", text=text, digest=digest, actor=Human.for_test())
            assert (told.outcome, told.reason) == ("rejected", "invalid_input"), text
            assert limit in told.details["limit"]
            assert told.details["observed"]
        assert await house.rows() == before
        kept = "a\0b \u00e9 e\u0301 \u202e\x1b[2J"
        told = await store.answer(request_id, "again", text=kept, digest=digest, actor=Human.for_test())
        assert told.outcome == "accepted"
        [submission] = await store.read(lambda connection: reads.submissions(connection, request_id))
        assert await stored(store, submission.payload_hash) == {"choice": "again", "input": {"why": kept}}


async def test_what_is_accepted_is_read_back_equal(house: House) -> None:
    """NUL, escapes, and two keys that look alike: stored as they came, told apart."""
    started = await start(house, KEPT)
    assert await stored(house.store, (await house.store.run(started.run_id)).row.input_hash) == KEPT
    ended = await run(house, KEPT)
    assert await stored(house.store, (await house.store.run(ended.run_id)).row.output_hash) == KEPT
    receipt = await submit(house, {**KEPT, "n": 1})
    assert await stored(house.store, receipt.details["output_hash"]) == {**KEPT, "n": 1}
    receipt = await change(house, KEPT)
    assert receipt.outcome == "accepted"
    (scope,) = await house.store.read(lambda connection: reads.settings(connection, house.run_id))
    assert await stored(house.store, scope.current_hash) == {"pace": KEPT}


async def stored(store: Store, hash: str | None) -> Any:
    assert hash is not None
    return json.loads(await store.read(lambda connection: reads.value(connection, hash)))


# --- the command line -------------------------------------------------------------------------------------

TEXTS: dict[str, tuple[str, str, str]] = {
    "malformed": ('{"a": }', "$", "JSON"),
    "nan": ('{"a": [NaN]}', "$.a[0]", "finite"),
    "1e400": ('{"a": 1e400}', "$.a", "finite"),
    "2**70": (f'{{"n": {2**70}}}', "$.n", "9007199254740991"),
    "5,000 digits": ("1" * 5_000, "$", "9007199254740991"),
    "lone surrogate": ('{"t": "\\ud800"}', "$.t", "whole characters"),
    "duplicate key": ('{"k": {"a": 1, "a": 1}}', "$.k.a", "each key once"),
    "10,000 levels": ("[" * 10_000 + "]" * 10_000, "$", "64 levels"),
    "not UTF-8": ("\udcff", "$", "JSON"),
}


@pytest.mark.parametrize("door", ["start", "submit", "set", "resolve"])
def test_the_command_line_is_told_the_path_and_nothing_is_written(lockgate: Command, home: Path, door: str) -> None:
    bench = Bench(home / "store" / "state.sqlite")
    run_id, request_id = bench.at_checkpoint()
    bench.close()
    calls = {
        "start": ["start", "plain", "--json", "--input"],
        "submit": ["submit", request_id, "--json", "--output"],
        "set": ["set", run_id, "--json"],
        "resolve": ["resolve", run_id, "happened", "--json", "--output"],
    }
    before = every_row(home)
    for name, (text, path, limit) in TEXTS.items():
        file = home / "given.json"
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
        for given in ([text] if "\udcff" not in text else []) + [f"@{file}"]:
            said = lockgate(*calls[door], given)
            assert said.code == 2, (name, said)
            assert said.error["code"] == "invalid_payload", (name, said)
            details = said.error["details"]
            assert details["path"] == path, (name, details)
            assert limit in details["limit"], (name, details)
            assert details["observed"], name
    assert every_row(home) == before


@pytest.mark.parametrize("door", ["start", "submit"])
def test_a_file_beyond_the_limit_is_read_no_further(lockgate: Command, home: Path, door: str) -> None:
    bench = Bench(home / "store" / "state.sqlite")
    _, request_id = bench.at_checkpoint()
    bench.close()
    file = home / "given.json"
    file.write_text('{"n": "' + "x" * LIMITS[door] + '"}')
    arguments = ["plain", "--input"] if door == "start" else [request_id, "--output"]
    said = lockgate(door, *arguments, f"@{file}", "--json")
    assert (said.code, said.error["details"]["path"]) == (2, "$")
    assert f"{LIMITS[door]} bytes" in said.error["details"]["limit"]


def test_a_title_is_checked_too(lockgate: Command, home: Path) -> None:
    said = lockgate("start", "plain", "--json", "--title", "x" * 501)
    assert (said.code, said.error["code"], said.error["details"]["path"]) == (2, "invalid_payload", "$.title")
    said = lockgate("start", "plain", "--json", "--title", "\udcff")
    assert (said.code, said.error["code"]) == (2, "usage")


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "\udcff"),
        ("events", "\udcff"),
        ("pause", "\udcff"),
        ("cancel", "a\x1b[2J"),
        ("submit", "\udcff", "--output", "{}"),
        ("set", "\udcff", "[]"),
        ("restart", "'; DROP TABLE runs; --"),
        ("effects", "%"),
        ("settings", "_" * 8),
    ],
    ids=lambda given: " ".join(given).encode("unicode_escape").decode(),
)
def test_an_id_that_is_none_is_not_found(lockgate: Command, home: Path, arguments: tuple[str, ...]) -> None:
    bench = Bench(home / "store" / "state.sqlite")
    bench.run_id()
    bench.close()
    before = every_row(home)
    said = lockgate(*arguments, "--json")
    expected = (2, "usage") if "\udcff" in arguments else (4, "not_found")
    assert (said.code, said.error["code"]) == expected, said
    assert every_row(home) == before


async def test_a_result_that_a_person_gives_is_checked(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "state.sqlite")
    _, effect = histories.unsure(bench)
    bench.close()
    async with open_store(tmp_path / "state.sqlite") as store:
        for name, (text, path, limit) in TEXTS.items():
            given = text.encode("utf-8", "surrogateescape")
            with pytest.raises(PayloadError) as caught:
                await store.resolve_effect(effect, happened=True, output=given, actor=Human.for_test())
            assert (caught.value.path, limit in str(caught.value.limit)) == (path, True), name
        told = await store.resolve_effect(effect, happened=True, output=b'{ "b": 1, "a": 2 }', actor=Human.for_test())
        assert told.outcome == "accepted"
        row = await store.read(lambda connection: connection.execute("SELECT result_hash FROM effects").fetchone())
        assert await store.read(lambda connection: reads.value(connection, row[0])) == b'{"a":2,"b":1}'


def every_row(home: Path) -> Any:
    from .crashing import dump

    return dump(home / "store" / "state.sqlite")


@pytest.mark.parametrize("id", ["", "\ud800", "a\0b", "x" * 10_000, "'; DROP TABLE runs; --"])
async def test_no_id_is_too_strange_for_a_program(house: House, id: str) -> None:
    store, human = house.store, Human.for_test()
    before = await house.rows()
    asked: list[Awaitable[Any]] = [
        store.run(id),
        store.submit(id, {"n": 1}, actor=USER),
        store.answer(id, "go", digest="0" * 64, actor=human),
        store.pause(id, actor=USER),
        store.resume(id, actor=USER),
        store.cancel(id, actor=USER),
        store.resolve_effect(id, happened=True, actor=human),
        store.change_settings(id, [], actor=USER),
    ]
    told = await asyncio.gather(*asked, return_exceptions=True)
    for each in told:
        if isinstance(each, LockgateError):
            assert each.code in ("not_found", "invalid_value", "invalid_id"), each
        else:
            assert not isinstance(each, BaseException), repr(each)
            assert each.outcome in ("not_found", "rejected"), each
    assert await house.store.events(id) == () if "\ud800" not in id else True
    assert await house.rows() == before


def test_the_refusals_have_one_root() -> None:
    assert issubclass(PayloadError, LockgateError)
    assert issubclass(Refused, LockgateError)
