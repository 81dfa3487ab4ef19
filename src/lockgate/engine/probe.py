"""The loading child: loads one workflow file and prints what it is, as one JSON document.

`python -P -m lockgate.engine.probe FILE PROJECT_DIR [NAME]`. User code runs here and nowhere near the store;
whatever it prints goes to stderr.
"""

import os
import sys
from pathlib import Path
from typing import Any

from lockgate.engine.loading import load
from lockgate.model.encoding import stored
from lockgate.model.errors import DefinitionError, LockgateError, NotFound


def report(file: str, project_dir: str, name: str | None) -> dict[str, Any]:
    """What the parent reads: {loaded: ...} or {error: ...}."""
    try:
        loaded = load(Path(file), name, project_dir=Path(project_dir))
    except DefinitionError as problem:
        return {"error": {"code": problem.code, "reason": problem.reason, "node": problem.node}}
    except NotFound as problem:
        return {"error": {"code": problem.code, **problem.details}}
    except LockgateError as problem:
        return {"error": {"code": problem.code, "reason": problem.message, "node": None}}
    return {
        "loaded": {
            "name": loaded.name,
            "document": loaded.workflow.document(),
            "sources": loaded.sources,
        }
    }


def main() -> None:
    # The answer has its own descriptor: what the workflow prints must not mix with it.
    answer = os.dup(1)
    os.dup2(2, 1)
    file, project_dir, *name = sys.argv[1:]
    os.chdir(project_dir)
    document = stored(report(file, project_dir, name[0] if name else None))
    with os.fdopen(answer, "wb") as out:
        out.write(document)
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads and exit handlers of the workflow are none of the parent's business.
    os._exit(0)


if __name__ == "__main__":
    main()
