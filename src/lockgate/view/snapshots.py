"""What a screen shows, frozen and clean: made from raw records in one place, compared by value.

A snapshot holds facts, not words that age: what depends on the moment (elapsed, lost, overdue, time left) is
worked out by whoever paints, from the facts here and the moment of the lens.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from lockgate.flow.words import allowed
from lockgate.model.records import Now, Run
from lockgate.model.statuses import (
    EffectStatus,
    Intent,
    NodeKind,
    Outcome,
    Provenance,
    Recovery,
    RequestKind,
    RequestStatus,
)
from lockgate.view.cells import Role


class StoreState(StrEnum):
    """What the header says of the store."""

    LIVE = "live"
    READ_ONLY = "read-only"
    LOCKED = "locked"
    GONE = "gone"
    REPLACED = "replaced"
    NEWER = "newer schema"
    DAMAGED = "damaged"
    FAILED = "failing"
    STILL = "a still picture"

    @property
    def is_live(self) -> bool:
        """Whether the data is what the store says now (of a still picture: what can be known)."""
        return self in (StoreState.LIVE, StoreState.READ_ONLY, StoreState.STILL)


class HostState(StrEnum):
    OK = "ok"
    NONE = "none"
    SILENT = "silent"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class StoreFact:
    """`as_of` is the wall time of the data; `since` the wall time at which the state began."""

    file: str
    state: StoreState = StoreState.LIVE
    as_of: int = 0
    since: int = 0
    sentence: str = ""
    schema: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class HostFact:
    """`busy` of `capacity` slots execute; `heartbeat_at` is the wall time of the last sign of life."""

    state: HostState = HostState.NONE
    pid: int | None = None
    busy: int = 0
    capacity: int = 0
    heartbeat_at: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """Over all runs, whatever the filter is. `waiting_for_host` are the runs that only a host moves on."""

    total: int = 0
    need_you: int = 0
    running: int = 0
    lost: int = 0
    blocked: int = 0
    overdue: int = 0
    stuck: int = 0
    waiting_for_host: int = 0

    @property
    def wrong(self) -> int:
        return self.lost + self.blocked + self.overdue + self.stuck


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run of the list. `run` is the record with its texts cleaned; `slower` is how many times slower than
    usual its attempt is, where it counts as stuck. `gone` marks the ghost of a row that left the list."""

    run: Run
    short_id: str
    slower: float | None = None
    gone: str | None = None

    @property
    def run_id(self) -> str:
        return self.run.run_id

    @property
    def allowed(self) -> frozenset[str]:
        """The commands that are possible on the run now; none on a ghost."""
        return frozenset() if self.gone else allowed(self.run)


class RunIds(Protocol):
    """The ids of all matching runs in sort order: exact places for scrolling, `g`, `G` and "n of m"."""

    def __len__(self) -> int: ...

    def id_at(self, index: int) -> str | None: ...

    def index_of(self, run_id: str) -> int | None: ...


