"""Values against the JSON Schemas of their definitions; the library is loaded only where there is one."""

from typing import Any

from lockgate.flow.mounts import exit_of
from lockgate.model.errors import Refused

Schema = dict[str, Any] | bool


def check_schema(schema: Schema, value: Any) -> None:
    """Raises Refused `invalid_input` with the JSON path of the first thing that does not fit."""
    problem = _problem(schema, value)
    if problem is not None:
        path, reason = problem
        raise Refused("invalid_input", f"{path}: {reason}", field=path)


def check_settings(schema: Schema | None, value: Any) -> None:
    """Raises Refused `invalid_settings` with the JSON path; without a schema every value fits."""
    problem = _problem(schema, value) if schema is not None else None
    if problem is not None:
        path, reason = problem
        raise Refused("invalid_settings", f"the settings at {path}: {reason}", field=path)


def check_passage(node_id: str, schema: Schema, value: Any) -> None:
    """Raises Refused `unfit_value` where an include's input, or an exit's {exit, output}, does not fit the schema."""
    leaves = exit_of(node_id) is not None
    problem = _problem(schema, value["output"] if leaves and isinstance(value, dict) else value)
    if problem is not None:
        path, reason = problem
        what = "output" if leaves else "input"
        raise Refused("unfit_value", f"the {what} at {node_id!r} does not fit: {path}: {reason}", field=path)


def _problem(schema: Schema, value: Any) -> tuple[str, str] | None:
    import jsonschema

    validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)(schema)
    problem = jsonschema.exceptions.best_match(validator.iter_errors(value))
    return (problem.json_path, problem.message[:300]) if problem is not None else None
