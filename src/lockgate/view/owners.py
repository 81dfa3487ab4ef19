"""Whether those who hold claims still live: a run whose owner is gone is lost, however young its lease is."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from lockgate.model.records import HostView, Now
from lockgate.model.statuses import OwnerKind
from lockgate.store.living import process_exists
from lockgate.store.reads.owners import process_of

if TYPE_CHECKING:
    import sqlite3

Exists = Callable[[int], bool]


class Held(Protocol):
    """What is asked of a claim."""

    @property
    def owner_kind(self) -> OwnerKind: ...
    @property
    def owner_id(self) -> str: ...


def informed(now: Now, claims: Iterable[Held], host: HostView, exists: Exists = process_exists) -> Now:
    """The same moment, with the owners of `claims` that are gone; another boot ends claims by itself."""
    gone = {claim.owner_id for claim in claims if not _lives(claim, host, exists)}
    return replace(now, gone=frozenset(gone)) if gone else now


def informed_by(connection: "sqlite3.Connection", now: Now) -> Now:
    """As `informed`, of all the claims of a store."""
    from lockgate.store import reads

    claims = reads.held_claims(connection)
    return informed(now, claims, reads.host_state(connection)) if claims else now


def _lives(claim: Held, host: HostView, exists: Exists) -> bool:
    if claim.owner_kind is OwnerKind.PROCESS:
        pid, _ = process_of(claim.owner_id)
        return pid == 0 or exists(pid)
    # Of a host that is not the store's present one nothing is known but its lease.
    return host.host_id != claim.owner_id or host.pid is None or exists(host.pid)
