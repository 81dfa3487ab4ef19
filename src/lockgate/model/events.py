"""Trace events: one immutable fact of a run each; `seq` is the run's revision after it.

A payload carries every fact that the fold needs: ids, numbers, short strings and blob hashes, never a user's
value whole, never a token, never a float. `PAYLOADS` maps each event type to the shape of its payload.
"""

from typing import Any

import msgspec

from lockgate.model.encoding import chained, sha256
from lockgate.model.records import (
    Actor,
    DecisionRow,
    EffectAttemptRow,
    EffectRow,
    IntervalRow,
    RequestRow,
    ResolutionRow,
    SettingsChangeRow,
    SettingsRow,
    SubmissionRow,
    UpdateRow,
)
from lockgate.model.statuses import Clock, NodeKind, Outcome, OwnerKind, QueueStatus

SUMMARY_CHARS = 200
"""How much of an error's text an event and the run's row may show; the whole text is a blob."""


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """The common shape of payloads."""


class Clocks(Payload, frozen=True, kw_only=True):
    """The run's clock after the event, and what the change adds: waiting by wall time, working by monotonic time.

    `interval` is the interval row that the event opens or closes.
    """

    to: Clock
    waited_ms: int = 0
    elapsed_ms: int = 0
    interval: IntervalRow | None = None


class Birth(Payload, frozen=True, kw_only=True):
    """The facts of a new run, in its first event."""

    workflow: str
    definition_digest: str
    workflow_ref: str
    project_dir: str
    title: str | None
    input_hash: str
    sources_hash: str
    started_by: str
    started_by_uid: int
    parent_run_id: str | None
    parent_revision: int | None
    root_run_id: str
    restart_number: int
    settings_hash: str | None = None


class RunQueued(Payload, frozen=True, kw_only=True):
    """The run can be claimed: new (`birth`), or released by its worker."""

    available_at: int
    birth: Birth | None = None
    clocks: Clocks | None = None


class RunClaimed(Payload, frozen=True, kw_only=True):
    generation: int
    owner_kind: OwnerKind
    owner_id: str
    host_epoch: int | None


class RunStarted(Payload, frozen=True, kw_only=True):
    """The first worker is ready."""


class RunResumed(Payload, frozen=True, kw_only=True):
    """A later worker is ready; with `request_id`, the waiting attempt runs on with its accepted answer."""

    attempt_id: str | None
    request_id: str | None
    replaced_attempt_id: str | None
    clocks: Clocks


class RunParked(Payload, frozen=True, kw_only=True):
    """A paused run gave its claim back."""

    clocks: Clocks


class RunPaused(Payload, frozen=True, kw_only=True):
    """Under a live claim the clocks run on until the worker has finished its node; `stop_now` asks the holder
    to stop it instead."""

    queue: QueueStatus
    stop_now: bool
    clocks: Clocks | None


class RunUnpaused(Payload, frozen=True, kw_only=True):
    queue: QueueStatus
    available_at: int
    clocks: Clocks | None


class RunBlocked(Payload, frozen=True, kw_only=True):
    """`detail` is a short sentence for people. `graph_changed` tells apart the two kinds of `source_changed`: files
    that make the same graph can be accepted, files that make another only a restart can take."""

    code: str
    detail: str | None
    clocks: Clocks
    graph_changed: bool = False


class RunUnblocked(Payload, frozen=True, kw_only=True):
    code: str
    queue: QueueStatus
    available_at: int


class RunInterrupted(Payload, frozen=True, kw_only=True):
    """The claim ended without its worker's word. `attempt_id` is the attempt that became interrupted."""

    cause: str
    counted: bool
    losses: int
    retry_at: int
    exit_code: int | None
    signal: int | None
    attempt_id: str | None
    clocks: Clocks


class RunEnded(Payload, frozen=True, kw_only=True):
    """run_completed, run_failed, run_timed_out, run_cancelled. `attempt_id` is an active attempt that it closes."""

    output_hash: str | None
    error_hash: str | None
    error_code: str | None
    error_summary: str | None
    attempt_id: str | None
    request_id: str | None
    clocks: Clocks


class SourceAccepted(Payload, frozen=True, kw_only=True):
    old_hash: str
    new_hash: str


class RunPruned(Payload, frozen=True, kw_only=True):
    """What is left of a run. `receipt_seqs` and `receipt_hashes` say where its decisions stood in its chain, in their
    order; of more than a payload holds, `receipts_hash` names a stored value of [seq, hash] instead."""

    last_seq: int
    chain_head: str
    receipt_hashes: list[str]
    receipt_seqs: list[int] | None = None
    receipts_hash: str | None = None


class NodeStarted(Payload, frozen=True, kw_only=True):
    node: str
    kind: NodeKind
    ordinal: int
    attempt_number: int
    visit: int
    timeout_ms: int | None
    replaced_attempt_id: str | None
    clocks: Clocks
    settings_change: int | None = None
    settings_hash: str | None = None


class NodeTimeoutSet(Payload, frozen=True, kw_only=True):
    timeout_ms: int | None


