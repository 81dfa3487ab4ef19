"""Lists of runs, and one run with its values, as the reading commands need them."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lockgate.cli.call import Call
from lockgate.model.records import Run, RunDetail
from lockgate.model.statuses import RunStatus

if TYPE_CHECKING:
    from lockgate.store.reads import Page
    from lockgate.view.documents import ReadValue

MOST_ATTEMPTS = 10_000
"""The newest attempts that one document holds."""


def found_runs(call: Call, statuses: Sequence[str], text: str | None, limit: int) -> "Page[Run]":
    """The newest runs of these statuses (all, if none is named) that the filter lets through."""
    from lockgate.store import reads

    query = reads.RunQuery(statuses=tuple(RunStatus(status) for status in statuses), limit=limit)
    return call.read(reads.runs, query)


def read_show(call: Call, run_id: str) -> "tuple[RunDetail, ReadValue]":
    """A run, and a reader of the values that its document shows, both of one moment."""
    from lockgate.store import reads

    def read(connection: Any) -> tuple[RunDetail, dict[str, Any]]:
        detail = reads.run(connection, run_id, attempts_limit=MOST_ATTEMPTS)
        return detail, {hash: decoded(reads.value(connection, hash)) for hash in _hashes(detail)}

    detail, values = call.read(read)
    return detail, lambda hash: None if hash is None else values.get(hash)


def decoded(content: bytes) -> Any:
    """A stored value: JSON as data, anything else as text."""
    try:
        return json.loads(content)
    except ValueError:
        return content.decode("utf-8", errors="replace")


def _hashes(detail: RunDetail) -> set[str]:
    row = detail.row
    named: list[str | None] = [row.input_hash, row.output_hash, row.error_hash]
    for attempt in detail.attempts:
        named += [attempt.output_hash, attempt.error_hash]
    named += [update.data_hash for update in detail.updates]
    return {hash for hash in named if hash is not None}
