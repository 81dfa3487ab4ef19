"""What `start` needs of a workflow that is an object of this process."""

import os
import pwd
from pathlib import Path
from typing import Any

from lockgate.engine.places import project_dir
from lockgate.engine.sources import measure
from lockgate.flow.authoring.workflow import Workflow
from lockgate.model.encoding import checked, stored
from lockgate.model.records import Actor
from lockgate.model.statuses import ActorKind
from lockgate.store import commands

INLINE = "inline:"
"""The reference of a workflow without a file; no host claims its runs."""


def definition_of(workflow: Workflow) -> commands.Definition:
    """The workflow with its file and the project's loaded modules; inline where its file cannot be read."""
    file, content = _file_of(workflow)
    root = Path.cwd() if file is None else project_dir(file, Path.cwd())
    return commands.Definition(
        workflow=workflow.name,
        workflow_ref=f"{INLINE}{workflow.name}" if file is None else f"{file}:{workflow.name}",
        project_dir=str(root),
        document=stored(workflow.document()),
        sources={} if file is None else measure(file, content, root),
    )


def new_run(definition: commands.Definition, given: Any, title: str | None) -> tuple[commands.NewRun, Actor]:
    """Raises PayloadError for an input that breaks the payload rules."""
    user = _user()
    new = commands.NewRun(
        definition=definition,
        input=checked(given),
        title=title,
        started_by=user,
        started_by_uid=os.getuid(),
    )
    return new, Actor(kind=ActorKind.USER, id=user)


def _file_of(workflow: Workflow) -> tuple[Path | None, bytes]:
    if workflow.file is None or not workflow.file.endswith(".py"):
        return None, b""
    file = Path(workflow.file).resolve()
    try:
        return file, file.read_bytes()
    except OSError:
        return None, b""


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
