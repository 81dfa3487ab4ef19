"""What a screen shows, frozen and clean: made from raw records in one place, compared by value.

A snapshot holds facts, not words that age: what depends on the moment (elapsed, lost, overdue, time left) is
worked out by whoever paints, from the facts here and the moment of the lens.
"""

from enum import StrEnum
from typing import Protocol

import msgspec

from lockgate.flow.words import allowed
from lockgate.model.records import Now, Run
from lockgate.model.statuses import (
    EffectStatus,
    NodeKind,
    Outcome,
    Recovery,
)
from lockgate.view.asked import Block as Block
from lockgate.view.asked import ShownChoice as ShownChoice
from lockgate.view.asked import ShownInput as ShownInput
from lockgate.view.asked import ShownRequest as ShownRequest
from lockgate.view.asked import ShownResolution as ShownResolution
from lockgate.view.asked import newest as newest
from lockgate.view.cells import Role
from lockgate.view.facts import Counts as Counts
from lockgate.view.facts import HostFact as HostFact
from lockgate.view.facts import HostState as HostState
from lockgate.view.facts import StoreFact as StoreFact
from lockgate.view.facts import StoreState as StoreState


class ShownRun(msgspec.Struct, frozen=True):
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


class RunsPage(msgspec.Struct, frozen=True):
    """The visible rows, from place `first` of `total` matching ones; `everything` counts without the filter."""

    rows: tuple[ShownRun, ...] = ()
    first: int = 0
    total: int = 0
    everything: int = 0
    filter: str = ""
    sort: str = "created"
    descending: bool = True
    ids: RunIds | None = None


class SegmentKind(StrEnum):
    """How a span of an attempt was spent; what is none of these is drawn as nothing."""

    WORK = "worked"
    PERSON = "waited"
    AGENT = "agent"
    PAUSED = "paused"
    LOST = "lost"


class Segment(msgspec.Struct, frozen=True):
    """A span of wall time; open (it grows) while `end` is None."""

    kind: SegmentKind
    start: int
    end: int | None


class ShownAttempt(msgspec.Struct, frozen=True):
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


class ShownTimeline(msgspec.Struct, frozen=True):
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


class ShownEvent(msgspec.Struct, frozen=True):
    """A trace event in words. `mark` names a glyph (or nothing), `role` the colour of mark and type, `payload` is
    compact JSON."""

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


class TracePage(msgspec.Struct, frozen=True):
    """A window of the trace; `seq` is dense, so the row of `seq` is at place `seq - 1` of `total`."""

    rows: tuple[ShownEvent, ...] = ()
    total: int = 0

    @property
    def first(self) -> int:
        return self.rows[0].seq if self.rows else 0


class ShownValue(msgspec.Struct, frozen=True):
    """The start of a stored value as lines; `size` is the whole, in bytes, `shown` what the lines hold."""

    hash: str
    size: int
    shown: int
    lines: tuple[str, ...]
    is_json: bool

    @property
    def cut(self) -> bool:
        return self.shown < self.size


class ShownEffect(msgspec.Struct, frozen=True):
    effect_id: str
    node: str
    visit: int
    type: str
    recovery: Recovery
    status: EffectStatus
    attempts: int
    resolved_by: str
    resolved_at: int | None


class ShownStep(msgspec.Struct, frozen=True):
    """A finished attempt as the Steps tab lists it; an attempt that is not finished has no `index`.

    A passage into or out of an include is no step of its own: its index is that of the step after it.
    """

    index: int | None
    attempt: ShownAttempt
    outcome: Outcome | None
    prompt_hash: str | None
    output_hash: str | None
    error_hash: str | None
    settings_hash: str | None = None
    is_passage: bool = False


class StepDetail(msgspec.Struct, frozen=True):
    """The step under the cursor with its values read. `settings` are those that it saw, None without any."""

    attempt_id: str
    prompt: ShownValue | None = None
    output: ShownValue | None = None
    error: ShownValue | None = None
    receipts: tuple[str, ...] = ()
    effects: tuple[ShownEffect, ...] = ()
    settings: tuple[tuple[str, str], ...] | None = None


class ShownOutput(msgspec.Struct, frozen=True):
    """Captured output of one attempt, as lines; `dropped` bytes are missing in the middle."""

    attempt_id: str
    title: str
    lines: tuple[tuple[str, str], ...] = ()
    size: int = 0
    dropped: int = 0
    cut: bool = False


class Progress(msgspec.Struct, frozen=True):
    """The newest update of one (type, key): a fraction where the data has one, what it says, how long still."""

    label: str
    node: str
    text: str
    done: float | None
    at: int
    estimate: str = ""


class ShownInfo(msgspec.Struct, frozen=True):
    """The Info tab as titled groups of label and value, and the progress of the run."""

    groups: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    input: ShownValue | None = None
    output: ShownValue | None = None
    error: ShownValue | None = None
    progress: tuple[Progress, ...] = ()
    effects: tuple[ShownEffect, ...] = ()


class ShownDetail(msgspec.Struct, frozen=True):
    """Panes 3 and 4 of the selected run. What no open tab needs is left out (None)."""

    run: ShownRun
    timeline: ShownTimeline
    request: ShownRequest | None = None
    trace: TracePage = msgspec.field(default_factory=TracePage)
    steps: tuple[ShownStep, ...] = ()
    step: StepDetail | None = None
    output: ShownOutput | None = None
    info: ShownInfo | None = None


class Snapshot(msgspec.Struct, frozen=True):
    """Everything on the screen as of one read of the store."""

    at: Now
    store: StoreFact
    event_seq: int = 0
    host: HostFact = msgspec.field(default_factory=HostFact)
    counts: Counts = msgspec.field(default_factory=Counts)
    runs: RunsPage = msgspec.field(default_factory=RunsPage)
    decisions: tuple[ShownRequest, ...] = ()
    decided: tuple[ShownRequest, ...] = ()
    detail: ShownDetail | None = None
    request: ShownRequest | None = None

    @property
    def is_blank(self) -> bool:
        """Whether the store has no run at all: the screen says how to begin."""
        return self.detail is None and not self.runs.everything and not self.runs.total


class Interest(msgspec.Struct, frozen=True):
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
