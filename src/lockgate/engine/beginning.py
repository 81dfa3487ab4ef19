"""What a workflow makes of an input before there is a run: it takes or refuses it, and gives title and settings."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from lockgate.engine.calls import Caller
from lockgate.engine.failures import NodeFailed, failure_of
from lockgate.engine.locating import place_of
from lockgate.engine.values import value_of
from lockgate.flow.authoring.workflow import Workflow
from lockgate.flow.definition import BEGIN_LIMIT, Begun, Given
from lockgate.flow.patches import MAX_SETTINGS_BYTES
from lockgate.flow.schemas import Mismatch, meet, refusal
from lockgate.flow.titles import fitted
from lockgate.model.encoding import sha256
from lockgate.model.errors import DefinitionError, PayloadError
from lockgate.model.records import Value


async def begin(workflow: Workflow, given: Given, *, limit: float = BEGIN_LIMIT) -> Begun:
    """Runs the workflow's functions of the input, sync ones in a thread, async ones here.

    Raises Refused `invalid_input` or `invalid_settings` naming path, limit and what was seen, and DefinitionError
    naming file, line and error for a function that fails.
    """
    return await _Beginning(workflow, given, limit).made()


class _Beginning:
    def __init__(self, workflow: Workflow, given: Given, limit: float) -> None:
        self._workflow = workflow
        self._given = given
        self._limit = limit
        self._until = asyncio.get_running_loop().time() + limit
        self._caller = Caller()

    async def made(self) -> Begun:
        try:
            await self._check_input()
            title = None if self._given.is_titled else await self._title()
            return Begun(input_hash=sha256(self._given.content), title=title, settings=await self._settings())
        finally:
            self._caller.close()

    @property
    def _input(self) -> Any:
        """A fresh value: what one function changes in it, nobody else sees."""
        return msgspec.json.decode(self._given.content)

    async def _check_input(self) -> None:
        schema = self._workflow.graph.input
        if schema is not None:
            await self._caller.block(meet, schema, self._input, "invalid_input")
        if "input" not in self._workflow.functions:
            return
        try:
            await self._result("input")
        except Exception as problem:
            shown = self._given.content[:160].decode(errors="ignore")
            reason = f"{failure_of(problem).summary}, got {shown}"
            told = Mismatch(path="$", limit="the workflow's own check", observed=shown, reason=reason)
            raise refusal(told, "invalid_input") from problem

    async def _title(self) -> str | None:
        if "title" not in self._workflow.functions:
            return self._workflow.graph.title
        made = await self._called("title")
        if made is not None and not isinstance(made, str):
            raise self._refused("title", f"a text was expected, got a {type(made).__name__}")
        return None if made is None else fitted(made)

    async def _settings(self) -> Value | None:
        spec = self._workflow.graph.settings
        if spec is None:
            return None
        initial = await self._called("settings") if "settings" in self._workflow.functions else spec.initial
        try:
            value = value_of(initial, "$settings", limit=MAX_SETTINGS_BYTES)
        except PayloadError as problem:
            raise self._refused("settings", problem.message) from problem
        meet(spec.schema, msgspec.json.decode(value.content), "invalid_settings")
        return value

    async def _called(self, name: str) -> Any:
        """What the function makes of the input. Raises DefinitionError for whatever it raises."""
        try:
            return await self._result(name)
        except Exception as problem:
            line, _ = place_of(problem, Path(self._workflow.file or "?"))
            raise self._refused(name, failure_of(problem).summary, line) from problem

    async def _result(self, name: str) -> Any:
        try:
            async with asyncio.timeout_at(self._until) as limit:
                return await self._caller.call(self._workflow.functions[name], self._input)
        except TimeoutError as problem:
            if not limit.expired():
                raise
            raise NodeFailed("TimeoutError", f"it did not end within {self._limit:g} s") from problem

    def _refused(self, name: str, reason: str, line: int = 0) -> DefinitionError:
        place = f"line {line}: " if line else ""
        return DefinitionError(f"{place}the {name} of {self._workflow.name!r}: {reason}", file=self._workflow.file)
