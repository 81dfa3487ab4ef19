"""Loads a workflow file in this process, and says in one error what is wrong with it."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from lockgate.engine.locating import import_circle, node_at, other_file, place_of
from lockgate.engine.places import project_dir as project_dir_of
from lockgate.engine.sources import measure
from lockgate.flow.authoring.workflow import Workflow
from lockgate.model.errors import DefinitionError, NotFound

LOADING = "LOCKGATE_LOADING"
"""Names the workflow file that this process, or one above it, is loading."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A workflow with the files that it consists of; `file` and `project_dir` are absolute."""

    workflow: Workflow
    file: Path
    name: str
    project_dir: Path
    sources: dict[str, str]


def load(path: Path, name: str | None = None, *, project_dir: Path | None = None) -> Loaded:
    """Imports the file, which runs its code, and picks the workflow `name` or the only one in it.

    Raises NotFound for a missing file or name, DefinitionError naming file, node and reason for the rest.
    """
    file = path.resolve()
    root = (project_dir or project_dir_of(file, Path.cwd())).resolve()
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise NotFound("workflow file", str(path)) from None
    except OSError as problem:
        raise DefinitionError(f"cannot be read: {problem.strerror}", file=str(file)) from problem
    module = _execute(file, content, root)
    workflow = _pick(_workflows(module, file), file, name)
    return Loaded(workflow, file, workflow.name, root, measure(file, content, root))


def _execute(file: Path, content: bytes, root: Path) -> ModuleType:
    # Compiled from the bytes that are hashed: a cached .pyc is checked by time and size only.
    module = ModuleType(f"lockgate_workflow_{file.stem}")
    module.__file__ = str(file)
    for place in (str(root), str(file.parent)):
        if place not in sys.path:
            sys.path.insert(0, place)
    sys.modules[module.__name__] = module
    os.environ[LOADING] = str(file)
    try:
        exec(compile(content, str(file), "exec"), module.__dict__)
    except SyntaxError as problem:
        raise DefinitionError(_syntax(problem, file), file=str(file)) from problem
    except (Exception, SystemExit) as problem:
        raise _refusal(problem, file, content, root) from problem
    finally:
        del os.environ[LOADING]
    return module


def refuse_while_loading() -> None:
    """Raises DefinitionError inside a process that is loading a workflow file, and in what that has started.

    A script that starts runs of itself without a `__main__` guard would load itself again, without end.
    """
    file = os.environ.get(LOADING)
    if file is not None:
        reason = 'it starts or loads workflows while it is loaded: guard that with `if __name__ == "__main__":`'
        raise DefinitionError(reason, file=file)


def _refusal(problem: BaseException, file: Path, content: bytes, root: Path) -> DefinitionError:
    """What is wrong with the file or one that it imports, with the line and, where the text tells it, the node."""
    place = place_of(problem, file)
    where = f"line {place[0]}: "
    circle = import_circle(problem)
    other = None if circle else other_file(problem, file, root)
    if other is not None:
        path, place = other
        where += f"{path.name}, line {place[0]}: "
        content = path.read_bytes()
    node = problem.node if isinstance(problem, DefinitionError) else None
    if isinstance(problem, DefinitionError):
        reason = problem.reason
    elif isinstance(problem, SystemExit):
        reason = "it calls sys.exit while it is loaded"
    elif circle:
        reason = f"the files import each other: {' → '.join(circle)}"
    else:
        reason = f"{type(problem).__name__}: {problem}"
    return DefinitionError(f"{where}{reason}", file=str(file), node=node or node_at(content, place))


def _syntax(problem: SyntaxError, file: Path) -> str:
    if problem.filename not in (None, str(file)):
        return f"{problem.filename}, line {problem.lineno}: {problem.msg}"
    return f"line {problem.lineno or 0}: {problem.msg}"


def _workflows(module: ModuleType, file: Path) -> dict[str, Workflow]:
    """The workflows of a module's names by their own name; imported ones count where there are no others."""
    every = {id(value): value for value in vars(module).values() if isinstance(value, Workflow)}
    own = [found for found in every.values() if found.file == str(file)]
    named: dict[str, Workflow] = {}
    for workflow in own or every.values():
        if workflow.name in named:
            raise DefinitionError(f"two workflows with the name {workflow.name!r}", file=str(file))
        named[workflow.name] = workflow
    return named


def _pick(found: dict[str, Workflow], file: Path, name: str | None) -> Workflow:
    if not found:
        raise DefinitionError("there is no Workflow in this file", file=str(file))
    if name is not None:
        if name not in found:
            raise NotFound("workflow", f"{file}:{name}", sorted(found))
        return found[name]
    if len(found) > 1:
        names = ", ".join(sorted(found))
        raise DefinitionError(f"{len(found)} workflows, {names}: say which, {file.name}:NAME", file=str(file))
    return next(iter(found.values()))
