"""Limits on a node's working time."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from lockgate.engine.commands import GRACE
from lockgate.engine.failures import NodeFailed
from lockgate.engine.visit import Visit
from lockgate.flow.authoring.nodes import Timeout
from lockgate.flow.authoring.shapes import milliseconds

RESOLVE_LIMIT = 30.0
"""Seconds that the function of a computed timeout may take."""

_WIND_UP = 1.0
_T = TypeVar("_T")


class LimitReached(Exception):
    """The node's working time is over. `left_behind` says that its code may still run in this process."""

    def __init__(self, limit_ms: int, left_behind: bool) -> None:
        super().__init__(f"the node's {limit_ms} ms of working time are over")
        self.left_behind = left_behind


async def within(limit_ms: int | None, visit: Visit, work: Coroutine[Any, Any, _T]) -> _T:
    """The result of the work. At the limit the node is told to stop, and LimitReached is raised."""
    if limit_ms is None:
        return await _stopping(visit, work)
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=max(0, limit_ms) / 1000)
        if task.done():
            return task.result()
        left_behind = await _wind_up(visit, task)
    except asyncio.CancelledError:
        visit.stop()
        task.cancel()
        raise
    raise LimitReached(limit_ms, left_behind)


async def resolve(timeout: Timeout, visit: Visit) -> int | None:
    """The milliseconds that a computed timeout comes to, None for no limit."""
    assert timeout.computed is not None
    try:
        async with asyncio.timeout(RESOLVE_LIMIT):
            seconds = await visit.call(timeout.computed, visit.context)
    except TimeoutError as problem:
        raise NodeFailed("TimeoutError", "the timeout was not computed within 30 s") from problem
    return None if seconds is None else milliseconds(seconds, "a timeout")


async def _stopping(visit: Visit, work: Coroutine[Any, Any, _T]) -> _T:
    try:
        return await work
    except asyncio.CancelledError:
        visit.stop()
        raise


async def _wind_up(visit: Visit, task: "asyncio.Task[Any]") -> bool:
    """Ends what can be ended; whether anything may still run."""
    had_command = visit.runs_command
    visit.stop()
    if had_command:
        # The command gets its grace, so that what it wrote until then is complete.
        await asyncio.wait({task}, timeout=GRACE + _WIND_UP)
    calls_before = visit.caller.left_behind
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_WIND_UP)
    if not task.done():
        return True
    if not task.cancelled():
        # Its outcome came too late to count.
        task.exception()
    return visit.left_command or visit.caller.left_behind > calls_before
