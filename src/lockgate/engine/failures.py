"""What went wrong in a node, as the value and the line that the run keeps of it."""

import traceback
from dataclasses import dataclass
from typing import Any

from lockgate.engine.values import value_of
from lockgate.model.errors import LockgateError
from lockgate.model.records import Value

SUMMARY_CHARS = 200
_TRACE_CHARS = 16_000
_OWN = ("/lockgate/engine/", "/lockgate/flow/", "/lockgate/model/")


class NodeFailed(Exception):
    """A node failed for a reason that is no bug of a function; `result` is what there was of an output, `trace` where
    its code ended itself."""

    def __init__(self, kind: str, message: str, result: Any = None, trace: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.result = result
        self.trace = trace


@dataclass(frozen=True, slots=True)
class Failure:
    """`value` is JSON {type, message, traceback, result}; `summary` is one line of at most 200 characters."""

    kind: str
    value: Value
    summary: str


def failure(kind: str, message: str, *, trace: str | None = None, result: Any = None) -> Failure:
    text = _whole(message)
    record = {"type": kind, "message": text, "traceback": trace and _whole(trace), "result": result}
    first = next(iter(text.splitlines()), "")
    summary = f"{kind}: {first}" if first else kind
    return Failure(kind, value_of(record), summary[:SUMMARY_CHARS])


def failure_of(problem: BaseException) -> Failure:
    """What an exception of a node's code says; the traceback has no frames of our own."""
    if isinstance(problem, NodeFailed):
        return failure(problem.kind, str(problem), trace=problem.trace, result=problem.result)
    kind = type(problem).__name__
    if isinstance(problem, LockgateError):
        return failure(kind, problem.message, trace=trace_of(problem))
    return failure(kind, _text(problem), trace=trace_of(problem))


def ended(problem: BaseException) -> NodeFailed:
    """What a function says that raised what would end more than itself, such as sys.exit."""
    detail = f"sys.exit({problem.code!r})" if isinstance(problem, SystemExit) else _text(problem)
    what = "the node's function ended itself"
    return NodeFailed(type(problem).__name__, f"{what}: {detail}" if detail else what, trace=trace_of(problem))


def trace_of(problem: BaseException) -> str | None:
    """The traceback through the author's code; None where it passed through none."""
    shown = traceback.TracebackException.from_exception(problem)
    foreign = [frame for frame in shown.stack if not any(own in frame.filename for own in _OWN)]
    shown.stack = traceback.StackSummary.from_list(foreign)
    return "".join(shown.format())[-_TRACE_CHARS:] if foreign else None


def _text(problem: BaseException) -> str:
    try:
        return str(problem)
    except Exception:
        return "its text cannot be made"


def _whole(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
