"""The values that a run has met so far, by hash, as stored bytes.

Functions get a fresh decoding each time: what one of them changes in a value, no other sees.
"""

from collections.abc import Iterable, Set
from typing import Any

import msgspec

from lockgate.engine.ports import ExecutionStore
from lockgate.model.encoding import MAX_OUTPUT_BYTES, checked, recomputable, sha256
from lockgate.model.records import Value

_CROWD = 16 << 20
_OVERHEAD = 200


def value_of(value: Any, root: str = "$", *, limit: int = MAX_OUTPUT_BYTES) -> Value:
    """The stored form of what a function returned. Raises PayloadError with the path below `root`."""
    content = checked(value, limit=limit, root=root)
    return Value(hash=sha256(content), content=content)


def subject_of(value: Any) -> Value:
    """What a person decides on, in the form that its digest can be recomputed from. Raises PayloadError."""
    content = recomputable(value, limit=MAX_OUTPUT_BYTES, root="$.subject")
    return Value(hash=sha256(content), content=content)


class Values:
    """Remembers contents, and which of them the store has for certain."""

    def __init__(self, store: ExecutionStore) -> None:
        self._store = store
        self._content: dict[str, bytes] = {}
        self._kept: set[str] = set()
        self._grown = 0

    async def fetch(self, hashes: Iterable[str | None]) -> None:
        """Reads the named values from the store, so that functions can use them without waiting."""
        for name in hashes:
            if name is not None and name not in self._content:
                self._content[name] = await self._store.read_value(name)
                self._kept.add(name)

    def add(self, value: Value) -> str:
        self._content[value.hash] = value.content
        self._grown += len(value.content) + _OVERHEAD
        return value.hash

    def decoded(self, name: str) -> Any:
        return msgspec.json.decode(self._content[name])

    def content(self, name: str) -> bytes:
        return self._content[name]

    def unsent(self, values: Iterable[Value]) -> tuple[Value, ...]:
        """Those of `values` that the store is not known to have."""
        return tuple({value.hash: value for value in values if value.hash not in self._kept}.values())

    def keep(self, values: Iterable[Value]) -> None:
        """The store has committed these."""
        self._kept.update(value.hash for value in values)

    @property
    def is_crowded(self) -> bool:
        """Whether enough was added since the last look to make it worth while."""
        return self._grown > _CROWD

    def forget_all_but(self, names: Set[str]) -> None:
        """Drops contents that no step's latest result names any more."""
        self._grown = 0
        for name in self._content.keys() - names:
            del self._content[name]
