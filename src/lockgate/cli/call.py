"""One call of the command: its flags, its settings, its store, and the two ways to print."""

import json
import os
import sys
import uuid
from collections.abc import Callable, Mapping
from datetime import tzinfo
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lockgate.cli.exits import NoTerminal
from lockgate.config.settings import Settings, read
from lockgate.model.errors import StoreError
from lockgate.model.ids import KEY, match

if TYPE_CHECKING:
    from lockgate.model.records import Now
    from lockgate.store.openfile import Transaction
    from lockgate.view.lens import Lens

T = TypeVar("T")


class Call:
    """What every command gets. `flags` holds the settings that stood on the command line."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self.environ = os.environ if environ is None else environ
        self.flags: dict[str, Any] = {}
        self.as_json = False
        self.given_key: str | None = None
        self._remarks: set[str] = set()

    @cached_property
    def settings(self) -> Settings:
        return read(self.flags, self.environ)

    @property
    def db(self) -> Path:
        return self.settings.db

    def use_store(self, path: Path) -> None:
        """From here on the call is about this store, whatever the settings say."""
        self.flags["db"] = str(path)
        self.__dict__.pop("settings", None)

    @cached_property
    def key(self) -> str:
        """The key of this command: the given one, else a new UUID."""
        return str(uuid.uuid4()) if self.given_key is None else match(KEY, self.given_key, "a key")

    def read(self, function: Callable[..., T], *arguments: Any) -> T:
        """One read transaction on the store, which must exist; `function(connection, *arguments)`."""
        from lockgate.store.once import read_once

        return read_once(self.db, lambda connection: function(connection, *arguments), remark=self._remark)

    def write(self, function: "Callable[[Transaction], T]", *, create: bool = False) -> T:
        """One write transaction; with `create` the store is made where there is none."""
        from lockgate.store.once import write_once

        return write_once(self.db, function, create=create)

    def run_id(self, given: str) -> str:
        """The run that was meant: a whole id, or a unique start of its short id. Raises NotFound."""
        from lockgate.store import reads

        return self.read(reads.resolve_run_id, given)

    def now(self) -> "Now":
        """One reading of the clocks, with the owners of claims that are gone, where there is a store to ask."""
        from lockgate.store.clock import SystemClock
        from lockgate.view.owners import informed_by

        now = SystemClock().now()
        try:
            return self.read(informed_by, now)
        except StoreError:
            return now

    @cached_property
    def zone(self) -> tzinfo:
        """The one time zone of this call's text."""
        from lockgate.config.zones import zone

        return zone(self.settings.zone)

    def lens(self) -> "Lens":
        """How this call's text is made: the zone and the characters of the settings, at this moment."""
        from lockgate.view.glyphs import ASCII, UNICODE
        from lockgate.view.lens import Lens

        plain = self.settings.ascii or not (sys.stdout.encoding or "").lower().startswith("utf")
        return Lens(self.now(), glyphs=ASCII if plain else UNICODE, zone=self.zone)

    def _remark(self, text: str) -> None:
        """Tells something once, however often the store is read."""
        if text not in self._remarks:
            self._remarks.add(text)
            self.tell(f"{self.db}: {text}")

    def document(self, document: Mapping[str, Any]) -> None:
        """Prints one JSON document on one line; everything beyond ASCII is escaped, so no terminal obeys it."""
        print(json.dumps(document, ensure_ascii=True, separators=(",", ":")), flush=True)

    def say(self, text: str = "") -> None:
        """Prints lines for people on stdout, made safe for a terminal."""
        print(_clean(text), flush=True)

    def tell(self, text: str) -> None:
        """A remark for people, on stderr, so that it never mixes with what stdout carries."""
        print(_clean(text), file=sys.stderr, flush=True)


def _clean(text: str) -> str:
    from lockgate.model.text import clean

    return clean(text, multiline=True)


def need_terminal(what: str, advice: str) -> None:
    """Raises NoTerminal unless a person can see the screen and type: stdin and stdout are terminals."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise NoTerminal(what, advice)
