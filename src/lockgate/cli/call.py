"""One call of the command: its flags, its settings, its store, and the two ways to print."""

import json
import os
import sys
import uuid
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from lockgate.cli.exits import NoTerminal
from lockgate.config.settings import Settings, read
from lockgate.model.ids import KEY, match
from lockgate.model.text import clean

T = TypeVar("T")


class Call:
    """What every command gets. `flags` holds the settings that stood on the command line."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self.environ = os.environ if environ is None else environ
        self.flags: dict[str, Any] = {}
        self.as_json = False
        self.given_key: str | None = None

    @cached_property
    def settings(self) -> Settings:
        return read(self.flags, self.environ)

    @property
    def db(self) -> Path:
        return self.settings.db

    @cached_property
    def key(self) -> str:
        """The key of this command: the given one, else a new UUID."""
        return str(uuid.uuid4()) if self.given_key is None else match(KEY, self.given_key, "a key")

    def read(self, function: Callable[..., T], *arguments: Any) -> T:
        """One read transaction on the store, which must exist; `function(connection, *arguments)`."""
        from lockgate.store.once import read_once

        found: T = read_once(self.db, lambda connection: function(connection, *arguments))
        return found

    def document(self, document: Mapping[str, Any]) -> None:
        """Prints one JSON document on one line; everything beyond ASCII is escaped, so no terminal obeys it."""
        print(json.dumps(document, ensure_ascii=True, separators=(",", ":")), flush=True)

    def say(self, text: str = "") -> None:
        """Prints lines for people on stdout, made safe for a terminal."""
        print(clean(text, multiline=True), flush=True)

    def tell(self, text: str) -> None:
        """A remark for people, on stderr, so that it never mixes with what stdout carries."""
        print(clean(text, multiline=True), file=sys.stderr, flush=True)


def need_terminal(what: str, advice: str) -> None:
    """Raises NoTerminal unless a person can see the screen and type: stdin and stdout are terminals."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise NoTerminal(what, advice)
