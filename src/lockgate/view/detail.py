"""The read of the selected run: its timeline always, and of the tabs only the one that is open."""

from typing import TYPE_CHECKING, Any

import msgspec

from lockgate.flow.graph import decode, remembered
from lockgate.model.errors import LockgateError, NotFound
from lockgate.model.records import AttemptRow, EventView, Now, ResolutionRow, RunDetail
from lockgate.model.statuses import NodeKind
from lockgate.store import reads
from lockgate.view.attempts import Labels, shown_steps, shown_timeline
from lockgate.view.events import shown_event
from lockgate.view.infos import read_info
from lockgate.view.output import shown_output
from lockgate.view.shown import shown_effect, shown_run
from lockgate.view.snapshots import (
    Interest,
    ShownDetail,
    ShownEvent,
    ShownOutput,
    ShownRequest,
    ShownStep,
    ShownTimeline,
    ShownValue,
    StepDetail,
    TracePage,
    newest,
)
from lockgate.view.submitted import receipts_of
from lockgate.view.values import FIRST_BYTES, settings_pairs, shown_value

if TYPE_CHECKING:
    import sqlite3

ATTEMPTS = 200
MARKS = 500
CHUNKS_EACH = 64
_ASKING = (NodeKind.CHECKPOINT, NodeKind.HUMAN_DECISION)


class DetailReader:
    """Reads the detail of a run; keeps the timeline's rows while the run's revision stays what it was."""

    def __init__(self) -> None:
        self._kept: tuple[str, int] | None = None
        self._detail: RunDetail | None = None
        self._timeline: ShownTimeline | None = None
        self._events: dict[int, ShownEvent] = {}
        self._marks: tuple[EventView, ...] = ()

    def read(
        self,
        connection: "sqlite3.Connection",
        run_id: str,
        interest: Interest,
        asked: tuple[ShownRequest, ...],
        now: Now,
    ) -> ShownDetail | None:
        """The detail of a run, or None where there is no such run (any more)."""
        found = reads.runs_by_id(connection, [run_id])
        if not found:
            return None
        run = found[0]
        if self._kept != (run_id, run.revision) or self._detail is None or self._timeline is None:
            self._detail = reads.run(connection, run_id, attempts_limit=ATTEMPTS)
            # Events never change: only those since the last read are looked for, however long the run is.
            seen = self._kept[1] if self._kept is not None and self._kept[0] == run_id else 0
            marks = (*(self._marks if seen else ()), *reads.marks(connection, run_id, after=seen))
            self._marks = marks[-MARKS:]
            total = self._detail.attempts[-1].ordinal if self._detail.attempts else 0
            labels = choice_labels(connection, self._detail.row.definition_digest)
            self._timeline = shown_timeline(self._detail, self._marks, total=total, labels=labels)
            self._kept = (run_id, run.revision)
        detail, timeline = self._detail, self._timeline
        steps = shown_steps(detail, timeline) if interest.tab == "steps" else ()
        return ShownDetail(
            run=shown_run(run),
            timeline=timeline,
            request=newest(asked, run_id),
            trace=self._trace(connection, detail, run.revision, interest),
            steps=steps,
            step=read_step(connection, detail, steps, interest) if steps else None,
            output=read_output(connection, detail, interest) if interest.tab == "output" else None,
            info=read_info(connection, detail, run, now) if interest.tab == "info" else None,
        )

    def _trace(self, connection: "sqlite3.Connection", detail: RunDetail, total: int, interest: Interest) -> TracePage:
        run_id, count = detail.row.run_id, interest.trace_count
        if interest.trace_first is None:
            found = reads.last_events(connection, run_id, limit=count)
        else:
            found = reads.events(connection, run_id, after=max(interest.trace_first - 1, 0), limit=count)
        numbers = {attempt.attempt_id: attempt.attempt_number for attempt in detail.attempts}
        # Events never change: those of the window before are not put into words again.
        known = self._events
        self._events = {event.event_seq: known.get(event.event_seq) or shown_event(event, numbers) for event in found}
        return TracePage(tuple(self._events.values()), total)


