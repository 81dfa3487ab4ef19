"""The rows of a run, as the law decides on them and the store keeps them; field names are the column names."""

from lockgate.model.facts import Record
from lockgate.model.statuses import (
    ActorKind,
    AttemptStatus,
    Clock,
    EffectStatus,
    NodeKind,
    Outcome,
    OwnerKind,
    Provenance,
    QueueStatus,
    Recovery,
    RequestKind,
    RequestStatus,
    RunStatus,
    SubmissionOutcome,
)


class RunRow(Record, frozen=True, kw_only=True):
    """The run itself. `clock_since` is the wall time since which `clock` runs."""

    run_id: str
    workflow: str
    definition_digest: str
    workflow_ref: str
    project_dir: str
    title: str | None
    status: RunStatus
    paused: bool
    revision: int
    input_hash: str
    output_hash: str | None
    error_hash: str | None
    error_code: str | None
    error_summary: str | None
    parent_run_id: str | None
    parent_revision: int | None
    root_run_id: str
    restart_number: int
    started_by: str
    started_by_uid: int
    active_ms: int
    waiting_ms: int
    clock: Clock
    clock_since: int
    steps: int
    chain_head: str
    last_at: int
    created_at: int
    started_at: int | None
    finished_at: int | None


class QueueRow(Record, frozen=True, kw_only=True):
    """Scheduling and claim. `token_hash` and the lease columns (owner_*, host_epoch, boot_id, heartbeat_*) are
    not events: they are outside fold and audit. A run without a claim has them null; `generation` only grows.
    `error_code` is the durable reason of a blocked run. `ready` tells whether this launch committed anything.
    """

    run_id: str
    status: QueueStatus
    available_at: int
    losses: int
    error_code: str | None
    generation: int
    token_hash: str | None
    owner_kind: OwnerKind | None
    owner_id: str | None
    host_epoch: int | None
    boot_id: str | None
    heartbeat_mono: int | None
    heartbeat_at: int | None


class AttemptRow(Record, frozen=True, kw_only=True):
    """One try at one node visit; keyed (run_id, ordinal). `active_ms` sums its closed intervals.

    `timeout_ms` is null where the definition sets no limit or it is not computed yet, 0 where it came to none.

    `settings_change` and `settings_hash` bind it to the settings that it saw, where the workflow has any.
    """

    run_id: str
    ordinal: int
    attempt_id: str
    workflow: str
    node_id: str
    kind: NodeKind
    attempt_number: int
    visit: int
    status: AttemptStatus
    timeout_ms: int | None
    active_ms: int
    step_index: int | None
    outcome: Outcome | None
    switch_value: str | None
    prompt_hash: str | None
    output_hash: str | None
    error_hash: str | None
    error_summary: str | None
    started_at: int
    finished_at: int | None
    settings_change: int | None = None
    settings_hash: str | None = None


class IntervalRow(Record, frozen=True, kw_only=True):
    """One span of measured working time; open while `ended_at` is null."""

    run_id: str
    attempt_id: str
    interval_number: int
    boot_id: str
    mono_ms: int
    started_at: int
    ended_at: int | None
    elapsed_ms: int


class RequestRow(Record, frozen=True, kw_only=True):
    """What an attempt waits for. `contract_hash` names the stored contract (schema, text, presentation)."""

    request_id: str
    run_id: str
    attempt_id: str
    node_id: str
    kind: RequestKind
    status: RequestStatus
    digest: str
    contract_hash: str
    policy: str | None
    deadline_at: int | None
    accepted_submission_id: str | None
    output_hash: str | None
    created_at: int
    settled_at: int | None
    consumed_at: int | None


class DecisionRow(Record, frozen=True, kw_only=True):
    """A human decision, one to one with its request (same id); immutable. `choices` is the stored JSON text
    of the digested choices, `default_choice` the choice that the deadline takes."""

    decision_id: str
    run_id: str
    attempt_id: str
    node_id: str
    audience: str
    title: str
    subject_hash: str
    presentation_hash: str
    choices_hash: str
    request_digest: str
    deadline_at: int | None
    default_choice: str | None
    created_at: int


class ResolutionRow(Record, frozen=True, kw_only=True):
    """The one winner; its primary key is the decision."""

    decision_id: str
    run_id: str
    provenance: Provenance
    choice: str | None
    response_hash: str | None
    submission_id: str | None
    actor_kind: ActorKind
    actor_id: str
    channel: str | None
    request_digest: str
    resolved_at: int


class SubmissionRow(Record, frozen=True, kw_only=True):
    """One candidate answer, kept with its text whether it won or lost; `winner` names the one that won."""

    submission_id: str
    request_id: str
    run_id: str
    source: str
    actor_kind: ActorKind
    actor_id: str
    channel: str | None
    payload_hash: str
    outcome: SubmissionOutcome
    winner: str | None
    submitted_at: int


class EffectRow(Record, frozen=True, kw_only=True):
    """A declared side effect of one node visit."""

    effect_id: str
    run_id: str
    attempt_id: str
    node_id: str
    visit: int
    effect_type: str
    recovery: Recovery
    status: EffectStatus
    payload_hash: str | None
    attempt_count: int
    result_hash: str | None
    error_hash: str | None
    resolved_by: str | None
    resolved_at: int | None
    created_at: int
    settled_at: int | None


class EffectAttemptRow(Record, frozen=True, kw_only=True):
    effect_id: str
    run_id: str
    attempt_number: int
    attempt_id: str
    started_at: int
    finished_at: int | None
    outcome: str | None


class UpdateRow(Record, frozen=True, kw_only=True):
    """A progress record, the newest of its (type, key) wins; numbered per attempt."""

    update_id: str
    run_id: str
    attempt_id: str
    update_seq: int
    update_type: str
    update_key: str
    data_hash: str
    recorded_at: int


class SourceRow(Record, frozen=True, kw_only=True):
    """The accepted sources of a run: `sources_hash` names the stored JSON object path -> SHA-256."""

    run_id: str
    sources_hash: str


class SettingsRow(Record, frozen=True, kw_only=True):
    """The live settings of one scope; `change_number` counts its changes, 0 at the start of the run."""

    scope_id: str
    run_id: str
    mount_path: str
    invocation: int
    initial_hash: str
    current_hash: str
    change_number: int
    created_at: int
    updated_at: int


class SettingsChangeRow(Record, frozen=True, kw_only=True):
    """One accepted patch of a scope, with the settings before and after it."""

    change_id: str
    scope_id: str
    run_id: str
    change_number: int
    actor_kind: ActorKind
    actor_id: str
    source: str
    patch_hash: str
    before_hash: str
    after_hash: str
    accepted_at: int


Row = (
    AttemptRow
    | IntervalRow
    | RequestRow
    | DecisionRow
    | ResolutionRow
    | SubmissionRow
    | EffectRow
    | EffectAttemptRow
    | UpdateRow
    | SourceRow
    | SettingsRow
    | SettingsChangeRow
)
"""A row that a transition saves whole, by its primary key."""
