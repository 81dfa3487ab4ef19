"""What the header says: the state of the store, the state of the host, the counts over all runs."""

from enum import StrEnum

import msgspec

from lockgate.store.openfile import STILL


class StoreState(StrEnum):
    """What the header says of the store."""

    LIVE = "live"
    READ_ONLY = "read-only"
    LOCKED = "locked"
    GONE = "gone"
    REPLACED = "replaced"
    NEWER = "newer schema"
    DAMAGED = "damaged"
    FAILED = "failing"
    STILL = "a still picture"

    @property
    def is_live(self) -> bool:
        """Whether the data is what the store says now (of a still picture: what can be known)."""
        return self in (StoreState.LIVE, StoreState.READ_ONLY, StoreState.STILL)


UNWRITABLE = "the file cannot be written"


class HostState(StrEnum):
    OK = "ok"
    NONE = "none"
    SILENT = "silent"
    UNKNOWN = "not known"


class StoreFact(msgspec.Struct, frozen=True):
    """`as_of` is the wall time of the data; `since` the wall time at which the state began."""

    file: str
    state: StoreState = StoreState.LIVE
    as_of: int = 0
    since: int = 0
    sentence: str = ""
    schema: int = 0
    size: int = 0


def store_fact(file: str, *, still: bool, why_not: str) -> StoreFact:
    """What is said of a store that can be read; `why_not` is why nothing is written to it, empty where it may be."""
    if still:
        return StoreFact(file, StoreState.STILL, sentence=f"{STILL}.")
    if why_not:
        sentence = f"you can look at everything; deciding, pausing and starting are off ({why_not})."
        return StoreFact(file, StoreState.READ_ONLY, sentence=sentence)
    return StoreFact(file)


class HostFact(msgspec.Struct, frozen=True):
    """`busy` of `capacity` slots execute; `heartbeat_at` is the wall time of the last sign of life."""

    state: HostState = HostState.NONE
    pid: int | None = None
    busy: int = 0
    capacity: int = 0
    heartbeat_at: int | None = None


class Counts(msgspec.Struct, frozen=True):
    """Over all runs, whatever the filter is. `waiting_for_host` are the runs that only a host moves on."""

    total: int = 0
    need_you: int = 0
    running: int = 0
    lost: int = 0
    blocked: int = 0
    overdue: int = 0
    stuck: int = 0
    waiting_for_host: int = 0

    @property
    def wrong(self) -> int:
        return self.lost + self.blocked + self.overdue + self.stuck
