"""What a human decision offers: choices with their text input, and the question that is asked."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from lockgate.flow.authoring.shapes import identifier, line, milliseconds
from lockgate.flow.choices import MAX_TEXT, Choice, Default, TextInput
from lockgate.flow.presentation import Block, presentation, title
from lockgate.model.errors import DefinitionError
from lockgate.model.statuses import Intent

_MAX_CHOICES = 64
_MAX_INPUT = 100_000


def text_input(name: str, prompt: str, *, min_length: int = 1, max_length: int = MAX_TEXT) -> TextInput:
    """A text that goes with a choice, as `input.<name>` of the decision's output; lengths in characters."""
    identifier(name, "the name of a text input")
    line(prompt, "the prompt of a text input")
    for value, what in ((min_length, "min_length"), (max_length, "max_length")):
        if isinstance(value, bool) or not isinstance(value, int):
            raise DefinitionError(f"{what} of a text input must be a whole number, got {value!r}")
    if min_length < 0 or not max(1, min_length) <= max_length <= _MAX_INPUT:
        raise DefinitionError(
            f"a text input needs 0 <= min_length <= max_length and 1 <= max_length <= {_MAX_INPUT}, "
            f"got {min_length} and {max_length}"
        )
    return TextInput(name=name, prompt=prompt, min_length=min_length, max_length=max_length)


def choice(label: str, *, intent: str = "neutral", input: TextInput | None = None) -> Choice:
    """One thing to choose; its key is the one it has in `human_decision(choices=...)`.

    `intent` is approve, reject or neutral; `label` is unique among the choices.
    """
    line(label, "the label of a choice")
    if intent not in set(Intent):
        raise DefinitionError(f"the intent of a choice is one of {', '.join(Intent)}, got {intent!r}")
    if input is not None and not isinstance(input, TextInput):
        raise DefinitionError(f"the input of a choice is made by text_input(...), got {input!r}")
    return Choice(key="", label=label, intent=Intent(intent), input=input)


def keyed(choices: Any) -> tuple[Choice, ...]:
    """The choices of a decision in their declared order, each with its key."""
    if not isinstance(choices, Mapping) or not 1 <= len(choices) <= _MAX_CHOICES:
        raise DefinitionError(f"choices must be a map of 1 to {_MAX_CHOICES} choices")
    found: dict[str, Choice] = {}
    for key, made in choices.items():
        identifier(key, "the key of a choice")
        if not isinstance(made, Choice):
            raise DefinitionError(f"the choice {key!r} is made by choice(...), got {made!r}")
        twin = next((known.key for known in found.values() if _looks(known) == _looks(made)), None)
        if twin is not None:
            raise DefinitionError(f"the choices {twin!r} and {key!r} have the same label {made.label!r}")
        found[key] = msgspec.structs.replace(made, key=key)
    return tuple(found.values())


def _looks(choice: Choice) -> str:
    """The label as people see it: however its accents are written."""
    return unicodedata.normalize("NFC", choice.label)


def default_of(given: Any, choices: Sequence[Choice]) -> Default:
    """The checked default of `on_timeout=(choice, seconds)`; a deadline counts whole seconds, rounded up."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise DefinitionError(f"on_timeout must be (choice, seconds), got {given!r}")
    key, seconds = given
    chosen = next((known for known in choices if known.key == key), None)
    if chosen is None:
        raise DefinitionError(f"on_timeout takes {key!r}, which is not a choice")
    if chosen.input is not None and chosen.input.min_length > 0:
        raise DefinitionError(f"on_timeout takes {key!r}, which needs a text that nobody would give")
    after_ms = milliseconds(seconds, "the seconds of on_timeout")
    return Default(choice=key, after_ms=-(-after_ms // 1000) * 1000)


@dataclass(frozen=True, slots=True)
class Ask:
    """What a human decision asks: `title` is the question, `subject` any JSON value that is being decided on.

    Checked when it is made: PayloadError names the place, the limit and what was seen.
    """

    title: str
    summary: str
    blocks: Sequence[Block | Mapping[str, Any]] = ()
    subject: Any = None

    def __post_init__(self) -> None:
        title(self.title)
        presentation(self.summary, self.blocks)
