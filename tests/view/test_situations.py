"""Every situation of the design's table has its word, its glyph and its place on the screen."""

from typing import Any

import pytest

from lockgate.model.records import ClaimView, Run
from lockgate.model.statuses import AttemptStatus, OwnerKind, QueueStatus, RequestKind, RequestStatus, RunStatus
from lockgate.view.cells import plain
from lockgate.view.lens import Lens
from lockgate.view.runs import run_line
from lockgate.view.shown import shown_run
from lockgate.view.situations import phrase, state
from tests.view.picture import NOW, ZONE, claim, current, run

LENS = Lens(NOW, 120, 40, zone=ZONE)
Q, S = QueueStatus, RunStatus
OTHER_BOOT = ClaimView(
    owner_kind=OwnerKind.HOST, owner_id="h", host_epoch=1, boot_id="another", heartbeat_mono=1, heartbeat_at=1
)
PENDING = {
    "status": S.WAITING,
    "queue": Q.PARKED,
    "request_id": "request-1",
    "request_kind": RequestKind.DECISION,
    "request_status": RequestStatus.PENDING,
    "current": current(AttemptStatus.WAITING),
}
SETTLED = {**PENDING, "queue": Q.QUEUED, "request_status": RequestStatus.SETTLED}
BROKEN = {"queue": Q.QUEUED, "current": current(AttemptStatus.INTERRUPTED)}


def held(silent_ms: int = 1000) -> dict[str, Any]:
    return {"claim": claim(silent_ms)}


TABLE: list[tuple[str, dict[str, Any], str, str]] = [
    ("started, not claimed", {"status": S.QUEUED, "queue": Q.QUEUED}, "○ queued", "queued"),
    ("claimed", {"status": S.QUEUED, "queue": Q.STARTING, **held()}, "◔ starting", "starting"),
    ("claimed, paused", {"queue": Q.STARTING, "paused": True, **held()}, "¦ pausing", "pausing"),
    ("lease expired", held(48_000), "∅ lost        w silent 48s", "lost"),
    ("another boot", {"claim": OTHER_BOOT}, "∅ lost        w host gone", "lost"),
    ("node runs", held(), "◐ running", "running"),
    ("will retry", {**BROKEN, "available_at": NOW.wall_ms + 900}, "↻ interrupted w again in 1s", "interrupted"),
    ("waits for a person", PENDING, "◆ waiting", "waiting for you"),
    ("for input", {**PENDING, "request_kind": RequestKind.CHECKPOINT}, "◇ waiting", "waiting for input"),
    ("for an agent", {**PENDING, "request_kind": RequestKind.AGENT}, "◇ waiting", "waiting for agent"),
    ("answered", SETTLED, "◈ answered", "answered"),
    (
        "deadline passed",
        {**PENDING, "deadline_at": NOW.wall_ms - 1, "default_choice": "stop", "default_label": "Stop"},
        "▲ overdue     w due: Stop",
        "overdue: “Stop” is due",
    ),
    ("pause asked", {"paused": True, **held()}, "¦ pausing", "pausing"),
    ("paused between nodes", {"paused": True, "queue": Q.PARKED}, "‖ paused", "paused"),
    ("paused while waiting", {**PENDING, "paused": True}, "‖ paused", "paused (decision waits)"),
    ("answered, then paused", {**SETTLED, "queue": Q.PARKED, "paused": True}, "‖ paused", "paused (answered)"),
    *(
        (code, {"queue": Q.PARKED, "error_code": code}, f"■ blocked     w {words}", f"blocked: {words}")
        for code, words in (
            ("worker_lost", "worker lost"),
            ("source_changed", "source changed"),
            ("graph_changed", "graph changed"),
            ("load_failed", "load failed"),
            ("effect_ambiguous", "did it happen?"),
        )
    ),
    ("effect resolved", BROKEN, "↻ interrupted", "interrupted"),
    ("completed", {"status": S.COMPLETED, "queue": Q.DONE, "finished_at": NOW.wall_ms}, "✓ completed", "completed"),
    ("failed", {"status": S.FAILED, "queue": Q.DONE, "finished_at": NOW.wall_ms}, "✗ failed", "failed"),
    ("timed out", {"status": S.TIMED_OUT, "queue": Q.DONE, "finished_at": NOW.wall_ms}, "× timed out", "timed out"),
    ("cancelled", {"status": S.CANCELLED, "queue": Q.DONE, "finished_at": NOW.wall_ms}, "– cancelled", "cancelled"),
]


def row(**facts: Any) -> Run:
    return run("w", "title", "3f9a", "10s", **facts)


@pytest.mark.parametrize(("facts", "shown", "words"), [entry[1:] for entry in TABLE], ids=[entry[0] for entry in TABLE])
def test_a_situation_is_told(facts: dict[str, Any], shown: str, words: str) -> None:
    made = row(**facts)
    assert plain(run_line(shown_run(made), 50, LENS))[2:].startswith(shown)
    assert phrase(made, LENS) == words


def test_only_what_needs_a_person_is_a_chip() -> None:
    chips = [name for name, facts, _, _ in TABLE if state(row(**facts), LENS).chip]
    assert chips == ["waits for a person"]


def test_only_what_is_wrong_now_is_bold_and_bad() -> None:
    loud = {name for name, facts, _, _ in TABLE if (found := state(row(**facts), LENS)).bold and found.role == "bad"}
    assert loud == {
        "lease expired",
        "another boot",
        "deadline passed",
        "worker_lost",
        "source_changed",
        "graph_changed",
        "load_failed",
        "effect_ambiguous",
    }


def test_a_finished_run_is_all_muted() -> None:
    done = run_line(shown_run(row(status=S.COMPLETED, queue=Q.DONE, finished_at=NOW.wall_ms)), 50, LENS)
    assert {span.role for span in done if span.text.strip()} == {"muted"}


def test_a_ghost_says_why_it_is_gone() -> None:
    import msgspec

    ghost = msgspec.structs.replace(shown_run(row()), gone="filtered out")
    assert plain(run_line(ghost, 50, LENS)) == "    gone: filtered out  w title"
    assert ghost.allowed == frozenset()
