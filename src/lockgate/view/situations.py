"""The word of a run's situation with its glyph, colour and note, at the moment of the lens."""

import msgspec

from lockgate.flow.words import word
from lockgate.model.records import Run
from lockgate.model.statuses import GRAPH_CHANGED, BlockCode, Clock, RequestKind, RequestStatus, Word
from lockgate.view.cells import Role, Span
from lockgate.view.glyphs import Glyphs
from lockgate.view.lens import Lens
from lockgate.view.snapshots import ShownRun
from lockgate.view.times import duration

WRONG_NOW = frozenset({Word.OVERDUE, Word.LOST, Word.BLOCKED})
QUIET = frozenset({Word.COMPLETED, Word.CANCELLED})
MOVING = frozenset({Word.RUNNING, Word.STARTING, Word.ANSWERED, Word.INTERRUPTED})

_BLOCKED: dict[str, str] = {
    BlockCode.WORKER_LOST: "worker lost",
    BlockCode.SOURCE_CHANGED: "source changed",
    GRAPH_CHANGED: "graph changed",
    BlockCode.LOAD_FAILED: "load failed",
    BlockCode.EFFECT_AMBIGUOUS: "did it happen?",
}
_FOR = {RequestKind.DECISION: "for you", RequestKind.CHECKPOINT: "for input", RequestKind.AGENT: "for agent"}


class State(msgspec.Struct, frozen=True):
    """How a situation is drawn: `chip` fills the glyph and the word, `bold` is for what is wrong now."""

    word: Word
    glyph: str
    role: Role
    chip: bool = False
    bold: bool = False

    @property
    def text(self) -> str:
        return label(self.word)


def label(name: Word) -> str:
    """The word as it is written on screens."""
    return "timed out" if name is Word.TIMED_OUT else str(name)


def state(run: Run, lens: Lens) -> State:
    """The state of a live run."""
    name = word(run, lens.now)
    if name is Word.WAITING:
        return waiting(run.request_kind, lens.glyphs)
    return styled(name, lens.glyphs)


def waiting(kind: RequestKind | None, glyphs: Glyphs) -> State:
    """What waits for a person is the one chip; input is theirs too, an agent is not."""
    if kind is RequestKind.DECISION or kind is None:
        return State(Word.WAITING, glyphs.asking, "you-fill", chip=True, bold=True)
    return State(Word.WAITING, glyphs.wanting, "you" if kind is RequestKind.CHECKPOINT else "muted")


def styled(name: Word, glyphs: Glyphs) -> State:
    """The state of a word other than waiting."""
    glyph = glyphs.words[name]
    if name in WRONG_NOW:
        return State(name, glyph, "bad", bold=True)
    if name in (Word.FAILED, Word.TIMED_OUT):
        return State(name, glyph, "bad")
    if name in MOVING:
        return State(name, glyph, "run")
    if name in (Word.PAUSED, Word.PAUSING):
        return State(name, glyph, "paused")
    return State(name, glyph, "muted")


def phrase(run: Run, lens: Lens) -> str:
    """The situation in words, as where there is room: `waiting for you`, `blocked: source changed`."""
    name = word(run, lens.now)
    text = label(name)
    if name is Word.WAITING:
        return f"{text} {_FOR[run.request_kind or RequestKind.DECISION]}"
    if name is Word.BLOCKED:
        return f"{text}: {blocked_reason(run)}"
    if name is Word.OVERDUE:
        return f"{text}: {lens.glyphs.quoted(default_label(run))} is due"
    if name is Word.PAUSED and run.request_id is not None:
        if run.request_status is RequestStatus.PENDING:
            return f"{text} (decision waits)"
        return f"{text} (answered)"
    return text


def blocked_reason(run: Run) -> str:
    """What a blocked run is blocked by, in words."""
    return _BLOCKED.get(run.error_code or "", run.error_code or "blocked")


def default_label(run: Run) -> str:
    """The label of the choice that a deadline takes."""
    return run.default_label or run.default_choice or "the default"


def note(shown: ShownRun, lens: Lens, cells: int) -> Span | None:
    """What stands in the title's place because it matters more; None leaves the title there."""
    run = shown.run
    name = word(run, lens.now)
    if name is Word.LOST:
        if run.claim is None or run.claim.boot_id != lens.now.boot_id:
            return Span("host gone", "bad")
        return Span(f"silent {duration(lens.now.mono_ms - run.claim.heartbeat_mono)}", "bad")
    if name is Word.BLOCKED:
        return Span(blocked_reason(run), "bad")
    if name is Word.OVERDUE:
        return Span(f"due: {default_label(run)}", "bad")
    if name is Word.INTERRUPTED and run.available_at > lens.now_ms:
        return Span(f"again in {duration(run.available_at - lens.now_ms + 999)}", "muted")
    if name is Word.RUNNING and shown.slower is not None:
        whole = f"{lens.glyphs.stuck} {shown.slower:.1f}x slower than usual"
        return Span(whole if len(whole) <= cells else whole.removesuffix(" than usual"), "bad")
    return None


def waited_ms(run: Run, now_ms: int) -> int:
    """The run's waiting-for-people time up to now."""
    return run.waiting_ms + (max(now_ms - run.clock_since, 0) if run.clock is Clock.PERSON else 0)


def worked_ms(run: Run, now_ms: int) -> int:
    """The run's working time up to now."""
    return run.active_ms + (max(now_ms - run.clock_since, 0) if run.clock is Clock.ACTIVE else 0)


def time_cell(run: Run, name: Word, now_ms: int) -> Span:
    """The time of a row: how long it has been waiting, else how long the run has been going."""
    if name is Word.WAITING:
        person = run.request_kind is not RequestKind.AGENT
        since = max(now_ms - run.clock_since, 0)
        waited = waited_ms(run, now_ms) if person else since
        return Span(duration(waited), "you" if person else "text", bold=person)
    elapsed = (run.finished_at or now_ms) - run.created_at
    return Span(duration(elapsed), "muted" if name in QUIET else "text")
