"""The workflow of a run as the store takes it, from its file as it is now."""

from lockgate.cli.workflows import checked
from lockgate.flow.definition import Definition, Given
from lockgate.model.records import RunRow


def definition_again(run: RunRow, given: Given | None = None) -> Definition:
    """With what the workflow makes of an input that is given."""
    return checked(run.workflow_ref, given).definition
