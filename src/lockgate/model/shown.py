"""What screens and commands read of runs, requests, events, workers and the host, each at one bounded read."""

from typing import Any

from lockgate.model.facts import Actor, Record
from lockgate.model.rows import (
    AttemptRow,
    EffectRow,
    IntervalRow,
    RequestRow,
    ResolutionRow,
    RunRow,
    SettingsRow,
    UpdateRow,
)
from lockgate.model.statuses import (
    AttemptStatus,
    Clock,
    NodeKind,
    OwnerKind,
    QueueStatus,
    RequestKind,
    RequestStatus,
    RunStatus,
)


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
    choice to the text read from the graph. `run_at` is the time of the run's newest event: its deadline is judged by
    the wall clock, but never by an earlier moment.
    """

    request_id: str
    digest: str
    kind: RequestKind
    status: RequestStatus
    run_id: str
    workflow: str
    run_title: str | None
    run_status: RunStatus
    run_at: int
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


class EarlierOutcome(Record, frozen=True, kw_only=True):
    """How a run that was restarted had ended; `reason` is null where it completed."""

    run_id: str
    status: RunStatus
    reason: str | None
    output_hash: str | None
    error_hash: str | None
    finished_at: int


class RunDetail(Record, frozen=True, kw_only=True):
    """Everything of one run that `show` and the detail tabs need; values are named by hash.

    `earlier` are the runs that led to this one by restarts, the root first.
    """

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
    settings: tuple[SettingsRow, ...] = ()
    earlier: tuple[EarlierOutcome, ...] = ()


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
