"""The checked-in schemas are schemas, and each says whether it leaves anything open."""

from importlib.resources import files

import jsonschema
import pytest

from tests.cli.conftest import schema

NAMES = sorted(path.name.removesuffix(".json") for path in (files("lockgate.cli") / "schemas").iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one(name: str) -> None:
    found = schema(name)
    jsonschema.Draft202012Validator.check_schema(found)
    assert found["$id"] == f"lockgate.{name}.v1"


@pytest.mark.parametrize("name", NAMES)
def test_every_key_is_always_there(name: str) -> None:
    def closed(part: object) -> bool:
        if isinstance(part, dict):
            if "properties" in part:
                assert part["required"] == list(part["properties"])
                assert part["additionalProperties"] is False
            return all(closed(item) for item in part.values())
        return all(closed(item) for item in part) if isinstance(part, list) else True

    assert closed(schema(name))


def test_the_event_types_are_those_of_the_law() -> None:
    from lockgate.model.events import PAYLOADS

    assert set(PAYLOADS) <= set(schema("event")["properties"]["type"]["enum"])
