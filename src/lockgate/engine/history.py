"""What the run has done so far, as far as the next node needs it.

A node sees what is its own workflow's: the root's input and steps, or those of one invocation of an include. Which
steps these are follows from where the invocation was entered, so that nothing is kept when it is left.
"""

from collections.abc import Mapping
from typing import Any

from lockgate.engine.context import Lazily, Result
from lockgate.engine.values import Values
from lockgate.flow.graph import Graph
from lockgate.flow.mounts import exit_of, line_of, local_id, mount_of
from lockgate.model.ids import ROOT_MOUNT
from lockgate.model.records import Continuation, StepRef
from lockgate.model.statuses import Outcome


class History:
    """The number of steps, the last one, and the latest of each node."""

    def __init__(self, graph: Graph, continuation: Continuation, values: Values) -> None:
        self.run_id = continuation.run_id
        self._graph = graph
        self._input_hash = continuation.input_hash
        self.steps = continuation.steps
        self.last = continuation.last
        self._values = values
        self._latest = {step.node_id: step for step in continuation.results}
        self._before = dict(continuation.before)

    async def fetch(self) -> None:
        """Makes every value that a function may ask for available."""
        await self._values.fetch(self._hashes())

    def add(self, step: StepRef) -> None:
        if not self._graph.is_passage(step.node_id):
            self.steps += 1
        if step.node_id in self._graph.mounts:
            self._before.update({id: known.visit for id, known in self._latest.items() if mount_of(id) == step.node_id})
        self.last = step
        self._latest[step.node_id] = step
        if self._values.is_crowded:
            self._values.forget_all_but(self._hashes())

    def workflow(self, mount: str) -> str:
        return self._graph.name if mount == ROOT_MOUNT else self._graph.mounts[mount].workflow

    def steps_in(self, mount: str) -> int:
        """How many steps the present invocation has made, with all that it includes."""
        return self.steps if mount == ROOT_MOUNT else self.steps - self._latest[mount].step_index

    def visit_in(self, node_id: str, visit: int) -> int:
        """Which visit of the node in the present invocation of its workflow a visit of the run is."""
        return visit - self._before.get(node_id, 0)

    def over_limit(self, node_id: str) -> str | None:
        """Which workflow may make no step more, if `node_id` comes next; None where it may begin."""
        if self._graph.is_passage(node_id):
            return None
        for mount in (ROOT_MOUNT, *line_of(mount_of(node_id))):
            limit = self._graph.max_steps_of(mount)
            if self.steps_in(mount) >= limit:
                who = "the run" if mount == ROOT_MOUNT else f"invocation {self._latest[mount].visit} of {mount!r}"
                return f"{who} has made its {limit} steps, the next would be {node_id!r}"
        return None

    def input(self, mount: str) -> Any:
        """The run's input, or the one of an include's present invocation."""
        return self._decoded(self._input_hash if mount == ROOT_MOUNT else self._latest[mount].output_hash)

    def outputs(self, mount: str) -> Mapping[str, Any]:
        """The output of each node whose latest attempt ended ok, decoded when it is asked for."""
        ok = {node: step for node, step in self._seen(mount).items() if step.outcome is Outcome.OK}
        return Lazily(ok, lambda step: self._decoded(step.output_hash))

    def results(self, mount: str) -> Mapping[str, Result]:
        return Lazily(self._seen(mount), self._result)

    def _seen(self, mount: str) -> dict[str, StepRef]:
        """The latest step of each node of a workflow in its present invocation; an include is what came out of it."""
        if not self._graph.mounts:
            return dict(self._latest)
        since = 0 if mount == ROOT_MOUNT else self._latest[mount].ordinal
        seen: dict[str, StepRef] = {}
        for node_id, step in self._latest.items():
            if step.ordinal < since or node_id in self._graph.mounts:
                continue
            owner = mount_of(node_id)
            if exit_of(node_id) is not None:
                owner = mount_of(owner)
            name = local_id(node_id)
            if owner == mount and (name not in seen or seen[name].ordinal < step.ordinal):
                seen[name] = step
        return seen

    def _result(self, step: StepRef) -> Result:
        return Result(
            outcome=str(step.outcome), output=self._decoded(step.output_hash), error=self._decoded(step.error_hash)
        )

    def _decoded(self, name: str | None) -> Any:
        return self._values.decoded(name) if name is not None else None

    def _hashes(self) -> set[str]:
        every = [(step.output_hash, step.error_hash) for step in self._latest.values()]
        return {self._input_hash, *(name for pair in every for name in pair if name is not None)}
