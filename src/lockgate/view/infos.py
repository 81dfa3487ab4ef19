"""The read of the Info tab: what a run is made of, who holds it, how far it is."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from lockgate.flow import progress
from lockgate.flow.words import is_lost, waiting_for, word
from lockgate.model.errors import NotFound, PayloadError
from lockgate.model.ids import ROOT_MOUNT, scope_name, short_id
from lockgate.model.records import Now, Run, RunDetail, UpdateRow
from lockgate.model.text import clean
from lockgate.store import reads
from lockgate.view.shown import shown_effect
from lockgate.view.snapshots import Progress, ShownInfo, ShownValue
from lockgate.view.times import duration
from lockgate.view.values import FIRST_BYTES, settings_pairs, shown_value

if TYPE_CHECKING:
    import sqlite3

UPDATES = 20
SAMPLES = 12

Pairs = tuple[tuple[str, str], ...]


def read_info(connection: "sqlite3.Connection", detail: RunDetail, run: Run, now: Now) -> ShownInfo:
    """Groups of facts, the run's values, its progress and its effects."""
    return ShownInfo(
        groups=tuple(
            (title, pairs) for title, pairs in (*_groups(detail, run, now), *_settings(connection, detail)) if pairs
        ),
        input=_value(connection, detail.row.input_hash),
        output=_value(connection, detail.row.output_hash),
        error=_value(connection, detail.row.error_hash),
        progress=tuple(_progress(connection, detail, now)),
        effects=tuple(shown_effect(effect) for effect in detail.effects),
    )


def _groups(detail: RunDetail, run: Run, now: Now) -> list[tuple[str, Pairs]]:
    row = detail.row
    waits = waiting_for(run, now)
    facts = [
        ("id", row.run_id),
        ("workflow", row.workflow),
        ("title", row.title or ""),
        ("word", str(word(run, now)) + (f", waits for {waits}" if waits else "")),
        ("error", " ".join(part for part in (row.error_code, row.error_summary) if part)),
        ("started by", row.started_by),
        ("file", row.workflow_ref),
        ("project", row.project_dir),
        ("revision", str(run.revision)),
        ("steps", str(run.steps)),
    ]
    lineage = [
        ("restart of", short_id(row.parent_run_id) if row.parent_run_id else ""),
        ("root", short_id(row.root_run_id) if row.root_run_id != row.run_id else ""),
        ("restarted as", ", ".join(short_id(child) for child in detail.children)),
    ]
    return [
        ("Run", _clean(facts)),
        ("Lineage", _clean(lineage)),
        ("Claim", _clean(_claim(run, now))),
        ("Worker", _clean(_worker(detail))),
        ("Sources", _clean([(digest[:12], path) for path, digest in sorted(detail.sources.items())])),
    ]


def _claim(run: Run, now: Now) -> list[tuple[str, str]]:
    claim = run.claim
    if claim is None:
        return [("owner", "none"), ("losses", str(run.losses) if run.losses else "")]
    silent = max(now.mono_ms - claim.heartbeat_mono, 0) if claim.boot_id == now.boot_id else None
    age = "another boot" if silent is None else f"{duration(silent)} ago"
    return [
        ("owner", f"{claim.owner_kind} {claim.owner_id}"),
        ("heartbeat", f"{age}, lost" if is_lost(claim, now) else age),
        ("losses", str(run.losses) if run.losses else ""),
    ]


def _worker(detail: RunDetail) -> list[tuple[str, str]]:
    worker = detail.worker
    if worker is None:
        return []
    end = ""
    if worker.signal is not None:
        end = f"signal {worker.signal}"
    elif worker.exit_code is not None:
        end = f"exit {worker.exit_code}"
    return [
        ("pid", str(worker.pid) if worker.pid is not None else ""),
        ("state", str(worker.status)),
        ("launch", str(worker.generation)),
        ("ended", end),
        ("stderr", worker.stderr_tail.rstrip("\n").rsplit("\n", 1)[-1][:500]),
    ]


