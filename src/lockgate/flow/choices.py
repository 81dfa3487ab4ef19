"""What a person may choose between: choices, their text input, and the default that a deadline takes."""

from msgspec import Struct

from lockgate.model.statuses import Intent

MAX_TEXT = 4000


class TextInput(Struct, frozen=True, forbid_unknown_fields=True):
    """A line or more of text that goes with a choice; lengths count characters, both ends included."""

    name: str
    prompt: str
    min_length: int = 1
    max_length: int = MAX_TEXT


class Choice(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing to choose. `key` is what a response carries and edges route by, `label` what people read."""

    key: str
    label: str
    intent: Intent = Intent.NEUTRAL
    input: TextInput | None = None


class Default(Struct, frozen=True, forbid_unknown_fields=True):
    """What is chosen when nobody answered `after_ms` after the request was created."""

    choice: str
    after_ms: int
