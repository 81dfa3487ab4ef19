"""Runs as text: a list of them, and one with its facts, its attempts, what waits, and how it ended."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from lockgate.cli.questions import grouped
from lockgate.cli.tables import table
from lockgate.flow.words import ways_on, word
from lockgate.model.ids import short_id
from lockgate.model.records import RequestRow, Run, RunDetail
from lockgate.model.statuses import RequestStatus, Word
from lockgate.view.documents import ReadValue
from lockgate.view.lens import Lens
from lockgate.view.situations import phrase, waited_ms, worked_ms
from lockgate.view.times import duration, moment

_SHOWN_CHARS = 2000


def runs_text(runs: Sequence[Run], lens: Lens) -> str:
    if not runs:
        return "No runs."
    rows = [
        (
            short_id(run.run_id),
            phrase(run, lens),
            run.workflow,
            duration(worked_ms(run, lens.now_ms)),
            duration(waited_ms(run, lens.now_ms)),
            moment(run.created_at, lens.now_ms, lens.zone),
            run.title or "",
        )
        for run in runs
    ]
    return table(("run", "state", "workflow", "worked", "waited", "started", "title"), rows)


def show_text(detail: RunDetail, lens: Lens, value: ReadValue) -> str:
    """Everything of a run that a person asks for first; `--json` has the rest."""
    return "\n".join(
        (
            *_facts(detail, lens),
            *_attempts(detail, lens),
            *_waits(detail, lens),
            *_end(detail, value),
            *_blocked(detail, lens),
        )
    )


def _facts(detail: RunDetail, lens: Lens) -> Iterator[str]:
    run, row = detail.run, detail.row
    yield f"{run.workflow} {short_id(run.run_id)}: {phrase(run, lens)}" + (f", {run.title}" if run.title else "")
    yield f"run        {run.run_id}, revision {run.revision}"
    yield f"started    {moment(run.created_at, lens.now_ms, lens.zone)} by {run.started_by}"
    if run.finished_at is not None:
        yield f"finished   {moment(run.finished_at, lens.now_ms, lens.zone)}"
    now = lens.now_ms
    yield f"worked     {duration(worked_ms(run, now))}, waited for people {duration(waited_ms(run, now))}"
    yield f"workflow   {row.workflow_ref}"
    if row.parent_run_id:
        yield f"restart of {row.parent_run_id} at revision {row.parent_revision}"
    worker = detail.worker
    if worker is not None and run.claim is not None:
        yield f"worker     pid {worker.pid}, {worker.status}"


def _attempts(detail: RunDetail, lens: Lens) -> Iterator[str]:
    if not detail.attempts:
        return
    rows = [
        (
            str(attempt.ordinal),
            f"{attempt.node_id} #{attempt.attempt_number}",
            attempt.outcome or attempt.status,
            duration(attempt.active_ms),
            moment(attempt.started_at, lens.now_ms, lens.zone),
            attempt.error_summary or "",
        )
        for attempt in detail.attempts
    ]
    yield ""
    yield table(("no", "attempt", "state", "worked", "started", "error"), rows)


def _waits(detail: RunDetail, lens: Lens) -> Iterator[str]:
    for request in detail.requests:
        if request.status is RequestStatus.PENDING:
            yield ""
            yield f"waits      {request.kind} {request.request_id}, fingerprint {grouped(request.digest)}"
            yield f"           {_advice(request)}"
            if detail.run.paused:
                yield f"           first lockgate resume {short_id(detail.run.run_id)}: a paused run takes no answer"
    for effect in detail.effects:
        if effect.status == "ambiguous":
            yield ""
            yield f"unsure     did {effect.effect_type} of {effect.node_id} happen? {effect.effect_id}"
            yield f"           lockgate resolve {effect.effect_id} happened | not-happened"


def _advice(request: RequestRow) -> str:
    if request.kind == "decision":
        return f"lockgate answer {request.request_id} CHOICE"
    return f"lockgate submit {request.request_id} --output JSON"


def _blocked(detail: RunDetail, lens: Lens) -> Iterator[str]:
    """What a person may do about a run that nothing moves on."""
    run = detail.run
    if run.error_code is not None and word(run, lens.now) is Word.BLOCKED:
        yield ""
        yield f"next       {ways_on(run.error_code, short_id(run.run_id))}"


def _end(detail: RunDetail, value: ReadValue) -> Iterator[str]:
    run, row, worker = detail.run, detail.row, detail.worker
    if run.error_summary or run.error_code:
        yield ""
        yield f"error      {': '.join(part for part in (run.error_code, run.error_summary) if part)}"
    if worker is not None and worker.stderr_tail.strip() and run.error_code:
        yield "last words of the worker:"
        yield from (f"  {line}" for line in worker.stderr_tail.strip().splitlines()[-20:])
    if row.output_hash is not None:
        yield ""
        yield f"output     {_short(value(row.output_hash))}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}… (--json has all of it)"
