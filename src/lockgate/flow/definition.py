"""A workflow as it was loaded, and what it made of one input: what `start` and `restart` take."""

from lockgate.flow.graph import Graph, decode
from lockgate.model.encoding import sha256, stored
from lockgate.model.records import Record, Value

BEGIN_LIMIT = 30.0
"""Seconds that all functions of the input may take together."""


class Given(Record, frozen=True, kw_only=True):
    """The stored form of a checked input; with `is_titled` somebody has named the run, and no title is made."""

    content: bytes
    is_titled: bool


class Begun(Record, frozen=True, kw_only=True):
    """The input that `input_hash` names was taken. `title` and `settings` are what a run of it begins with."""

    input_hash: str
    title: str | None = None
    settings: Value | None = None


class Definition(Record, frozen=True, kw_only=True):
    """A workflow: its name, where it comes from, its document, and its files by SHA-256.

    `workflow_ref` is the absolute `file.py:name`, or `inline:<name>`, which no host claims. `begun` is there once
    an input was given.
    """

    workflow: str
    workflow_ref: str
    project_dir: str
    document: bytes
    sources: dict[str, str]
    begun: Begun | None = None

    @property
    def digest(self) -> str:
        return sha256(self.document)

    @property
    def graph(self) -> Graph:
        return decode(self.digest, self.document)

    @property
    def encoded_sources(self) -> bytes:
        """The stored form of the files: a JSON object path -> SHA-256."""
        return stored(self.sources)
