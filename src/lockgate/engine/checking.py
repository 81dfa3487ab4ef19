"""Looks at a workflow from outside: a child process with a time limit loads its code."""

import contextlib
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from lockgate.engine import places
from lockgate.engine.loading import refuse_while_loading
from lockgate.engine.sources import measure
from lockgate.flow.authoring.includes import fixed_inputs
from lockgate.flow.authoring.workflow import Workflow
from lockgate.flow.definition import BEGIN_LIMIT, Begun, Definition, Given
from lockgate.flow.graph import Graph
from lockgate.flow.schemas import check_schemas
from lockgate.model.encoding import stored
from lockgate.model.errors import DefinitionError, LockgateError, NotFound, Refused

LIMIT = 10.0
"""Seconds that a workflow file may take to load."""

_WIND_UP = 5.0


@dataclass(frozen=True, slots=True)
class Checked:
    """A workflow that can be started. `document` is the stored form of the definition, `digest` its SHA-256.

    `file` is None for a workflow that was made where there is no file, as in an interactive session. `begun` is
    there where an input was given, and was taken.
    """

    name: str
    file: Path | None
    project_dir: Path
    document: bytes
    sources: dict[str, str]
    begun: Begun | None = None

    @property
    def digest(self) -> str:
        return self.definition.digest

    @property
    def graph(self) -> Graph:
        return self.definition.graph

    @property
    def reference(self) -> str:
        """What a host loads: the absolute file with the workflow's name; `inline:<name>` is never claimed."""
        return f"{self.file}:{self.name}" if self.file is not None else f"inline:{self.name}"

    @property
    def definition(self) -> Definition:
        return Definition(
            workflow=self.name,
            workflow_ref=self.reference,
            project_dir=str(self.project_dir),
            document=self.document,
            sources=self.sources,
            begun=self.begun,
        )


def described(workflow: Workflow, *, caller: Path | None = None) -> Checked:
    """A workflow of this very process, with its sources as they are loaded here."""
    refuse_while_loading()
    check_schemas(workflow.graph, fixed_inputs(workflow.nodes), workflow.file)
    here = (caller or Path.cwd()).resolve()
    document = stored(workflow.document())
    file = Path(workflow.file).resolve() if workflow.file is not None else None
    if file is None or not file.is_file():
        return Checked(workflow.name, None, here, document, {})
    root = places.project_dir(file, here)
    return Checked(workflow.name, file, root, document, measure(file, file.read_bytes(), root))


def check(
    reference: str,
    *,
    caller: Path | None = None,
    data_dir: Path | None = None,
    limit: float = LIMIT,
    given: Given | None = None,
) -> Checked:
    """Resolves `file.py[:name]` or a workflow's name and loads it in a child, at most `limit` seconds.

    A name is looked up in .lockgate/workflows of the nearest ancestor of `caller` (default: the working
    directory) that has it, then in `data_dir`/workflows. An input that is `given` is checked in the child, which
    runs the workflow's functions of it. Raises NotFound, DefinitionError naming file, node and reason, and
    Refused for an input that the workflow does not take.
    """
    here = caller or Path.cwd()
    file, name = places.split_reference(reference)
    if places.is_file_reference(file):
        return probe(places.existing(file, here), name, caller=here, limit=limit, given=given)
    for shelf in places.shelves(here, data_dir):
        found = _named(shelf, reference, here, limit, given)
        if found is not None:
            return found
    known = [name for shelf in places.shelves(here, data_dir) for name in places.names_on(shelf)]
    raise NotFound("workflow", reference, sorted(set(known)))


def probe(file: Path, name: str | None, *, caller: Path, limit: float = LIMIT, given: Given | None = None) -> Checked:
    """Loads one file in a child. The child is killed, with all it started, when the limit is over."""
    refuse_while_loading()
    root = places.project_dir(file, caller)
    command = [sys.executable, "-P", "-m", "lockgate.engine.probe", str(file), str(root), name or ""]
    if given is not None:
        command.append("titled" if given.is_titled else "untitled")
    answer, errors, status = _ask(command, file, limit, None if given is None else given.content)
    try:
        loaded, *more = [msgspec.json.decode(line) for line in answer.splitlines()]
        said = more[0] if given is not None and "error" not in loaded else loaded
    except (msgspec.DecodeError, ValueError, IndexError):
        last = errors.strip().splitlines()[-1:] or ["nothing was printed"]
        reason = f"it ended the loading process ({_ending(status)}): {last[0]}"
        raise DefinitionError(reason, file=str(file)) from None
    if "error" in said:
        raise _error(said["error"], file)
    begun = msgspec.convert(said["begun"], Begun | None) if given is not None else None
    return Checked(loaded["name"], file, root, stored(loaded["document"]), loaded["sources"], begun)


def _named(shelf: Path, name: str, caller: Path, limit: float, given: Given | None) -> Checked | None:
    """The workflow of this name on a shelf. A file that cannot be loaded matters only if no other has it."""
    found: list[Checked] = []
    broken: DefinitionError | None = None
    for file in places.mentioning(shelf, name):
        try:
            found.append(probe(file, name, caller=caller, limit=limit, given=given))
        except NotFound:
            continue
        except DefinitionError as problem:
            broken = broken or problem
    if len(found) > 1:
        files = " and ".join(str(checked.file) for checked in found)
        raise DefinitionError(f"two files have a workflow {name!r}: {files}")
    if not found and broken is not None:
        raise broken
    return found[0] if found else None


def _ask(command: list[str], file: Path, limit: float, content: bytes | None) -> tuple[bytes, str, int]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LOCKGATE_")}
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL if content is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    with child:
        try:
            answer, errors = _hear(child, limit, content)
        except subprocess.TimeoutExpired as late:
            _end_group(child)
            child.communicate()
            what = "its functions of the input did not end" if late.output else "it was not loaded"
            raise DefinitionError(f"{what} within {late.timeout:g} s", file=str(file)) from None
        except BaseException:
            _end_group(child)
            raise
    return answer, errors.decode(errors="replace"), child.returncode


def _hear(child: subprocess.Popen[bytes], limit: float, content: bytes | None) -> tuple[bytes, bytes]:
    """What the child says. Once it has loaded the file, its functions of the input have a limit of their own."""
    try:
        return child.communicate(content, timeout=limit)
    except subprocess.TimeoutExpired as late:
        if content is None or b"\n" not in (late.output or b""):
            late.output = None
            raise
    return child.communicate(timeout=BEGIN_LIMIT + _WIND_UP)


def _end_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _ending(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit code {status}"


def _error(said: dict[str, Any], file: Path) -> LockgateError:
    if said["code"] == NotFound.code:
        return NotFound(said["what"], said["given"], said["candidates"])
    if said["code"] == DefinitionError.code:
        return DefinitionError(said["reason"], file=str(file), node=said["node"])
    return Refused(said["code"], said["reason"], **said["details"])
