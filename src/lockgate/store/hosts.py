"""The host's row, its workers' rows and its clock: takeover, renewal, deadlines, and when to look again."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

import msgspec

from lockgate.flow.claims import waits_ms
from lockgate.flow.head import LEASE_MS
from lockgate.model.errors import Refused
from lockgate.model.records import Actor, ClaimToken, HostView, Record
from lockgate.model.statuses import ActorKind, OwnerKind, WorkerStatus
from lockgate.store import claims, heads
from lockgate.store.openfile import Transaction, apart
from lockgate.store.reads.owners import HeldClaim as HeldClaim
from lockgate.store.reads.owners import held_claims as held_claims
from lockgate.store.reads.owners import host_state as host_state
from lockgate.store.reads.owners import process_of
from lockgate.store.rows import read_rows
from lockgate.store.statements import load

_HOSTS, _REQUESTS = load("hosts"), load("requests")
STDERR_TAIL = 64 << 10


class Identity(Record, frozen=True, kw_only=True):
    """A host process: `process_start` tells it apart from a later process of the same pid."""

    host_id: str
    pid: int
    process_start: str
    capacity: int


class LaunchedWorker(Record, frozen=True, kw_only=True):
    """A launch that no host has seen end; `attempt_id` is the active attempt of its run."""

    worker_id: str
    run_id: str
    generation: int
    host_epoch: int
    boot_id: str
    pid: int | None
    process_start: str | None
    attempt_id: str | None


class Takeover(Record, frozen=True, kw_only=True):
    """What a new host found: its epoch, the launches to kill before it claims, the runs whose claim it ended."""

    epoch: int
    orphans: tuple[LaunchedWorker, ...]
    lost: tuple[str, ...]


IsAlive = Callable[[int, str], bool]
"""Whether the process of this pid exists and began at this start."""


def take_over(tx: Transaction, host: Identity, is_alive: IsAlive) -> Takeover:
    """Makes this process the store's host and ends what nobody alive holds any more, in one transaction.

    Raises Refused `host_alive` while a living host of this boot keeps its lease; a dead one is replaced at once.
    """
    previous = host_state(tx.connection)
    if _holds_lease(previous, tx) and is_alive(previous.pid or 0, previous.process_start or ""):
        raise Refused("host_alive", f"host pid {previous.pid} holds this store", pid=previous.pid)
    orphans = read_rows(LaunchedWorker, tx.connection.execute(_HOSTS["alive_workers"]).fetchall())
    tx.connection.execute(
        _HOSTS["take_host"],
        {
            "host_id": host.host_id,
            "pid": host.pid,
            "boot_id": tx.now.boot_id,
            "process_start": host.process_start,
            "at": tx.now.wall_ms,
            "mono": tx.now.mono_ms,
            "capacity": host.capacity,
        },
    )
    tx.connection.execute(_HOSTS["orphan_workers"], {"at": tx.now.wall_ms})
    lost = _end_ownerless(tx, held_claims(tx.connection), host.host_id, is_alive)
    return Takeover(epoch=previous.epoch + 1, orphans=orphans, lost=lost)


def end_lost_claims(tx: Transaction, host_id: str, is_alive: IsAlive) -> tuple[str, ...]:
    """Ends the claims of processes that are gone or silent past their lease; the runs that it freed."""
    inline = [held for held in held_claims(tx.connection) if held.owner_kind is OwnerKind.PROCESS]
    return _end_ownerless(tx, inline, host_id, is_alive)


def _end_ownerless(tx: Transaction, held: Iterable[HeldClaim], host_id: str, is_alive: IsAlive) -> tuple[str, ...]:
    """The runs that it freed. One whose rows cannot be read is left to the doctor: the others need their host."""
    lost: list[str] = []
    for each in held:
        if _is_ownerless(each, tx, is_alive):
            with suppress(*heads.UNREADABLE), apart(tx):
                end_claim(tx, each, host_actor(host_id))
                lost.append(each.run_id)
    return tuple(lost)


def end_claim(tx: Transaction, held: HeldClaim, actor: Actor) -> None:
    """The owner is gone: that is never the workflow's fault, so it does not count."""
    claims.lose(tx, held.run_id, held.generation, cause="host_lost", counted=False, progressed=True, actor=actor)


def renew(tx: Transaction, host_id: str, epoch: int) -> frozenset[str]:
    """One heartbeat for the host and all its claims; the runs that it still holds.

    Raises Refused `host_replaced` after a takeover.
    """
    clock = {"at": tx.now.wall_ms, "mono": tx.now.mono_ms, "boot_id": tx.now.boot_id}
    if tx.connection.execute(_HOSTS["renew_host"], {**clock, "host_id": host_id, "epoch": epoch}).rowcount != 1:
        raise Refused("host_replaced", f"another host has taken over from {host_id}", host_id=host_id, epoch=epoch)
    owned = {"owner_kind": OwnerKind.HOST, "owner_id": host_id}
    tx.connection.execute(_HOSTS["renew_claims"], {**clock, **owned})
    return frozenset(row[0] for row in tx.connection.execute(_HOSTS["claims_of"], owned).fetchall())