class NodeEnded(Payload, frozen=True, kw_only=True):
    """node_finished when the outcome is ok, else node_failed. `consumed_request_id` is the request it used up.

    `step_index` counts the run's steps from 0; an include's entry or exit is not counted and has the index of the
    step that comes after it."""

    node: str
    outcome: Outcome
    step_index: int
    switch_value: str | None
    prompt_hash: str | None
    output_hash: str | None
    error_hash: str | None
    error_summary: str | None
    consumed_request_id: str | None
    clocks: Clocks


class UpdatePublished(Payload, frozen=True, kw_only=True):
    update: UpdateRow


class RequestOpened(Payload, frozen=True, kw_only=True):
    """checkpoint_requested (agent and checkpoint requests) and decision_requested."""

    request: RequestRow
    decision: DecisionRow | None
    clocks: Clocks


class SubmissionRejected(Payload, frozen=True, kw_only=True):
    submission: SubmissionRow


class RequestAnswered(Payload, frozen=True, kw_only=True):
    """interaction_accepted and decision_accepted. A paused run's request takes no answer, so it is queued."""

    submission: SubmissionRow
    resolution: ResolutionRow | None
    output_hash: str
    available_at: int
    clocks: Clocks


class DecisionWithdrawn(Payload, frozen=True, kw_only=True):
    resolution: ResolutionRow


class EffectChanged(Payload, frozen=True, kw_only=True):
    """effect_reserved, effect_applied, effect_rejected, effect_ambiguous.

    `clocks` is there when the change makes the run wait for a person.
    """

    effect: EffectRow
    effect_attempt: EffectAttemptRow | None


class EffectResolved(Payload, frozen=True, kw_only=True):
    """A person said what became of an ambiguous effect. `queue` is null on a terminal run: only the effect changes."""

    effect: EffectRow
    queue: QueueStatus | None
    available_at: int
    clocks: Clocks | None


class SettingsChanged(Payload, frozen=True, kw_only=True):
    settings: SettingsRow
    change: SettingsChangeRow


class SettingsRouteRetried(Payload, frozen=True, kw_only=True):
    """The settings changed under a route before its finish: the same attempt decides again."""

    scope_id: str
    previous_change: int
    settings_change: int
    settings_hash: str


class IncludeEntered(Payload, frozen=True, kw_only=True):
    """An invocation of an included workflow begins; `settings_hash` are its settings at first, where it has any."""

    mount_path: str
    workflow: str
    invocation: int
    input_hash: str
    settings_hash: str | None


class IncludeExited(Payload, frozen=True, kw_only=True):
    """The invocation is over; `output_hash` names {exit, output}, which the parent sees."""

    mount_path: str
    workflow: str
    invocation: int
    exit: str
    output_hash: str


class AgentPromptSent(Payload, frozen=True, kw_only=True):
    prompt_hash: str


class Notified(Payload, frozen=True, kw_only=True):
    message_hash: str
    summary: str


PAYLOADS: dict[str, type[Payload]] = {
    "run_queued": RunQueued,
    "run_claimed": RunClaimed,
    "run_started": RunStarted,
    "run_resumed": RunResumed,
    "run_parked": RunParked,
    "run_paused": RunPaused,
    "run_unpaused": RunUnpaused,
    "run_blocked": RunBlocked,
    "run_unblocked": RunUnblocked,
    "run_interrupted": RunInterrupted,
    "run_completed": RunEnded,
    "run_failed": RunEnded,
    "run_timed_out": RunEnded,
    "run_cancelled": RunEnded,
    "source_accepted": SourceAccepted,
    "run_pruned": RunPruned,
    "node_started": NodeStarted,
    "node_timeout_set": NodeTimeoutSet,
    "node_finished": NodeEnded,
    "node_failed": NodeEnded,
    "update_published": UpdatePublished,
    "checkpoint_requested": RequestOpened,
    "decision_requested": RequestOpened,
    "submission_rejected": SubmissionRejected,
    "interaction_accepted": RequestAnswered,
    "decision_accepted": RequestAnswered,
    "decision_withdrawn": DecisionWithdrawn,
    "effect_reserved": EffectChanged,
    "effect_applied": EffectChanged,
    "effect_rejected": EffectChanged,
    "effect_ambiguous": EffectChanged,
    "effect_resolved": EffectResolved,
    "settings_changed": SettingsChanged,
    "settings_route_retried": SettingsRouteRetried,
    "include_entered": IncludeEntered,
    "include_exited": IncludeExited,
    "agent_prompt_sent": AgentPromptSent,
    "notified": Notified,
}

NO_CHAIN = ""
"""The chain head of a run before its first event; `prev` is null then."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A trace event as the law makes it and the store keeps it; `event_seq` is the store's."""

    run_id: str
    seq: int
    type: str
    at: int
    actor: Actor
    attempt_id: str | None
    payload: Payload
    prev_hash: str | None
    hash: str


def link(
    *,
    prev: str | None,
    run_id: str,
    seq: int,
    type: str,
    at: int,
    actor: Actor,
    attempt_id: str | None,
    payload: Any,
) -> str:
    """The chain hash: SHA-256 of RFC 8785 of exactly these eight facts, `prev` null at seq 1."""
    return sha256(
        chained(
            {
                "prev": prev,
                "run_id": run_id,
                "seq": seq,
                "type": type,
                "at": at,
                "actor": actor,
                "attempt_id": attempt_id,
                "payload": payload,
            }
        )
    )
