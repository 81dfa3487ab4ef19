"""The table of situations, restated plainly: what may stand together, and the word for it."""

from lockgate.flow.head import RunHead
from lockgate.flow.words import is_lost
from lockgate.model.records import Now
from tests.flow.driver import view

TERMINAL = ("completed", "failed", "timed_out", "cancelled")


def situation(head: RunHead) -> tuple[str, str, bool, bool, str, str, str]:
    """(run, queue, paused, claim held, attempt, request, error_code), with '-' for nothing."""
    request = "-"
    if head.request is not None:
        request = str(head.request.status)
        if head.request.consumed_at is not None:
            request = "consumed"
    return (
        str(head.run.status),
        str(head.queue.status),
        head.run.paused,
        head.holds_claim,
        str(head.attempt.status) if head.attempt else "-",
        request,
        head.queue.error_code or "-",
    )


def named(head: RunHead, now: Now) -> str:
    """The one row of the table that fits, by its word; raises AssertionError where none does."""
    run, queue, paused, claim, attempt, request, error = found = situation(head)
    if run in TERMINAL:
        assert found[1:] == ("done", False, False, "-", "-", "-"), found
        return run
    if claim:
        return _held(found, head, now)
    assert queue in ("queued", "parked"), found
    if error != "-":
        assert queue == "parked", found
        if error == "effect_ambiguous":
            assert (run, attempt, request) == ("waiting", "waiting", "-"), found
        else:
            assert (attempt, request) in (("-", "-"), ("interrupted", "-"), ("waiting", "settled")), found
        return "blocked"
    if paused:
        assert queue == "parked", found
        assert _paused_fits(run, attempt, request), found
        return "paused"
    if run == "queued":
        assert (queue, attempt, request) == ("queued", "-", "-"), found
        return "queued"
    if run == "running":
        assert queue == "queued", found
        assert request == "-", found
        assert attempt in ("-", "interrupted"), found
        return "interrupted" if attempt == "interrupted" else "queued"
    assert (run, attempt) == ("waiting", "waiting"), found
    if request == "settled":
        assert queue == "queued", found
        return "answered"
    assert (queue, request) == ("parked", "pending"), found
    deadline = head.request.deadline_at if head.request else None
    return "overdue" if deadline is not None and max(now.wall_ms, head.run.last_at) > deadline else "waiting"


def _held(found: tuple[str, str, bool, bool, str, str, str], head: RunHead, now: Now) -> str:
    run, queue, paused, _, attempt, request, error = found
    assert error == "-", found
    if queue == "starting":
        assert (attempt, request) in (("-", "-"), ("interrupted", "-"), ("waiting", "settled")), found
        assert (run == "waiting") == (attempt == "waiting"), found
        name = "starting"
    else:
        assert (run, queue) == ("running", "running"), found
        assert attempt in ("-", "running", "interrupted"), found
        assert request in ("-", "settled"), found
        name = "running"
    if is_lost(view(head).claim, now):
        return "lost"
    return "pausing" if paused else name


def _paused_fits(run: str, attempt: str, request: str) -> bool:
    if run == "waiting":
        return attempt == "waiting" and request in ("pending", "settled")
    return run in ("queued", "running") and attempt in ("-", "interrupted") and request == "-"
