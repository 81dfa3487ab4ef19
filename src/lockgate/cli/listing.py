"""Lists of runs, and one run with its values, as the reading commands need them."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from lockgate.cli.call import Call
from lockgate.model.records import Run, RunDetail
from lockgate.model.statuses import RunStatus

if TYPE_CHECKING:
    from lockgate.model.records import SettingsChangeRow, SettingsRow
    from lockgate.store.reads import Page
    from lockgate.view.documents import ReadValue

MOST_ATTEMPTS = 10_000
"""The newest attempts that one document holds."""


def found_runs(call: Call, statuses: Sequence[str], text: str | None, limit: int) -> "Page[Run]":
    """The newest runs of these statuses (all, if none is named) that the filter lets through.

    Raises UsageError for a filter that cannot be read.
    """
    from lockgate.store import reads

    wished = frozenset(RunStatus(status) for status in statuses)
    if text is None:
        return call.read(reads.runs, reads.RunQuery(statuses=tuple(sorted(wished)), limit=limit))
    return _filtered(call, wished, text, limit)


def _filtered(call: Call, wished: frozenset[RunStatus], text: str, limit: int) -> "Page[Run]":
    """The store leaves out what it can; what depends on the moment is decided here, page by page."""
    from lockgate.store import reads
    from lockgate.view.filters import BadFilter, matches, parsed, query

    try:
        terms = parsed(text)
    except BadFilter as error:
        raise click.UsageError(f"--filter: {error}") from error
    now = call.now()
    kept = query(terms, now.wall_ms)
    if kept is None:
        return reads.Page(rows=())
    of = frozenset(kept.statuses) or frozenset(RunStatus)
    of = of & wished if wished else of
    found: list[Run] = []
    before: str | None = None
    while of and len(found) < limit:
        asked = msgspec.structs.replace(kept, statuses=tuple(sorted(of)), limit=limit, before=before)
        page = call.read(reads.runs, asked)
        found += [run for run in page.rows if matches(terms, run, now)]
        before = page.next
        if before is None:
            break
    rest = found[limit - 1].run_id if len(found) > limit or (before is not None and len(found) == limit) else None
    return reads.Page(rows=tuple(found[:limit]), next=rest)


def read_show(call: Call, run_id: str) -> "tuple[RunDetail, ReadValue]":
    """A run, and a reader of the values that its document shows, both of one moment."""
    from lockgate.store import reads

    def read(connection: Any) -> tuple[RunDetail, dict[str, Any]]:
        detail = reads.run(connection, run_id, attempts_limit=MOST_ATTEMPTS)
        return detail, {hash: decoded(reads.value(connection, hash)) for hash in _hashes(detail)}

    detail, values = call.read(read)
    return detail, lambda hash: None if hash is None else values[hash]


def read_settings(
    call: Call, run_id: str
) -> "tuple[tuple[SettingsRow, ...], tuple[SettingsChangeRow, ...], ReadValue]":
    """The settings scopes of a run, their changes, and a reader of their values, all of one moment."""
    from lockgate.store import reads

    def read(connection: Any) -> tuple[Any, Any, dict[str, Any]]:
        scopes, changes = (
            reads.settings(connection, run_id),
            reads.setting_changes(connection, run_id, limit=MOST_ATTEMPTS),
        )
        named = {scope.initial_hash for scope in scopes} | {scope.current_hash for scope in scopes}
        named |= {change.patch_hash for change in changes}
        return scopes, changes, {hash: decoded(reads.value(connection, hash)) for hash in named}

    scopes, changes, values = call.read(read)
    return scopes, changes, lambda hash: None if hash is None else values[hash]


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
    for outcome in detail.earlier:
        named += [outcome.output_hash, outcome.error_hash]
    return {hash for hash in named if hash is not None}
