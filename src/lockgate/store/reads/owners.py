"""Who holds the store and its runs: the host's row, and claims as others see them."""

import sqlite3
from contextlib import suppress

import msgspec

from lockgate.model.records import HostView, Record
from lockgate.model.statuses import OwnerKind
from lockgate.store.rows import only_row, read_row
from lockgate.store.statements import load

_HOSTS = load("hosts")


class HeldClaim(Record, frozen=True, kw_only=True):
    """A claim as others see it: never its token."""

    run_id: str
    generation: int
    owner_kind: OwnerKind
    owner_id: str
    host_epoch: int | None
    boot_id: str
    heartbeat_mono: int
    heartbeat_at: int


def host_state(connection: sqlite3.Connection) -> HostView:
    """The host as the store knows it; all but the epoch is null while there is none."""
    return read_row(HostView, only_row(connection.execute(_HOSTS["host"]), "host_state"))


def held_claims(connection: sqlite3.Connection, *, strict: bool = False) -> tuple[HeldClaim, ...]:
    """Every claim that is held, oldest heartbeat first.

    A damaged row must not hide the claims of others: it is left out, and an error only where that is asked for.
    """
    held: list[HeldClaim] = []
    for row in connection.execute(_HOSTS["claims"]).fetchall():
        with suppress(*() if strict else (msgspec.ValidationError,)):
            held.append(read_row(HeldClaim, row))
    return tuple(held)


def process_of(owner_id: str) -> tuple[int, str]:
    """The pid and start of a process owner; (0, "") for any other id."""
    kind, _, rest = owner_id.partition(":")
    pid, _, start = rest.partition(":")
    return (int(pid), start) if kind == "process" and pid.isdigit() else (0, "")
