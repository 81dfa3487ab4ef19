"""The loading child: loads one workflow file and prints what it is, as one JSON document on a line.

`python -P -m lockgate.engine.probe FILE PROJECT_DIR NAME [titled|untitled]`, NAME may be empty. With the last
argument the input of a run is on stdin, and a second line says what the workflow makes of it. User code runs
here and nowhere near the store; whatever it prints goes to stderr.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lockgate.engine.loading import load
from lockgate.flow.authoring.includes import fixed_inputs
from lockgate.flow.authoring.workflow import Workflow
from lockgate.flow.definition import Begun, Given
from lockgate.flow.schemas import check_schemas
from lockgate.model.encoding import stored
from lockgate.model.errors import DefinitionError, LockgateError, NotFound


def report(file: str, project_dir: str, name: str | None, given: Given | None) -> Iterator[dict[str, Any]]:
    """The documents that the parent reads, an error as the last one."""
    try:
        loaded = load(Path(file), name, project_dir=Path(project_dir))
        document = loaded.workflow.document()
        check_schemas(loaded.workflow.graph, fixed_inputs(loaded.workflow.nodes))
        yield {"name": loaded.name, "document": document, "sources": loaded.sources}
        if given is not None:
            yield {"begun": _begun(loaded.workflow, given) if loaded.workflow.graph.begins_with_input else None}
    except DefinitionError as problem:
        yield {"error": {"code": problem.code, "reason": problem.reason, "node": problem.node}}
    except NotFound as problem:
        yield {"error": {"code": problem.code, **problem.details}}
    except LockgateError as problem:
        yield {"error": {"code": problem.code, "reason": problem.message, "details": problem.details}}


def _begun(workflow: Workflow, given: Given) -> Begun:
    # What runs functions is loaded only where there may be any: starting a plain workflow should cost little.
    import asyncio

    from lockgate.engine.beginning import begin

    return asyncio.run(begin(workflow, given))


def main() -> None:
    # The answer has its own descriptor: what the workflow prints must not mix with it.
    answer = os.dup(1)
    os.dup2(2, 1)
    file, project_dir, name, *titled = sys.argv[1:]
    given = Given(content=_whole_stdin(), is_titled=titled[0] == "titled") if titled else None
    os.chdir(project_dir)
    with os.fdopen(answer, "wb") as out:
        for document in report(file, project_dir, name or None, given):
            out.write(stored(document) + b"\n")
            out.flush()
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads and exit handlers of the workflow are none of the parent's business.
    os._exit(0)


def _whole_stdin() -> bytes:
    """What the parent hands over; the workflow's code finds nothing on stdin, as in a worker."""
    with os.fdopen(os.dup(0), "rb") as given:
        content = given.read()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return content


if __name__ == "__main__":
    main()
