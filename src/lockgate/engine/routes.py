"""Where a finished step leads: to the next node, or to the end of the run and how it ends."""

from dataclasses import dataclass
from typing import Any

from lockgate.engine.failures import Failure, failure
from lockgate.engine.history import History
from lockgate.flow.graph import Graph
from lockgate.flow.switches import scalar
from lockgate.flow.transitions import Finish
from lockgate.model.errors import RouteError
from lockgate.model.records import StepRef, Value
from lockgate.model.statuses import Outcome, RunStatus

_ENDS = {Outcome.TIMED_OUT: RunStatus.TIMED_OUT, Outcome.CANCELLED: RunStatus.CANCELLED}


@dataclass(frozen=True, slots=True)
class End:
    """The run's last proposal and its values."""

    finish: Finish
    values: tuple[Value, ...] = ()


def switch_value(graph: Graph, node_id: str, outcome: Outcome, output: Any, error: Any) -> str | None:
    """The string form of the scalar that the node's switch reads; None where there is none to read."""
    on = graph.switch_on(node_id)
    if on is None or not graph.routes(node_id, outcome):
        return None
    try:
        return scalar(node_id, on, output, {"outcome": str(outcome), "output": output, "error": error})
    except RouteError:
        return None


def after(graph: Graph, history: History) -> str | End:
    """The node after a run's last step, or the end."""
    step = history.last
    if step is None:
        return graph.start
    try:
        node = graph.next(step.node_id, step.outcome, step.switch_value)
    except RouteError as problem:
        return _failed("no_route", failure("RouteError", problem.message))
    if node is None:
        return _ending(step)
    over = history.over_limit(node)
    return node if over is None else _failed("max_steps", failure("MaxSteps", over))


def _ending(step: StepRef) -> End:
    if step.outcome is Outcome.OK:
        return End(Finish(status=RunStatus.COMPLETED, output_hash=step.output_hash))
    return End(
        Finish(
            status=_ENDS.get(step.outcome, RunStatus.FAILED),
            error_hash=step.error_hash,
            error_summary=f"{step.node_id}: {step.error_summary}" if step.error_summary else step.node_id,
        )
    )


def _failed(code: str, problem: Failure) -> End:
    return End(
        Finish(
            status=RunStatus.FAILED,
            error_hash=problem.value.hash,
            error_code=code,
            error_summary=problem.summary,
        ),
        (problem.value,),
    )
