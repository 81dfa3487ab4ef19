"""The named statements of sql/*.sql: one file per noun, `-- name: purpose` before each statement."""

import re
from functools import cache
from importlib.resources import files
from typing import LiteralString

_NAME = re.compile(r"^-- ([a-z][a-z0-9_]*): .+$", re.MULTILINE)


class Statements:
    """The statements of one noun; `statements["name"]` is the text. An unknown name is a KeyError."""

    def __init__(self, noun: str, texts: dict[str, LiteralString]) -> None:
        self.noun = noun
        self.texts = texts

    def __getitem__(self, name: str) -> LiteralString:
        return self.texts[name]


@cache
def load(noun: str) -> Statements:
    """Reads sql/<noun>.sql, once per process."""
    source = _text(f"{noun}.sql")
    marks = list(_NAME.finditer(source))
    ends = [mark.start() for mark in marks[1:]] + [len(source)]
    texts = {mark.group(1): source[mark.end() : end].strip().rstrip(";") for mark, end in zip(marks, ends, strict=True)}
    if len(texts) != len(marks):
        raise ValueError(f"{noun}.sql has two statements of one name")
    return Statements(noun, texts)


def schema() -> LiteralString:
    """The text of the present schema, whole."""
    return _text("schema.sql")


def migrations() -> tuple[tuple[str, LiteralString], ...]:
    """(name, text) of each rung of sql/migrations, in order: `0001_first` is version 1 whole."""
    names = sorted(file.name for file in (files("lockgate.store") / "sql" / "migrations").iterdir())
    return tuple((name.removesuffix(".sql"), _text(f"migrations/{name}")) for name in names if name.endswith(".sql"))


def _text(name: str) -> LiteralString:
    # What the package ships is as fixed as a literal in the code.
    return (files("lockgate.store") / "sql" / name).read_text(encoding="utf-8")
