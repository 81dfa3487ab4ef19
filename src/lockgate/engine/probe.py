"""The loading child: loads one workflow file and prints what it is, as one JSON document on a line.

`python -P -m lockgate.engine.probe FILE PROJECT_DIR NAME [titled|untitled]`, NAME may be empty. With the last
argument the input of a run is on stdin, and a second line says what the workflow makes of it. User code runs
here and nowhere near the store; whatever it prints goes to stderr.
"""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lockgate.engine.beginning import Given, begin
from lockgate.engine.loading import load
from lockgate.flow.schemas import check_schemas
from lockgate.model.encoding import stored
from lockgate.model.errors import DefinitionError, LockgateError, NotFound


def report(file: str, project_dir: str, name: str | None, given: Given | None) -> Iterator[dict[str, Any]]:
    """The documents that the parent reads, an error as the last one."""
    try:
        loaded = load(Path(file), name, project_dir=Path(project_dir))
        document = loaded.workflow.document()
        check_schemas(loaded.workflow.graph)
        yield {"name": loaded.name, "document": document, "sources": loaded.sources}
        if given is not None:
            yield {"begun": asyncio.run(begin(loaded.workflow, given))}
    except DefinitionError as problem:
        yield {"error": {"code": problem.code, "reason": problem.reason, "node": problem.node}}
    except NotFound as problem:
        yield {"error": {"code": problem.code, **problem.details}}
    except LockgateError as problem:
        yield {"error": {"code": problem.code, "reason": problem.message, "details": problem.details}}


def main() -> None:
    # The answer has its own descriptor: what the workflow prints must not mix with it.
    answer = os.dup(1)
    os.dup2(2, 1)
    file, project_dir, name, *titled = sys.argv[1:]
    given = Given(_whole_stdin(), titled[0] == "titled") if titled else None
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
