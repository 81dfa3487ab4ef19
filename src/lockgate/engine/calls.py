"""Calls the functions of a workflow: async ones on the loop, sync ones on a thread of their own.

The thread is a daemon and is given up when its function runs over a limit: Python cannot stop it, and nothing
may wait for it, neither the next node nor the end of the process.
"""

import asyncio
import contextlib
import contextvars
import inspect
import queue
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from lockgate.engine.failures import ended

_Job = tuple[contextvars.Context, Callable[[], Any], "asyncio.Future[Any]"]


class Caller:
    """Calls one function at a time. `left_behind` counts the sync functions that may still run."""

    def __init__(self) -> None:
        self.left_behind = 0
        self._thread: _Thread | None = None

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The function's result. Cancelling the call cancels an async function and leaves a sync one behind."""
        if inspect.iscoroutinefunction(function):
            return await _awaited(function(*arguments))
        result = await self.block(function, *arguments)
        # A lambda or a partial may hand back an awaitable that only the loop can run.
        return await _awaited(result) if inspect.isawaitable(result) else result

    async def block(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a blocking function, run on the thread."""
        thread = self._thread = self._thread or _Thread()
        try:
            return await thread.run(lambda: function(*arguments))
        except asyncio.CancelledError:
            self._thread = None
            thread.close()
            self.left_behind += 1
            raise

    def close(self) -> None:
        if self._thread is not None:
            self._thread.close()
            self._thread = None


class _Thread:
    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="lockgate-node", daemon=True).start()

    async def run(self, function: Callable[[], Any]) -> Any:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._jobs.put((contextvars.copy_context(), function, future))
        result, problem = await future
        if problem is None:
            return result
        # A coroutine cannot raise StopIteration: it would become an error of ours.
        if not isinstance(problem, Exception) or isinstance(problem, StopIteration):
            raise ended(problem)
        raise problem

    def close(self) -> None:
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            context, function, future = job
            try:
                outcome: tuple[Any, BaseException | None] = (context.run(function), None)
            except BaseException as problem:
                outcome = (None, problem)
            # A closed loop means that nobody is left to hear of it.
            with contextlib.suppress(RuntimeError):
                future.get_loop().call_soon_threadsafe(_deliver, future, outcome)


async def _awaited(result: Awaitable[Any]) -> Any:
    """The awaited result; what would end the whole loop is a failure of this one function."""
    try:
        return await result
    except asyncio.CancelledError as problem:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise ended(problem) from problem
    except SystemExit as problem:
        raise ended(problem) from problem


def _deliver(future: "asyncio.Future[Any]", outcome: tuple[Any, BaseException | None]) -> None:
    if not future.done():
        future.set_result(outcome)