@dataclass(frozen=True, slots=True)
class RunsPage:
    """The visible rows, from place `first` of `total` matching ones; `everything` counts without the filter."""

    rows: tuple[ShownRun, ...] = ()
    first: int = 0
    total: int = 0
    everything: int = 0
    filter: str = ""
    sort: str = "created"
    descending: bool = True
    ids: RunIds | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a presentation: `kind` is paragraph, section, bullets, fields or preformatted."""

    kind: str
    text: str = ""
    items: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ShownInput:
    """The text that goes with a choice; lengths count characters, both ends included."""

    name: str
    prompt: str
    min_length: int
    max_length: int


@dataclass(frozen=True, slots=True)
class ShownChoice:
    key: str
    label: str
    intent: Intent
    input: ShownInput | None
    consequence: str


@dataclass(frozen=True, slots=True)
class ShownResolution:
    """How a decision ended. `choice` is None where it was withdrawn; `text` is what came with the choice."""

    provenance: Provenance
    choice: str | None
    label: str | None
    actor: str
    place: str
    at: int
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """A pending or decided request, whole: a row of the queue and the contents of the card."""

    request_id: str
    digest: str
    kind: RequestKind
    status: RequestStatus
    run_id: str
    short_id: str
    workflow: str
    run_title: str
    run_over: bool
    paused: bool
    node: str
    attempt_id: str
    attempt_number: int
    audience: str
    title: str
    blocks: tuple[Block, ...]
    choices: tuple[ShownChoice, ...]
    contract: str
    started_by: str
    deadline_at: int | None
    default: str | None
    created_at: int
    resolution: ShownResolution | None

    @property
    def fingerprint(self) -> str:
        """The first 12 hex of the digest in groups of four, as people compare it."""
        return f"{self.digest[:4]} {self.digest[4:8]} {self.digest[8:12]}"

    @property
    def is_pending(self) -> bool:
        """Open for an answer, by the request AND its run."""
        return self.status is RequestStatus.PENDING and not self.run_over

    def choice(self, key: str | None) -> ShownChoice | None:
        return next((choice for choice in self.choices if choice.key == key), None)

    @property
    def default_label(self) -> str | None:
        choice = self.choice(self.default)
        return choice.label if choice else self.default

    def left_ms(self, now_ms: int) -> int | None:
        """Milliseconds until the default is taken, never negative; None without a deadline."""
        return None if self.deadline_at is None else max(self.deadline_at - now_ms, 0)

    def is_overdue(self, now_ms: int) -> bool:
        return self.is_pending and self.deadline_at is not None and now_ms > self.deadline_at

    def is_urgent(self, now_ms: int) -> bool:
        """Under a tenth of its time is left."""
        if self.deadline_at is None:
            return False
        return (self.deadline_at - now_ms) * 10 < self.deadline_at - self.created_at


class SegmentKind(StrEnum):
    """How a span of an attempt was spent; what is none of these is drawn as nothing."""

    WORK = "worked"
    PERSON = "waited"
    AGENT = "agent"
    PAUSED = "paused"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Segment:
    """A span of wall time; open (it grows) while `end` is None."""

    kind: SegmentKind
    start: int
    end: int | None


@dataclass(frozen=True, slots=True)
class ShownAttempt:
    """One row of the timeline. `outcome` is what its end was in words; `mark` names its glyph and colour:
    ok, failed, timed_out, cancelled, interrupted, running, you, input, agent, effect, answered, paused."""

    attempt_id: str
    node: str
    number: int
    visit: int
    kind: NodeKind
    started_at: int
    ended_at: int | None
    mark: str
    outcome: str
    segments: tuple[Segment, ...]
    worked_ms: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class ShownTimeline:
    """The attempts of one run (the newest `len(attempts)` of `total`), and the run's own two clocks.

    `worked_ms` and `waited_ms` are what the law has added up; the clock that runs now has run since
    `ticking_since`, and `ticking` says which. `pauses` are the spans in which the run was paused.
    """

    run_id: str
    started_at: int
    ended_at: int | None
    attempts: tuple[ShownAttempt, ...]
    total: int
    pauses: tuple[Segment, ...]
    worked_ms: int
    waited_ms: int
    ticking: SegmentKind | None
    ticking_since: int
    waits_for_you: bool = True


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """A trace event in words. `mark` names a glyph (or nothing) and `role` the colour of mark and type."""

    event_seq: int
    seq: int
    at: int
    type: str
    subject: str
    detail: str
    mark: str
    role: Role
    attempt_id: str | None
    payload: str


@dataclass(frozen=True, slots=True)
class TracePage:
    """A window of the trace; `seq` is dense, so the row of `seq` is at place `seq - 1` of `total`."""

    rows: tuple[ShownEvent, ...] = ()
    total: int = 0

    @property
    def first(self) -> int:
        return self.rows[0].seq if self.rows else 0


@dataclass(frozen=True, slots=True)
class ShownValue:
    """The start of a stored value as lines; `size` is the whole, in bytes, `shown` what the lines hold."""

    hash: str
    size: int
    shown: int
    lines: tuple[str, ...]
    is_json: bool

    @property
    def cut(self) -> bool:
        return self.shown < self.size


@dataclass(frozen=True, slots=True)
class ShownEffect:
    effect_id: str
    node: str
    visit: int
    type: str
    recovery: Recovery
    status: EffectStatus
    attempts: int
    resolved_by: str
    resolved_at: int | None


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A finished attempt as the Steps tab lists it; an attempt that is not finished has no `index`."""

    index: int | None
    attempt: ShownAttempt
    outcome: Outcome | None
    prompt_hash: str | None
    output_hash: str | None
    error_hash: str | None


@dataclass(frozen=True, slots=True)
class StepDetail:
    """The step under the cursor with its values read."""

    attempt_id: str
    prompt: ShownValue | None = None
    output: ShownValue | None = None
    error: ShownValue | None = None
    receipts: tuple[str, ...] = ()
    effects: tuple[ShownEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownOutput:
    """Captured output of one attempt, as lines; `dropped` bytes are missing in the middle."""

    attempt_id: str
    title: str
    lines: tuple[tuple[str, str], ...] = ()
    size: int = 0
    dropped: int = 0
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """The newest update of one (type, key): a fraction where the data has one, and what it says."""

    label: str
    node: str
    text: str
    done: float | None
    at: int


@dataclass(frozen=True, slots=True)
class ShownInfo:
    """The Info tab as titled groups of label and value, and the progress of the run."""

    groups: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    input: ShownValue | None = None
    output: ShownValue | None = None
    error: ShownValue | None = None
    progress: tuple[Progress, ...] = ()
    effects: tuple[ShownEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownDetail:
    """Panes 3 and 4 of the selected run. What no open tab needs is left out (None)."""

    run: ShownRun
    timeline: ShownTimeline
    request: ShownRequest | None = None
    trace: TracePage = field(default_factory=TracePage)
    steps: tuple[ShownStep, ...] = ()
    step: StepDetail | None = None
    output: ShownOutput | None = None
    info: ShownInfo | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything on the screen as of one read of the store."""

    at: Now
    store: StoreFact
    event_seq: int = 0
    host: HostFact = field(default_factory=HostFact)
    counts: Counts = field(default_factory=Counts)
    runs: RunsPage = field(default_factory=RunsPage)
    decisions: tuple[ShownRequest, ...] = ()
    decided: tuple[ShownRequest, ...] = ()
    detail: ShownDetail | None = None
    request: ShownRequest | None = None


@dataclass(frozen=True, slots=True)
class Interest:
    """What a screen looks at: the feed reads this much and no more.

    `tab` is trace, steps, output or info; a `trace_first` of None follows the newest events. `attempt_id`
    chooses the attempt of the Steps and Output tabs; None is the newest. `request_id` is that of an open card.
    """

    filter: str = ""
    sort: str = "created"
    descending: bool = True
    first: int = 0
    count: int = 80
    run_id: str | None = None
    attempt_id: str | None = None
    request_id: str | None = None
    tab: str = "trace"
    trace_first: int | None = None
    trace_count: int = 200
    decided: bool = False
    more: int = 0


def newest(requests: Sequence[ShownRequest], run_id: str) -> ShownRequest | None:
    """The pending request of a run, which is at most one."""
    return next((request for request in requests if request.run_id == run_id and request.is_pending), None)
