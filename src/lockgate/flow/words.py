"""What a run's situation is called, whom it waits for, and what can be done about it now.

The words and their order are the design's table of situations; every screen and `--json` ask here.
"""

from lockgate.flow.head import LEASE_MS
from lockgate.model.records import ClaimView, Now, Run
from lockgate.model.statuses import (
    GRAPH_CHANGED,
    AttemptStatus,
    BlockCode,
    QueueStatus,
    RequestKind,
    RequestStatus,
    Word,
)


def is_lost(claim: ClaimView | None, now: Now) -> bool:
    """Whether the holder is gone, has been silent past its lease, or held it under another boot of the machine."""
    if claim is None:
        return False
    return claim.owner_id in now.gone or claim.boot_id != now.boot_id or now.mono_ms - claim.heartbeat_mono > LEASE_MS


def word(run: Run, now: Now) -> Word:
    """The first word that fits, in the order of the design."""
    if run.status.is_terminal:
        return Word(str(run.status))
    if is_lost(run.claim, now):
        return Word.LOST
    if run.error_code is not None and run.queue is QueueStatus.PARKED:
        return Word.BLOCKED
    if run.paused:
        return Word.PAUSING if run.claim is not None else Word.PAUSED
    if run.request_status is RequestStatus.PENDING:
        due = run.deadline_at is not None and left_ms(run.deadline_at, now.wall_ms, run.updated_at) < 0
        return Word.OVERDUE if due else Word.WAITING
    return _at_work(run)


def _at_work(run: Run) -> Word:
    if run.queue is QueueStatus.STARTING:
        return Word.STARTING
    if run.queue is QueueStatus.RUNNING:
        return Word.RUNNING
    if run.request_status is RequestStatus.SETTLED and _is(run, AttemptStatus.WAITING):
        return Word.ANSWERED
    if _is(run, AttemptStatus.INTERRUPTED):
        return Word.INTERRUPTED
    return Word.QUEUED


def left_ms(deadline_at: int, now_ms: int, run_at: int) -> int:
    """The ms until a deadline, below 0 beyond it, by the run's own time: the wall clock may have been set back since
    `run_at`, when the run last changed."""
    return deadline_at - max(now_ms, run_at)


def waiting_for(run: Run, now: Now) -> str | None:
    """person, input, agent, effect or host: whom the run waits for; None while it works or is over."""
    name = word(run, now)
    if name is Word.WAITING:
        if run.request_kind is RequestKind.DECISION:
            return "person"
        return "agent" if run.request_kind is RequestKind.AGENT else "input"
    if name is Word.BLOCKED and run.error_code == BlockCode.EFFECT_AMBIGUOUS:
        return "effect"
    if name in (Word.QUEUED, Word.ANSWERED, Word.INTERRUPTED, Word.OVERDUE, Word.LOST):
        return "host"
    return None


def needs_person(run: Run, now: Now) -> bool:
    """What the header counts: a decision, an input, or the question whether an effect happened."""
    return waiting_for(run, now) in ("person", "input", "effect")


def allowed(run: Run) -> frozenset[str]:
    """The commands that are possible now: pause, resume, cancel, restart, answer, submit, resolve."""
    if run.status.is_terminal:
        return frozenset({"restart"})
    names = {"cancel"}
    names.add("resume" if run.paused else "pause")
    if run.error_code == BlockCode.EFFECT_AMBIGUOUS:
        names.add("resolve")
    elif run.error_code is not None:
        names.add("resume")
    if run.request_status is RequestStatus.PENDING and not run.paused:
        names.add("answer" if run.request_kind is RequestKind.DECISION else "submit")
    return frozenset(names)


def ways_on(reason: str, run: str) -> str:
    """What a person may type about a run that is blocked for this reason, `run` being how it is named there."""
    again = {
        BlockCode.EFFECT_AMBIGUOUS: "lockgate resolve with its effect",
        BlockCode.SOURCE_CHANGED: f"lockgate resume --accept-source {run}",
    }
    if reason == GRAPH_CHANGED:
        return f"lockgate cancel {run}, then lockgate restart {run}"
    return f"{again.get(BlockCode(reason), f'lockgate resume {run}')}, or lockgate cancel {run}"


def _is(run: Run, status: AttemptStatus) -> bool:
    return run.current is not None and run.current.status is status
