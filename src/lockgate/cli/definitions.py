"""A checked workflow as the store takes it."""

from lockgate.cli.workflows import checked
from lockgate.engine.checking import Checked
from lockgate.model.records import RunRow
from lockgate.store.commands import Definition


def definition_of(found: Checked) -> Definition:
    return Definition(
        workflow=found.name,
        workflow_ref=found.reference,
        project_dir=str(found.project_dir),
        document=found.document,
        sources=found.sources,
    )


def definition_again(run: RunRow) -> Definition:
    """The workflow of a run, from its file as it is now."""
    return definition_of(checked(run.workflow_ref))