def renew_process(tx: Transaction, owner_id: str) -> int:
    """One heartbeat for the claims of a process that executes by itself; how many it still holds."""
    clock = {"at": tx.now.wall_ms, "mono": tx.now.mono_ms, "boot_id": tx.now.boot_id}
    named = {**clock, "owner_kind": OwnerKind.PROCESS, "owner_id": owner_id}
    return tx.connection.execute(_HOSTS["renew_claims"], named).rowcount


def leave(tx: Transaction, host_id: str, epoch: int) -> None:
    """The host stops by itself: the next one need not look for it."""
    tx.connection.execute(_HOSTS["leave_host"], {"host_id": host_id, "epoch": epoch})


def is_expired(held: HeldClaim, boot_id: str, mono_ms: int) -> bool:
    """Whether another claimant may end the claim; expiry alone never stops its holder."""
    return held.boot_id != boot_id or mono_ms - held.heartbeat_mono > LEASE_MS


def process_owner(pid: int, process_start: str) -> claims.Owner:
    """A process that executes by itself, as an owner: its id names the process, so that a host can look for it."""
    return claims.Owner(kind=OwnerKind.PROCESS, id=f"process:{pid}:{process_start}")


def _is_ownerless(held: HeldClaim, tx: Transaction, is_alive: IsAlive) -> bool:
    """A host's claim ends with its host; a process's with the process, its lease, or the boot."""
    if held.owner_kind is OwnerKind.HOST or is_expired(held, tx.now.boot_id, tx.now.mono_ms):
        return True
    return not is_alive(*process_of(held.owner_id))


def host_actor(host_id: str) -> Actor:
    return Actor(kind=ActorKind.HOST, id=host_id)


# --- workers -----------------------------------------------------------------------------------------------


def worker_starting(
    tx: Transaction,
    claim: ClaimToken,
    worker_id: str,
    epoch: int,
    *,
    pid: int | None = None,
    process_start: str | None = None,
) -> None:
    """A launch, in the claim's own transaction: no process that has a run is ever without its row."""
    tx.connection.execute(
        _HOSTS["insert_worker"],
        {
            "worker_id": worker_id,
            "run_id": claim.run_id,
            "generation": claim.generation,
            "host_epoch": epoch,
            "boot_id": tx.now.boot_id,
            "pid": pid,
            "process_start": process_start,
            "at": tx.now.wall_ms,
        },
    )


def worker_finished(
    tx: Transaction,
    worker_id: str,
    status: WorkerStatus,
    *,
    exit_code: int | None,
    signal: int | None,
    stderr_tail: str,
) -> None:
    """How a launch ended; `stderr_tail` is cut to its last 64 KiB."""
    tail = stderr_tail.encode("utf-8", "replace")[-STDERR_TAIL:].decode("utf-8", "replace")
    tx.connection.execute(
        _HOSTS["worker_finished"],
        {
            "worker_id": worker_id,
            "status": status,
            "at": tx.now.wall_ms,
            "exit_code": exit_code,
            "signal": signal,
            "stderr_tail": tail,
        },
    )


# --- what is due -------------------------------------------------------------------------------------------


def due_deadlines(
    connection: sqlite3.Connection, now_ms: int, latest_ms: int | None = None, limit: int = 100
) -> tuple[str, ...]:
    """The decisions whose default may be taken at this wall time, earliest first; paused runs wait.

    `latest_ms` is the latest wall time that there was, where the clock has been set back since: a run that has gone
    beyond its deadline by then is late already.
    """
    latest = max(now_ms, latest_ms or now_ms)
    rows = connection.execute(_REQUESTS["due"], {"now": now_ms, "latest": latest, "limit": limit}).fetchall()
    return tuple(row[0] for row in rows)


def deadline_in_ms(connection: sqlite3.Connection, now_ms: int, latest_ms: int | None = None) -> int | None:
    """How many ms from now the next default is due, 0 or less where one is; None where none is to come."""
    if latest_ms is not None and latest_ms > now_ms and due_deadlines(connection, now_ms, latest_ms, limit=1):
        return 0
    row = connection.execute(_REQUESTS["next_deadline"]).fetchone()
    return row[0] - now_ms if row is not None else None


def latest_waiting(connection: sqlite3.Connection) -> int | None:
    """The newest time of any run that waits for a decision with a deadline."""
    latest: int | None = connection.execute(_REQUESTS["latest_waiting"]).fetchone()[0]
    return latest


def next_available(connection: sqlite3.Connection, now_ms: int, exclude: Iterable[str] = ()) -> int | None:
    """How many ms from now the next queued run, but those in `exclude`, is claimable, 0 where one is."""
    named = {"exclude": msgspec.json.encode(list(exclude)).decode()}
    row = connection.execute(_HOSTS["next_available"], named).fetchone()
    return waits_ms(row[0], now_ms) if row is not None else None


def stops_now(connection: sqlite3.Connection, run_ids: Sequence[str]) -> frozenset[str]:
    """Of these runs, those whose newest pause asked for their worker to be stopped in the middle of its node."""
    named = {"run_ids": msgspec.json.encode(run_ids).decode()}
    return frozenset(row[0] for row in connection.execute(_HOSTS["stops_now"], named).fetchall())


def _holds_lease(host: HostView, tx: Transaction) -> bool:
    if host.boot_id != tx.now.boot_id or host.heartbeat_mono is None:
        return False
    return tx.now.mono_ms - host.heartbeat_mono <= LEASE_MS
