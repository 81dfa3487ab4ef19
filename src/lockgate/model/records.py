"""Frozen records: the rows of a run as the law and the store exchange them, and what crosses between rooms.

Times are integer epoch milliseconds, durations integer milliseconds, hashes lower-case hex SHA-256.
Field names are the column names. A record is raw: text in it has not been made safe for a terminal.
"""

from typing import Any

import msgspec

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


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The common shape: frozen, keyword only, compared by value (each says so: mypy does not inherit it)."""


class Now(Record, frozen=True, kw_only=True):
    """One reading of the clocks: wall time for display, (boot, monotonic) for leases and intervals."""

    wall_ms: int
    boot_id: str
    mono_ms: int


class Actor(Record, frozen=True, kw_only=True):
    kind: ActorKind
    id: str


class Human(Record, frozen=True, kw_only=True):
    """A person at a terminal, as `human_here()` found them; `test` marks one made by `for_test`."""

    id: str
    uid: int
    host: str
    tty: str
    test: bool = False

    @classmethod
    def for_test(cls, id: str = "tester") -> "Human":
        return cls(id=id, uid=0, host="test", tty="none", test=True)

    @property
    def actor(self) -> Actor:
        return Actor(kind=ActorKind.HUMAN, id=self.id)

    @property
    def channel(self) -> str:
        """Where the person sat, as the receipt keeps it."""
        return f"test:{self.host}" if self.test else f"{self.host}:{self.tty}"


class Value(Record, frozen=True, kw_only=True):
    """A stored value on its way into the store: the SHA-256 of exactly these bytes, and the bytes."""

    hash: str
    content: bytes


class Policy(Record, frozen=True, kw_only=True):
    """Who may answer an audience's decisions; `users` null is everybody who can write the store. Without
    `self_approval` the person who started a run may not pick a choice whose intent is to approve."""

    audience: str
    users: tuple[str, ...] | None = None
    self_approval: bool = True


# --- the rows of a run -------------------------------------------------------------------------------------


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
    """One try at one node visit; keyed (run_id, ordinal). `active_ms` sums its closed intervals."""

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
)
"""A row that a transition saves whole, by its primary key."""


# --- what crosses between worker, host and store -----------------------------------------------------------


class ClaimToken(Record, frozen=True, kw_only=True):
    """The right to propose: the secret token (never stored, never logged), its generation and its run."""

    run_id: str
    generation: int
    token: str


class HeadState(Record, frozen=True, kw_only=True):
    """What every reply to a proposer carries: the run as the transaction left it."""

    revision: int
    paused: bool
    cancelled: bool
    settings_change: int | None = None


class Reply(Record, frozen=True, kw_only=True):
    """The answer to a list of proposals. `outcome`: accepted, paused, cancelled, claim_lost or refused.

    `results` has one entry per accepted proposal: for reserveEffect {effect_id, answer: execute | adopted |
    verify | ambiguous, result_hash}; for waitForInput {request_id, digest}; for startAttempt {ordinal,
    attempt_number, visit}; for the others {}.
    """

    outcome: str
    head: HeadState
    results: tuple[dict[str, Any], ...] = ()
    code: str | None = None
    message: str | None = None


class StepRef(Record, frozen=True, kw_only=True):
    """A finished step by reference: its value is read by hash when a function asks for it."""

    node_id: str
    outcome: Outcome
    output_hash: str | None
    error_hash: str | None
    error_summary: str | None
    switch_value: str | None
    visit: int


class CurrentAttempt(Record, frozen=True, kw_only=True):
    """The waiting attempt that an accepted answer woke: the worker finishes exactly this one."""

    attempt_id: str
    node_id: str
    visit: int
    attempt_number: int
    request_id: str
    output_hash: str
    timeout_ms: int | None
    active_ms: int


class Continuation(Record, frozen=True, kw_only=True):
    """What `ready` hands to the worker: the last step, the latest result of each node, and the woken attempt."""

    run_id: str
    workflow: str
    definition_digest: str
    input_hash: str
    head: HeadState
    steps: int
    last: StepRef | None
    results: tuple[StepRef, ...]
    current: CurrentAttempt | None


class CheckpointState(Record, frozen=True, kw_only=True):
    """A request and, once it is settled, the hash of its accepted output."""

    request_id: str
    kind: RequestKind
    status: RequestStatus
    digest: str
    output_hash: str | None


class Receipt(Record, frozen=True, kw_only=True):
    """The stored reply to a command; the same key and fingerprint get it again, as `adopted`.

    `outcome`: accepted, adopted, rejected, conflict, not_found or claim_lost. `winner` is {choice, actor, at,
    source} of the answer that won, where one did.
    """

    outcome: str
    command: str
    key: str
    run_id: str | None
    revision: int | None
    reason: str | None = None
    winner: dict[str, Any] | None = None
    at: int = 0
    details: dict[str, Any] = {}


# --- what screens and commands read ------------------------------------------------------------------------


class Current(Record, frozen=True, kw_only=True):
    """The active attempt of a run, as lists show it."""

    node: str
    attempt_id: str
    number: int
    kind: NodeKind
    status: AttemptStatus
    started_at: int


class ClaimView(Record, frozen=True, kw_only=True):
    owner_kind: OwnerKind
    owner_id: str
    host_epoch: int | None
    boot_id: str
    heartbeat_mono: int
    heartbeat_at: int


class Run(Record, frozen=True, kw_only=True):
    """A run in a list: enough for its row on every screen and for `--json`, at one bounded read.

    The word on screen depends on the time: `flow.words.word(run, now)` says it.
    """

    run_id: str
    workflow: str
    title: str | None
    status: RunStatus
    queue: QueueStatus
    paused: bool
    error_code: str | None
    error_summary: str | None
    revision: int
    started_by: str
    created_at: int
    updated_at: int
    started_at: int | None
    finished_at: int | None
    active_ms: int
    waiting_ms: int
    clock: Clock
    clock_since: int
    steps: int
    losses: int
    available_at: int
    claim: ClaimView | None
    current: Current | None
    request_id: str | None
    request_kind: RequestKind | None
    request_status: RequestStatus | None
    deadline_at: int | None
    default_choice: str | None
    default_label: str | None
    inline: bool = False


class RequestView(Record, frozen=True, kw_only=True):
    """A request with its contract, whole: what the queue lists and the card shows.

    `presentation` is {summary, blocks}; `choices` the digested list [{key, label, intent, input}]; `contract`
    the JSON Schema of an ordinary answer. `resolution` is there once it is decided. `consequences` maps a
    choice to the text read from the graph.
    """

    request_id: str
    digest: str
    kind: RequestKind
    status: RequestStatus
    run_id: str
    workflow: str
    run_title: str | None
    run_status: RunStatus
    paused: bool
    node: str
    attempt_id: str
    attempt_number: int
    audience: str | None
    title: str
    presentation: dict[str, Any] | None
    choices: tuple[dict[str, Any], ...]
    consequences: dict[str, str]
    contract: Any
    started_by: str
    policy: str | None
    deadline_at: int | None
    default: str | None
    created_at: int
    resolution: ResolutionRow | None


class EventView(Record, frozen=True, kw_only=True):
    """A trace event as it is stored, with the node of its attempt for display."""

    event_seq: int
    run_id: str
    seq: int
    type: str
    at: int
    actor: Actor
    attempt_id: str | None
    node: str | None
    payload: dict[str, Any]
    hash: str


class WorkerView(Record, frozen=True, kw_only=True):
    worker_id: str
    pid: int | None
    status: str
    generation: int
    started_at: int
    ready_at: int | None
    finished_at: int | None
    exit_code: int | None
    signal: int | None
    stderr_tail: str


class RunDetail(Record, frozen=True, kw_only=True):
    """Everything of one run that `show` and the detail tabs need; values are named by hash."""

    run: Run
    row: RunRow
    claim: ClaimView | None
    worker: WorkerView | None
    sources: dict[str, str]
    attempts: tuple[AttemptRow, ...]
    intervals: tuple[IntervalRow, ...]
    requests: tuple[RequestRow, ...]
    resolutions: tuple[ResolutionRow, ...]
    effects: tuple[EffectRow, ...]
    updates: tuple[UpdateRow, ...]
    children: tuple[str, ...]


class HostView(Record, frozen=True, kw_only=True):
    """The host as the store knows it; null fields when none ever ran."""

    epoch: int
    host_id: str | None
    pid: int | None
    boot_id: str | None
    process_start: str | None
    started_at: int | None
    heartbeat_at: int | None
    heartbeat_mono: int | None
    capacity: int | None


class Wake(Record, frozen=True, kw_only=True):
    """Something changed: the newest event, the runs it touched, whether rows outside the events did."""

    event_seq: int
    run_ids: tuple[str, ...]
    pruned: tuple[str, ...]
    host: bool


class OutputChunk(Record, frozen=True, kw_only=True):
    """Captured output of an attempt: `stream` is stdout or stderr, `chunk` counts from 0, `gap` is the bytes
    dropped before it."""

    attempt_id: str
    stream: str
    chunk: int
    at: int
    gap: int
    content: bytes
