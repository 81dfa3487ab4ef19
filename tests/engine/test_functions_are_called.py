"""Sync functions run on a thread, async ones on the loop; neither can end or hold up the process."""

import asyncio
import contextvars
import functools
import json
import sys
import threading
from typing import Any

import pytest

from lockgate.engine.calls import Caller
from lockgate.engine.failures import NodeFailed, failure_of
from lockgate.model.encoding import checked
from lockgate.model.errors import PayloadError


async def test_a_sync_function_runs_on_one_thread_of_its_own() -> None:
    caller = Caller()
    first = await caller.call(threading.get_ident)
    assert first != threading.get_ident()
    assert await caller.call(threading.get_ident) == first
    caller.close()


async def test_an_async_function_runs_on_the_loop() -> None:
    async def where() -> int:
        await asyncio.sleep(0)
        return threading.get_ident()

    caller = Caller()
    assert await caller.call(where) == threading.get_ident()
    assert await caller.call(lambda: where()) == threading.get_ident()
    assert await caller.call(functools.partial(where)) == threading.get_ident()
    caller.close()


async def test_context_variables_are_seen_on_the_thread() -> None:
    name = contextvars.ContextVar("name", default="unset")
    name.set("set")
    caller = Caller()
    assert await caller.call(name.get) == "set"
    caller.close()


def exits() -> None:
    sys.exit(3)


def interrupts() -> None:
    raise KeyboardInterrupt


def stops() -> None:
    # It would become an error of ours: a coroutine cannot raise it.
    raise StopIteration


async def exits_async() -> None:
    sys.exit(3)


async def cancels_itself() -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize("function", [exits, interrupts, stops, exits_async, cancels_itself])
async def test_what_would_end_the_process_is_a_failure(function: Any) -> None:
    caller = Caller()
    with pytest.raises(NodeFailed, match="ended itself") as caught:
        await caller.call(function)
    caller.close()
    found = json.loads(failure_of(caught.value).value.content)
    assert f"in {function.__name__}" in found["traceback"]
    assert not found["message"].endswith(": ")


@pytest.mark.parametrize("problem", [ValueError("x"), TimeoutError()])
async def test_an_exception_comes_back_as_it_is(problem: Exception) -> None:
    def fail() -> None:
        raise problem

    caller = Caller()
    future = asyncio.ensure_future(caller.call(fail))
    await asyncio.wait({future})
    assert future.exception() is problem
    caller.close()


async def test_a_function_that_is_given_up_holds_nobody_up() -> None:
    caller, release = Caller(), threading.Event()
    stuck = asyncio.ensure_future(caller.call(release.wait))
    await asyncio.sleep(0)
    stuck.cancel()
    await asyncio.wait({stuck})
    assert stuck.cancelled()
    assert caller.left_behind == 1
    assert await caller.call(lambda: "next") == "next"
    release.set()
    caller.close()


def test_a_failure_is_a_value_and_a_line() -> None:
    def fail() -> None:
        raise ValueError("first line\nsecond \ud800 line")

    try:
        fail()
    except ValueError as problem:
        found = failure_of(problem)
    assert found.summary == "ValueError: first line"
    assert b"second \\\\ud800 line" in found.value.content
    assert b"test_functions_are_called" in found.value.content


def test_a_failures_line_is_bounded() -> None:
    assert len(failure_of(ValueError("x" * 10_000)).summary) == 200


def test_an_exception_whose_text_fails_is_still_a_failure() -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert failure_of(Odd()).summary == "Odd: its text cannot be made"


def test_a_value_that_is_refused_in_a_function_says_where() -> None:
    def publish() -> None:
        checked({"a": float("nan")})

    with pytest.raises(PayloadError) as caught:
        publish()
    assert "in publish" in json.loads(failure_of(caught.value).value.content)["traceback"]


def test_a_long_path_leaves_room_for_the_limit() -> None:
    nested: Any = 1
    for _ in range(100):
        nested = [nested]
    with pytest.raises(PayloadError) as caught:
        checked(nested)
    summary = failure_of(caught.value).summary
    assert summary.startswith("PayloadError: $[0][0]")
    assert summary.endswith("[0]: at most 64 levels, got more than 64 levels")
