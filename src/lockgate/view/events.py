"""Trace events in words: what each type's payload says to a person, its mark and its colour.

Payloads are read by field with defaults: an event that a newer version wrote is shown by its type alone.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from lockgate.model.ids import ROOT_MOUNT, fingerprint, scope_name
from lockgate.model.records import Actor, EventView
from lockgate.model.statuses import ActorKind, Outcome
from lockgate.model.text import clean
from lockgate.view.cells import Role
from lockgate.view.snapshots import ShownEvent
from lockgate.view.times import duration, fine_duration

Payload = Mapping[str, Any]

_MARKS: dict[str, tuple[str, Role]] = {
    "node_failed": ("failed", "bad"),
    "run_failed": ("failed", "bad"),
    "run_timed_out": ("timed_out", "bad"),
    "run_cancelled": ("cancelled", "text"),
    "run_completed": ("ok", "text"),
    "run_interrupted": ("lost", "bad"),
    "run_blocked": ("blocked", "bad"),
    "effect_ambiguous": ("blocked", "bad"),
    "decision_requested": ("you", "you"),
    "checkpoint_requested": ("input", "you"),
    "decision_accepted": ("answered", "run"),
    "interaction_accepted": ("answered", "run"),
    "run_paused": ("paused", "text"),
}


def shown_event(event: EventView, numbers: Mapping[str, int] | None = None) -> ShownEvent:
    """An event in words; `numbers` are attempt numbers by attempt id, for the subject."""
    mark, role = _MARKS.get(event.type, ("", "text"))
    if event.type == "checkpoint_requested" and _of(event.payload, "request", "kind") == "agent":
        mark, role = "agent", "text"
    if event.type in ("node_failed",) and event.payload.get("outcome") == Outcome.TIMED_OUT:
        mark = "timed_out"
    return ShownEvent(
        event_seq=event.event_seq,
        seq=event.seq,
        at=event.at,
        type=clean(event.type),
        subject=_subject(event, numbers or {}),
        detail=clean(detail(event)),
        mark=mark,
        role=role,
        attempt_id=event.attempt_id,
        payload=payload_text(event.payload),
    )


def payload_text(payload: Payload) -> str:
    """The payload as compact JSON on one line, cleaned: still JSON, since JSON escapes what ends a string."""
    return clean(msgspec.json.encode(payload).decode())


def _subject(event: EventView, numbers: Mapping[str, int]) -> str:
    node = event.node or event.payload.get("node")
    if not isinstance(node, str):
        return ""
    number = event.payload.get("attempt_number")
    if not isinstance(number, int):
        number = numbers.get(event.attempt_id or "")
    return clean(f"{node} #{number}" if number else node)


def detail(event: EventView) -> str:
    """What happened, in a few words; empty where the type says it all. Raw text: the caller cleans it."""
    worder = _WORDERS.get(event.type)
    try:
        return worder(event.payload, event) if worder else ""
    except (KeyError, TypeError, ValueError, AttributeError):
        return ""


def by(actor: Actor) -> str:
    """`by ada`; what the machinery did by itself has nobody to name."""
    return f"by {actor.id}" if actor.kind in (ActorKind.HUMAN, ActorKind.USER) else ""


def _of(payload: Payload, *path: str) -> Any:
    value: Any = payload
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _queued(payload: Payload, event: EventView) -> str:
    birth = payload.get("birth")
    if not birth:
        return "given back"
    parent = birth.get("parent_run_id")
    return f"restart of {parent[-8:]}" if parent else f"by {birth['started_by']}"


def _claimed(payload: Payload, event: EventView) -> str:
    epoch = payload.get("host_epoch")
    return f"host {epoch}" if epoch is not None else f"{payload['owner_kind']} {payload['owner_id']}"


def _interrupted(payload: Payload, event: EventView) -> str:
    cause = str(payload["cause"]).replace("_", " ")
    end = ""
    if payload.get("signal") is not None:
        end = f"signal {payload['signal']}"
    elif payload.get("exit_code") is not None:
        end = f"exit {payload['exit_code']}"
    parts = [end] if end.startswith(cause) else [part for part in (cause, end) if part]
    if payload.get("counted"):
        parts.append(f"loss {payload['losses']}")
    return ", ".join(parts)


def _ended(payload: Payload, event: EventView) -> str:
    return str(payload.get("error_summary") or payload.get("error_code") or by(event.actor))


def _started(payload: Payload, event: EventView) -> str:
    parts = [str(payload["kind"]).replace("_", " ")]
    if payload.get("visit", 1) > 1:
        parts.append(f"visit {payload['visit']}")
    if payload.get("timeout_ms"):
        parts.append(_limit(payload["timeout_ms"]))
    return ", ".join(parts)


def _limit(timeout_ms: int | None) -> str:
    return f"at most {duration(timeout_ms)}" if timeout_ms else "no limit"


def _node_ended(payload: Payload, event: EventView) -> str:
    outcome = str(payload["outcome"]).replace("_", " ")
    worked = _of(payload, "clocks", "elapsed_ms") or 0
    if payload.get("error_summary"):
        return str(payload["error_summary"])
    if payload.get("switch_value") is not None and payload.get("consumed_request_id"):
        return f"{outcome}, {payload['switch_value']}"
    return f"{outcome} {fine_duration(worked)}"


def _requested(payload: Payload, event: EventView) -> str:
    request = payload["request"]
    mark = fingerprint(request["digest"])
    grouped = f"{mark[:4]} {mark[4:8]} {mark[8:]}"
    return grouped if payload.get("decision") else f"{request['kind']} {grouped}"


def _answered(payload: Payload, event: EventView) -> str:
    resolution = payload.get("resolution")
    choice = resolution["choice"] if resolution else None
    if event.actor.kind is ActorKind.POLICY:
        return f"{choice}, by its deadline"
    who = by(event.actor)
    return f"{choice}, {who}" if choice else who


def _effect(payload: Payload, event: EventView) -> str:
    effect = payload["effect"]
    words = f"{effect['recovery']} {effect['effect_type']}"
    return f"{words}, {by(event.actor)}" if event.type == "effect_resolved" else words


def _update(payload: Payload, event: EventView) -> str:
    update = payload["update"]
    return f"{update['update_type']} {update['update_key']}"


def _settings(payload: Payload, event: EventView) -> str:
    settings = payload["settings"]
    what = f"change {settings['change_number']}"
    if settings["mount_path"] != ROOT_MOUNT:
        what += f" of {scope_name(settings['mount_path'], settings['invocation'])}"
    who = by(event.actor)
    return f"{what}, {who}" if who else what


def _entered(payload: Payload, event: EventView) -> str:
    again = f", invocation {payload['invocation']}" if payload["invocation"] > 1 else ""
    return f"{payload['workflow']}{again}"


def _who(payload: Payload, event: EventView) -> str:
    return by(event.actor)


_WORDERS: dict[str, Callable[[Payload, EventView], str]] = {
    "run_queued": _queued,
    "run_claimed": _claimed,
    "run_paused": _who,
    "run_unpaused": _who,
    "run_unblocked": _who,
    "source_accepted": _who,
    "run_blocked": lambda payload, event: str(payload.get("detail") or payload["code"].replace("_", " ")),
    "run_interrupted": _interrupted,
    "run_completed": _ended,
    "run_failed": _ended,
    "run_timed_out": _ended,
    "run_cancelled": _ended,
    "node_started": _started,
    "node_timeout_set": lambda payload, event: _limit(payload["timeout_ms"]),
    "node_finished": _node_ended,
    "node_failed": _node_ended,
    "update_published": _update,
    "checkpoint_requested": _requested,
    "decision_requested": _requested,
    "submission_rejected": lambda payload, event: (
        f"{payload['submission']['outcome'].replace('_', ' ')}, {by(event.actor)}"
    ),
    "interaction_accepted": _answered,
    "decision_accepted": _answered,
    "effect_reserved": _effect,
    "effect_applied": _effect,
    "effect_rejected": _effect,
    "effect_ambiguous": _effect,
    "effect_resolved": _effect,
    "settings_changed": _settings,
    "settings_route_retried": lambda payload, event: (
        f"change {payload['previous_change']} became {payload['settings_change']}"
    ),
    "include_entered": _entered,
    "include_exited": lambda payload, event: f"{payload['workflow']}: {payload['exit']}",
    "notified": lambda payload, event: str(payload["summary"]),
}
