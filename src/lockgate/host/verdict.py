"""What the end of a launch means for its run: one pure function from what was seen to the host's command."""

from lockgate.flow.transitions import Block, Lose, Release
from lockgate.host.protocol import Exiting, LoadFailed, SourcesDiffer
from lockgate.host.session import Session
from lockgate.model.records import Record
from lockgate.model.statuses import BlockCode, WorkerStatus

LOAD_LIMIT_S = 30.0
"""How long a worker may take to load its workflow and say ready."""

SILENT = "silent"
"""Why a worker was stopped that did not."""

DETAIL_CHARS = 300
"""How much of a reason a blocked run's event carries; the whole stderr tail is in run_workers."""


class Ending(Record, frozen=True, kw_only=True):
    """All that was seen of one launch.

    `stopped` is the host's own reason for ending the group (host_stopped, claim_ended, pause_now, timeout, or
    silent: not ready in time), None where the worker ended by itself. `answered` is the last outcome other than
    accepted or refused that a proposal got. `exiting` is the reason that the worker gave. `files` (with
    `graph_changed`) and `load_error` are why nothing was executed. `timed_out`: the host committed the timeout
    that the worker did not.
    """

    exit_code: int | None = None
    signal: int | None = None
    stopped: str | None = None
    answered: str | None = None
    exiting: str | None = None
    progressed: bool = False
    timed_out: bool = False
    files: tuple[str, ...] = ()
    graph_changed: bool = False
    load_error: str | None = None
    stderr_tail: str = ""

    @property
    def worker_status(self) -> WorkerStatus:
        if self.stopped is not None:
            return WorkerStatus.STOPPED
        is_well = self.exiting is not None if self.is_unseen else self.exit_code == 0
        return WorkerStatus.EXITED if is_well else WorkerStatus.CRASHED

    @property
    def is_unseen(self) -> bool:
        """Whether nobody can say how the process ended: the fork server, its parent, had died before it."""
        return self.exit_code is None and self.signal is None


UNVERIFIED = "unverified"
"""The engine's word for a running attempt that it leaves at its limit: the next worker looks at its effect."""

UNSEEN = "unseen"
"""Why a worker is lost whose end nobody saw."""

HOST_STOPPED = "host_stopped"
UNCOUNTED = frozenset({HOST_STOPPED, "claim_ended", "pause_now", UNSEEN})
"""Ends that are not held against the worker: the host brought them about, or lost sight of them."""


def ending_of(
    session: Session, *, status: int | None, stopped: str | None, timed_out: bool, breach: str | None, stderr_tail: str
) -> Ending:
    """What the session and the process's exit status tell; a negative status is a signal, None is not known."""
    said = session.said
    if breach is not None:
        stderr_tail += f"\nthe worker could not be served: {breach}\n"
    late = f"the workflow was not loaded within {LOAD_LIMIT_S:g} s" if stopped == SILENT else None
    return Ending(
        exit_code=status if status is not None and status >= 0 else None,
        signal=-status if status is not None and status < 0 else None,
        stopped=stopped,
        answered=session.answered,
        exiting=said.reason if isinstance(said, Exiting) else None,
        progressed=session.progressed,
        timed_out=timed_out,
        files=said.files if isinstance(said, SourcesDiffer) else (),
        graph_changed=isinstance(said, SourcesDiffer) and said.graph_changed,
        load_error=said.text if isinstance(said, LoadFailed) else late,
        stderr_tail=stderr_tail,
    )


def command_for(ending: Ending) -> Release | Lose | Block:
    """The command that gives the run back; where the claim has ended already, committing it changes nothing."""
    if ending.files:
        detail = _short(", ".join(ending.files))
        return Block(code=BlockCode.SOURCE_CHANGED, detail=detail, graph_changed=ending.graph_changed)
    if ending.load_error is not None:
        return Block(code=BlockCode.LOAD_FAILED, detail=_short(ending.load_error))
    if ending.timed_out:
        return Release()
    if ending.stopped is not None:
        return lost(ending, ending.stopped)
    if ending.exiting == UNVERIFIED:
        return lost(ending, "timeout")
    if ending.exiting is not None or ending.answered is not None:
        return Release()
    if ending.is_unseen:
        return lost(ending, UNSEEN)
    return lost(ending, "exit" if ending.signal is None else "signal")


def lost(ending: Ending, cause: str) -> Lose:
    return Lose(
        cause=cause,
        counted=cause not in UNCOUNTED and ending.answered is None,
        progressed=ending.progressed,
        exit_code=ending.exit_code,
        signal=ending.signal,
    )


def _short(text: str) -> str:
    return text if len(text) <= DETAIL_CHARS else text[: DETAIL_CHARS - 3] + "..."
