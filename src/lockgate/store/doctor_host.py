"""What waits for somebody: the host, the claims, and the blocked runs. Legal states, so remarks and no findings."""

import sqlite3
from collections.abc import Iterator

from lockgate.flow.head import LEASE_MS
from lockgate.flow.words import ways_on
from lockgate.model.ids import short_id
from lockgate.model.records import HostView, Now
from lockgate.store.hosts import held_claims, host_state, is_expired
from lockgate.store.migrations import IsAlive
from lockgate.store.statements import load

_KEEPING = load("keeping")
_TAIL = 200


def host_word(host: HostView, now: Now, is_alive: IsAlive) -> str:
    """none, live, stale (silent or gone) or other_boot."""
    if host.pid is None or host.heartbeat_mono is None:
        return "none"
    if host.boot_id != now.boot_id:
        return "other_boot"
    silent = now.mono_ms - host.heartbeat_mono > LEASE_MS
    return "live" if not silent and is_alive(host.pid, host.process_start or "") else "stale"


def host_remarks(connection: sqlite3.Connection, now: Now, is_alive: IsAlive) -> Iterator[str]:
    """What a person would want to know about who executes."""
    host = host_state(connection)
    word = host_word(host, now, is_alive)
    queued = connection.execute(_KEEPING["queued_runs"]).fetchone()[0]
    claims = held_claims(connection, strict=True)
    lost = [held for held in claims if is_expired(held, now.boot_id, now.mono_ms)]
    if word == "none" and queued:
        yield f"no host runs, and runs wait for one ({queued}): lockgate host"
    elif word == "stale":
        yield f"host pid {host.pid} is gone or silent (claims: {len(claims)}): lockgate host takes over"
    elif word == "other_boot":
        yield f"host pid {host.pid} ran before the machine was started again: lockgate host takes over"
    if lost:
        yield f"holders of claims are silent ({len(lost)}): the next host takes them over"
    loose = connection.execute(_KEEPING["loose_workers"]).fetchone()[0]
    if loose:
        yield f"workers of claims that have ended ({loose}): a live host ends them within seconds, or the next one does"
    for run_id, code, detail, stderr in connection.execute(_KEEPING["blocked_runs"]).fetchall():
        tail = " ".join((stderr or "").split())[-_TAIL:]
        said = f"{short_id(run_id)} is blocked: {code}{f', {detail}' if detail else ''}"
        yield f"{said}{f'; last stderr: {tail}' if tail else ''}; {ways_on(code, short_id(run_id))}"