def _settings(connection: "sqlite3.Connection", detail: RunDetail) -> list[tuple[str, Pairs]]:
    """The live settings of each scope, with the number of their changes."""
    groups: list[tuple[str, Pairs]] = []
    for scope in detail.settings:
        try:
            pairs = settings_pairs(reads.value(connection, scope.current_hash))
        except NotFound:
            continue
        name = scope_name(scope.mount_path, scope.invocation)
        title = "Settings" if scope.mount_path == ROOT_MOUNT else f"Settings of {clean(name)}"
        groups.append((f"{title}, change {scope.change_number}", pairs))
    return groups


def _clean(pairs: list[tuple[str, str]]) -> Pairs:
    """What is known of it, cleaned; empty facts are left out."""
    return tuple((label, clean(value)) for label, value in pairs if value)


def _value(connection: "sqlite3.Connection", hash: str | None) -> ShownValue | None:
    if not hash:
        return None
    try:
        content, size = reads.value_part(connection, hash, limit=FIRST_BYTES)
    except NotFound:
        return None
    return shown_value(hash, content, total=size)


def _progress(connection: "sqlite3.Connection", detail: RunDetail, now: Now) -> list[Progress]:
    """The newest update of each attempt, type and key; with an estimate where the attempt still publishes."""
    nodes = {attempt.attempt_id: f"{attempt.node_id} #{attempt.attempt_number}" for attempt in detail.attempts}
    shown = []
    for update in detail.updates[-UPDATES:]:
        done, text = told(_data(connection, update.data_hash))
        shown.append(
            Progress(
                label=clean(update.update_key),
                node=clean(nodes.get(update.attempt_id, "")),
                text=clean(text),
                done=done,
                at=update.recorded_at,
                estimate=_estimated(connection, detail, update, now),
            )
        )
    return shown


def _estimated(connection: "sqlite3.Connection", detail: RunDetail, update: UpdateRow, now: Now) -> str:
    """`about 4m00s, high`: how long the attempt that runs now will still take, and how sure that is."""
    current = detail.run.current
    if update.update_type != progress.TYPE or current is None or current.attempt_id != update.attempt_id:
        return ""
    published = reads.updates(connection, update.run_id, update.attempt_id)
    same = [each for each in published if (each.update_type, each.update_key) == (progress.TYPE, update.update_key)]
    samples = []
    for each in same[-SAMPLES:]:
        with suppress(PayloadError):
            known = progress.read_progress(_data(connection, each.data_hash))
            samples.append(progress.Sample(at=each.recorded_at, progress=known))
    found = progress.estimate(samples, now.wall_ms)
    return f"about {duration(found.remaining_ms)}, {found.confidence}" if found else ""


def _data(connection: "sqlite3.Connection", hash: str) -> Any:
    try:
        content, size = reads.value_part(connection, hash, limit=4096)
        return msgspec.json.decode(content) if size <= 4096 else None
    except (NotFound, msgspec.DecodeError):
        return None


def told(data: Any) -> tuple[float | None, str]:
    """The fraction that an update tells of, where it has a count and a total, and what it says in words."""
    if not isinstance(data, dict):
        return None, str(data)[:200] if data is not None else ""
    completed, total = data.get("completed"), data.get("total")
    words = [str(data[name]) for name in ("label", "phase") if data.get(name)]
    done = None
    if isinstance(completed, int | float) and isinstance(total, int | float) and total:
        done = completed / total
        words.append(f"{completed:g} of {total:g} {data.get('unit') or ''}".strip())
    elif isinstance(completed, int | float):
        words.append(f"{completed:g} {data.get('unit') or ''}".strip())
    if not words:
        words = [f"{name} {value}" for name, value in list(data.items())[:4]]
    if data.get("status") not in (None, "running"):
        words.append(str(data["status"]))
    return done, ", ".join(words)
