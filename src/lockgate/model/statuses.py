"""Every closed vocabulary of the system, as string enums that bind to SQL and print as themselves."""

from enum import StrEnum


class RunStatus(StrEnum):
    """The durable status of a run; the last four are terminal and never change again."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"

    @property
    def is_terminal(self) -> bool:
        return self in TERMINAL


TERMINAL = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.TIMED_OUT, RunStatus.CANCELLED})


class QueueStatus(StrEnum):
    """Where a run stands between hosts: claimable, claimed, set aside, or over."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    PARKED = "parked"
    DONE = "done"


class AttemptStatus(StrEnum):
    """The first three are active: a run has at most one active attempt."""

    RUNNING = "running"
    WAITING = "waiting"
    INTERRUPTED = "interrupted"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


class Outcome(StrEnum):
    """How a finished attempt ended; `cancelled` never routes."""

    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


class NodeKind(StrEnum):
    AGENT = "agent"
    COMPUTE = "compute"
    ACTION = "action"
    SHELL = "shell"
    NOTIFY = "notify"
    CHECKPOINT = "checkpoint"
    HUMAN_DECISION = "human_decision"


class RequestKind(StrEnum):
    """What an attempt waits for."""

    AGENT = "agent"
    CHECKPOINT = "checkpoint"
    DECISION = "decision"


class RequestStatus(StrEnum):
    PENDING = "pending"
    SETTLED = "settled"
    CANCELLED = "cancelled"


class SubmissionOutcome(StrEnum):
    """What became of one candidate answer."""

    ACCEPTED = "accepted"
    ALREADY_RESOLVED = "already_resolved"
    EXPIRED = "expired"
    RUN_CLOSED = "run_closed"


class Provenance(StrEnum):
    """Who resolved a human decision."""

    HUMAN = "human"
    TIMEOUT_POLICY = "timeout_policy"
    EXPLICIT_CANCEL = "explicit_cancel"


class Intent(StrEnum):
    """What picking a choice means to the reviewed thing."""

    APPROVE = "approve"
    REJECT = "reject"
    NEUTRAL = "neutral"


class Recovery(StrEnum):
    """What may be done about an effect whose outcome is not known."""

    IDEMPOTENT = "idempotent"
    VERIFIED = "verified"
    MANUAL = "manual"


class EffectStatus(StrEnum):
    APPLYING = "applying"
    APPLIED = "applied"
    REJECTED = "rejected"
    AMBIGUOUS = "ambiguous"


class Clock(StrEnum):
    """Which of a run's clocks is running; `idle` counts nothing."""

    ACTIVE = "active"
    PERSON = "person"
    AGENT = "agent"
    PAUSED = "paused"
    IDLE = "idle"


class ActorKind(StrEnum):
    """`human` is made only by `human_here()`; `user` is whoever typed a command."""

    HUMAN = "human"
    USER = "user"
    WORKER = "worker"
    HOST = "host"
    POLICY = "policy"


class OwnerKind(StrEnum):
    """Who holds a claim: a host for its worker, or one process that executes by itself."""

    HOST = "host"
    PROCESS = "process"


class BlockCode(StrEnum):
    """The durable reason for which a run is not claimed again by itself."""

    WORKER_LOST = "worker_lost"
    SOURCE_CHANGED = "source_changed"
    LOAD_FAILED = "load_failed"
    EFFECT_AMBIGUOUS = "effect_ambiguous"


GRAPH_CHANGED = "graph_changed"
"""What the run's own row says of a `source_changed` whose files make another graph: no resume can take them."""


class WorkerStatus(StrEnum):
    STARTING = "starting"
    READY = "ready"
    EXITED = "exited"
    CRASHED = "crashed"
    STOPPED = "stopped"
    ORPHANED = "orphaned"


class Word(StrEnum):
    """What a situation is called on every screen and in `--json`; the first that fits, in this order."""

    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    LOST = "lost"
    BLOCKED = "blocked"
    PAUSING = "pausing"
    PAUSED = "paused"
    OVERDUE = "overdue"
    ANSWERED = "answered"
    INTERRUPTED = "interrupted"
    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    QUEUED = "queued"