def choice_labels(connection: "sqlite3.Connection", digest: str) -> Labels:
    """The labels of a definition's choices, by (node, choice key); none for a definition that cannot be read."""
    try:
        graph = remembered(digest) or decode(digest, reads.definition(connection, digest))
    except LockgateError:
        return {}
    return {(name, choice.key): choice.label for name, node in graph.nodes.items() for choice in node.choices}


def read_value(connection: "sqlite3.Connection", hash: str | None, *, more: int = 0) -> ShownValue | None:
    """The first 64 KB of a value, or that much more for each `more`."""
    if hash is None:
        return None
    try:
        content, size = reads.value_part(connection, hash, limit=FIRST_BYTES * (more + 1))
    except NotFound:
        return None
    return shown_value(hash, content, total=size, limit=FIRST_BYTES * (more + 1))


def read_step(
    connection: "sqlite3.Connection", detail: RunDetail, steps: tuple[ShownStep, ...], interest: Interest
) -> StepDetail:
    """The values, receipts and effects of the chosen step, else of the newest."""
    step = next((each for each in steps if each.attempt.attempt_id == interest.attempt_id), steps[-1])
    attempt_id = step.attempt.attempt_id
    requests = [each for each in detail.requests if each.attempt_id == attempt_id]
    return StepDetail(
        attempt_id=attempt_id,
        prompt=read_value(connection, step.prompt_hash, more=interest.more),
        output=read_value(connection, step.output_hash, more=interest.more),
        error=read_value(connection, step.error_hash, more=interest.more),
        receipts=tuple(text for request in requests for text in receipts_of(connection, request.request_id)),
        effects=tuple(shown_effect(each) for each in detail.effects if each.attempt_id == attempt_id),
        settings=read_settings(connection, step.settings_hash),
    )


def read_settings(connection: "sqlite3.Connection", hash: str | None) -> tuple[tuple[str, str], ...] | None:
    """The settings that a stored value holds; None without any."""
    if hash is None:
        return None
    try:
        return settings_pairs(reads.value(connection, hash))
    except NotFound:
        return None


def read_output(connection: "sqlite3.Connection", detail: RunDetail, interest: Interest) -> ShownOutput | None:
    """The start of what the chosen attempt (else the newest that can write) wrote."""
    attempt = _writer(detail, interest.attempt_id)
    if attempt is None:
        return None
    limit = FIRST_BYTES * (interest.more + 1)
    chunks, held, after, cut = [], 0, -1, False
    while not cut:
        found = reads.output(connection, detail.row.run_id, attempt.attempt_id, after=after, limit=CHUNKS_EACH)
        for chunk in found:
            cut = held >= limit
            if cut:
                break
            chunks.append(chunk)
            held += len(chunk.content)
            after = chunk.chunk
        if len(found) < CHUNKS_EACH:
            break
    return shown_output(attempt.attempt_id, f"{attempt.node_id} #{attempt.attempt_number}", chunks, cut=cut)


def _writer(detail: RunDetail, attempt_id: str | None) -> AttemptRow | None:
    chosen = next((each for each in detail.attempts if each.attempt_id == attempt_id), None)
    working = (each for each in reversed(detail.attempts) if each.kind not in _ASKING)
    return chosen or next(working, None) or (detail.attempts[-1] if detail.attempts else None)


def settled_text(connection: "sqlite3.Connection", resolution: ResolutionRow | None) -> str | None:
    """The text that came with the choice that won; None where there was none."""
    if resolution is None or resolution.response_hash is None:
        return None
    try:
        response: Any = msgspec.json.decode(reads.value(connection, resolution.response_hash))
    except (NotFound, msgspec.DecodeError):
        return None
    texts = response.get("input") if isinstance(response, dict) else None
    if not isinstance(texts, dict):
        return None
    return "\n".join(str(text) for text in texts.values()) or None
