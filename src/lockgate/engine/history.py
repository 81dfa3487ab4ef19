"""What the run has done so far, as far as the next node needs it."""

from collections.abc import Mapping
from typing import Any

from lockgate.engine.context import Lazily, Result
from lockgate.engine.values import Values
from lockgate.model.records import Continuation, StepRef
from lockgate.model.statuses import Outcome


class History:
    """The number of steps, the last one, and the latest of each node."""

    def __init__(self, continuation: Continuation, values: Values) -> None:
        self.run_id = continuation.run_id
        self.workflow = continuation.workflow
        self.input_hash = continuation.input_hash
        self.steps = continuation.steps
        self.last = continuation.last
        self._values = values
        self._latest = {step.node_id: step for step in continuation.results}

    async def fetch(self) -> None:
        """Makes every value that a function may ask for available."""
        await self._values.fetch(self._hashes())

    def add(self, step: StepRef) -> None:
        self.steps += 1
        self.last = step
        self._latest[step.node_id] = step
        if self._values.is_crowded:
            self._values.forget_all_but(self._hashes())

    def input(self) -> Any:
        return self._values.decoded(self.input_hash)

    def outputs(self) -> Mapping[str, Any]:
        """The output of each node whose latest attempt ended ok, decoded when it is asked for."""
        ok = {node: step for node, step in self._latest.items() if step.outcome is Outcome.OK}
        return Lazily(ok, lambda step: self._decoded(step.output_hash))

    def results(self) -> Mapping[str, Result]:
        return Lazily(dict(self._latest), self._result)

    def _result(self, step: StepRef) -> Result:
        return Result(
            outcome=str(step.outcome), output=self._decoded(step.output_hash), error=self._decoded(step.error_hash)
        )

    def _decoded(self, name: str | None) -> Any:
        return self._values.decoded(name) if name is not None else None

    def _hashes(self) -> set[str]:
        every = [(step.output_hash, step.error_hash) for step in self._latest.values()]
        return {self.input_hash, *(name for pair in every for name in pair if name is not None)}
