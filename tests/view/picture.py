"""The scene of the look's pictures, as raw records: 28 runs, three decisions, one release that waits."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from lockgate.model.records import (
    Actor,
    AttemptRow,
    ClaimView,
    Current,
    EventView,
    IntervalRow,
    Now,
    RequestRow,
    RequestView,
    Run,
    RunDetail,
    RunRow,
)
from lockgate.model.statuses import (
    ActorKind,
    AttemptStatus,
    Clock,
    NodeKind,
    Outcome,
    OwnerKind,
    QueueStatus,
    RequestKind,
    RequestStatus,
    RunStatus,
)
from lockgate.view.attempts import shown_timeline
from lockgate.view.decisions import in_order
from lockgate.view.events import shown_event
from lockgate.view.shown import shown_request, shown_run
from lockgate.view.snapshots import (
    Counts,
    HostFact,
    HostState,
    RunsPage,
    ShownDetail,
    Snapshot,
    StoreFact,
    TracePage,
)

ZONE = timezone(timedelta(hours=1))
BOOT = "boot"


def clock(text: str) -> int:
    """Epoch ms of a time of day on 29 Nov 2026 in the pictures' zone."""
    moment = datetime.strptime(f"2026-11-29 {text}", "%Y-%m-%d %H:%M:%S.%f").replace(tzinfo=ZONE)
    return int(moment.astimezone(UTC).timestamp() * 1000)


NOW = Now(wall_ms=clock("14:06:30.500"), boot_id=BOOT, mono_ms=10_000_000)


def span(text: str) -> int:
    """`2m58s` or `1h02m` in ms."""
    total, number = 0, ""
    for character in text:
        if character.isdigit():
            number += character
            continue
        total += int(number) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[character]
        number = ""
    return total * 1000


def claim(silent_ms: int = 1000) -> ClaimView:
    return ClaimView(
        owner_kind=OwnerKind.HOST,
        owner_id="host",
        host_epoch=1,
        boot_id=BOOT,
        heartbeat_mono=NOW.mono_ms - silent_ms,
        heartbeat_at=NOW.wall_ms - silent_ms,
    )


def run(workflow: str, title: str | None, short: str, time: str = "0s", **facts: Any) -> Run:
    """A run that began `time` ago; facts are fields of the record."""
    start = NOW.wall_ms - span(time)
    fields: dict[str, Any] = {
        "run_id": f"20261129T130000Z-{workflow}-{short:0<8}",
        "workflow": workflow,
        "title": title,
        "status": RunStatus.RUNNING,
        "queue": QueueStatus.RUNNING,
        "paused": False,
        "error_code": None,
        "error_summary": None,
        "revision": 3,
        "started_by": "ada",
        "created_at": start,
        "updated_at": start,
        "started_at": start,
        "finished_at": None,
        "active_ms": 0,
        "waiting_ms": 0,
        "clock": Clock.IDLE,
        "clock_since": start,
        "steps": 0,
        "losses": 0,
        "available_at": 0,
        "claim": None,
        "current": None,
        "request_id": None,
        "request_kind": None,
        "request_status": None,
        "deadline_at": None,
        "default_choice": None,
        "default_label": None,
    }
    return Run(**{**fields, **facts})


def waiting(workflow: str, title: str | None, short: str, time: str, **facts: Any) -> Run:
    """A run that has been waiting for a person for `time`."""
    return run(
        workflow,
        title,
        short,
        time,
        **{
            "status": RunStatus.WAITING,
            "queue": QueueStatus.PARKED,
            "clock": Clock.PERSON,
            "request_id": f"request-{short}",
            "request_kind": RequestKind.DECISION,
            "request_status": RequestStatus.PENDING,
            "current": current(AttemptStatus.WAITING),
            **facts,
        },
    )


def current(status: AttemptStatus) -> Current:
    return Current(
        node="approve",
        attempt_id="attempt-6",
        number=1,
        kind=NodeKind.HUMAN_DECISION,
        status=status,
        started_at=NOW.wall_ms - 1000,
    )


def over(workflow: str, title: str | None, short: str, time: str, status: RunStatus = RunStatus.COMPLETED) -> Run:
    return run(
        workflow, title, short, time, status=status, queue=QueueStatus.DONE, finished_at=NOW.wall_ms, request_id=None
    )


def runs() -> list[Run]:
    """In the order of the pictures."""
    parked = {"queue": QueueStatus.PARKED}
    return [
        waiting("release", "1.4.0", "3f9a1c2b", "2m58s"),
        run("nightly-etl", "29 Nov", "77c1", "12s", claim=claim()),
        run("crawl", "docs mirror", "90ab", "20m11s", claim=claim()),
        waiting("migrate", "orders v12", "e2d0", "18m04s"),
        waiting(
            "access-review",
            "Q4",
            "41d7",
            "1h02m",
            deadline_at=NOW.wall_ms - 1,
            default_choice="keep",
            default_label="Keep",
        ),
        waiting("invoice", "October", "c3e8", "3s", queue=QueueStatus.QUEUED, request_status=RequestStatus.SETTLED),
        run("render", "intro", "5b02", "7m40s", claim=claim(48_000)),
        run("deploy", "web 312", "0aa9", "2h10m", error_code="source_changed", **parked),
        run("backfill", "2025 Q3", "d411", "3m09s", paused=True, claim=claim()),
        run("report", "weekly", "8e6f", "5h12m", paused=True, **parked),
        waiting("deploy-eu", "canary at 5 %", "9b1e", "31m47s"),
        run(
            "thumbs",
            "winter set",
            "a77d",
            "44s",
            queue=QueueStatus.QUEUED,
            available_at=NOW.wall_ms + 600,
            current=current(AttemptStatus.INTERRUPTED),
        ),
        over("migrate", "orders v11", "19c5", "2m51s", RunStatus.FAILED),
        over("crawl", "docs mirror", "7d20", "15m00s", RunStatus.TIMED_OUT),
        over("release", "1.3.9", "f00b", "9m13s", RunStatus.CANCELLED),
        over("nightly-etl", "28 Nov", "31aa", "3m58s"),
        over("invoice", "September", "66d2", "48s"),
        over("report", "weekly", "b90c", "1m20s"),
        over("release", "1.3.8", "2c4e", "22m06s"),
        over("nightly-etl", "27 Nov", "e811", "4m02s"),
        over("backfill", "2025 Q2", "0d3f", "1h44m"),
        over("thumbs", "spring set", "57be", "2m37s"),
        over("render", "intro 4k", "c1a9", "31s", RunStatus.FAILED),
        over("nightly-etl", "26 Nov", "84f6", "3m55s"),
        over("access-review", "Q3", "d70e", "2d03h"),
        over("crawl", "docs mirror", "9e15", "6m19s"),
        over("invoice", "August", "4ab3", "51s"),
        over("release", "1.3.7", "70cd", "18m40s"),
    ]


PRESENTATION = {
    "summary": "lockgate 1.4.0, built by build #2 from commit 9d31c07 on main.",
    "blocks": [
        {
            "kind": "bullets",
            "items": [
                "31 commits since 1.3.9, 2 of them change the schema",
                "980 tests passed on the second try; the first lost its worker",
                "wheel and sdist are built, signed and not yet uploaded",
            ],
        },
        {"kind": "section", "title": "Facts"},
        {
            "kind": "fields",
            "items": [
                {"label": "wheel", "value": "lockgate-1.4.0-py3-none-any.whl, 214 KB"},
                {"label": "sha256", "value": "c9a2 77f0 1b3e 5d88"},
                {"label": "schema", "value": "12 → 13, migrates by itself"},
            ],
        },
        {"kind": "section", "title": "Notes as they will be published"},
        {
            "kind": "preformatted",
            "text": "## 1.4.0\n+ * Decisions can be answered from the terminal\n"
            "+ * A run that loses its worker starts again by itself\n- * Timeouts count wall time\n"
            "+ * Timeouts count working time only\n\nFull list: CHANGES.md",
        },
    ],
}
CHOICES = (
    {"key": "publish", "label": "Publish", "intent": "approve", "input": None},
    {
        "key": "revise",
        "label": "Change the notes",
        "intent": "neutral",
        "input": {"name": "text", "prompt": "What should change?", "min_length": 10, "max_length": 2000},
    },
    {"key": "stop", "label": "Stop here", "intent": "reject", "input": None},
)


def request(workflow: str, short: str, title: str, left: str | None, default: str | None, **facts: Any) -> RequestView:
    """A pending decision with `left` of an hour left; the default is one of the choices' labels."""
    choices = CHOICES if default in (None, "Stop here") else ({**CHOICES[2], "label": default},)
    fields: dict[str, Any] = {
        "request_id": f"request-{short}",
        "digest": "7c219e0f44ab" + "0" * 52,
        "kind": RequestKind.DECISION,
        "status": RequestStatus.PENDING,
        "run_id": f"20261129T130000Z-{workflow}-{short:0<8}",
        "workflow": workflow,
        "run_title": None,
        "run_status": RunStatus.WAITING,
        "run_at": NOW.wall_ms - 60_000,
        "paused": False,
        "node": "approve",
        "attempt_id": "attempt-6",
        "attempt_number": 1,
        "audience": "maintainers",
        "title": title,
        "presentation": PRESENTATION,
        "choices": choices,
        "consequences": {
            "publish": "publish → announce → done",
            "revise": "notes → approve, asks again",
            "stop": "the run ends: stopped",
        },
        "contract": None,
        "started_by": "ada",
        "policy": None,
        "deadline_at": NOW.wall_ms + span(left) if left else None,
        "default": "stop" if left else None,
        "created_at": NOW.wall_ms - 60_000,
        "resolution": None,
    }
    return RequestView(**{**fields, **facts})


def requests() -> list[RequestView]:
    return [
        request("release", "3f9a1c2b", "Publish 1.4.0 to PyPI?", "5m48s", "Stop here"),
        request("deploy-eu", "9b1e", "Go from 5 % to 50 %?", "41m12s", "Roll back"),
        request("migrate", "e2d0", "Drop orders.legacy_id?", None, None),
    ]


RUN_ID = "20261129T130000Z-release-3f9a1c2b"


def attempt(number: int, node: str, nth: int, start: str, end: str | None, **facts: Any) -> AttemptRow:
    fields: dict[str, Any] = {
        "run_id": RUN_ID,
        "ordinal": number,
        "attempt_id": f"attempt-{number}",
        "workflow": "release",
        "node_id": node,
        "kind": NodeKind.SHELL,
        "attempt_number": nth,
        "visit": 1,
        "status": AttemptStatus.COMPLETED,
        "timeout_ms": None,
        "active_ms": 0,
        "step_index": number - 1,
        "outcome": Outcome.OK,
        "switch_value": None,
        "prompt_hash": None,
        "output_hash": None,
        "error_hash": None,
        "error_summary": None,
        "started_at": clock(start),
        "finished_at": clock(end) if end else None,
    }
    return AttemptRow(**{**fields, **facts})


def interval(number: int, start: str, end: str | None) -> IntervalRow:
    return IntervalRow(
        run_id=RUN_ID,
        attempt_id=f"attempt-{number}",
        interval_number=1,
        boot_id=BOOT,
        mono_ms=0,
        started_at=clock(start),
        ended_at=clock(end) if end else None,
        elapsed_ms=clock(end) - clock(start) if end else 0,
    )


def detail_rows() -> RunDetail:
    """The release of the pictures: a failed build, a lost worker, a decision with a pause in it."""
    attempts = (
        attempt(1, "build", 1, "14:00:02.114", "14:00:20.390", status=AttemptStatus.FAILED, outcome=Outcome.FAILED),
        attempt(2, "build", 2, "14:00:22.004", "14:01:03.702"),
        attempt(3, "test", 1, "14:01:04.113", "14:02:05.377", status=AttemptStatus.CANCELLED, step_index=None),
        attempt(4, "test", 2, "14:02:06.201", "14:02:31.118", step_index=2),
        attempt(5, "notes", 1, "14:02:32.020", "14:02:40.844", kind=NodeKind.AGENT, step_index=3),
        attempt(
            6,
            "approve",
            1,
            "14:02:42.007",
            None,
            status=AttemptStatus.WAITING,
            kind=NodeKind.HUMAN_DECISION,
            outcome=None,
            step_index=None,
        ),
    )
    intervals = (
        interval(1, "14:00:02.114", "14:00:20.390"),
        interval(2, "14:00:22.004", "14:01:03.702"),
        interval(3, "14:01:04.113", "14:01:50.002"),
        interval(4, "14:02:06.201", "14:02:31.118"),
        interval(5, "14:02:32.020", "14:02:40.844"),
    )
    asked = RequestRow(
        request_id="request-3f9a1c2b",
        run_id=RUN_ID,
        attempt_id="attempt-6",
        node_id="approve",
        kind=RequestKind.DECISION,
        status=RequestStatus.PENDING,
        digest="7c219e0f44ab",
        contract_hash="",
        policy=None,
        deadline_at=None,
        accepted_submission_id=None,
        output_hash=None,
        created_at=clock("14:02:42.007"),
        settled_at=None,
        consumed_at=None,
    )
    row = RunRow(
        run_id=RUN_ID,
        workflow="release",
        definition_digest="",
        workflow_ref="",
        project_dir="",
        title="1.4.0",
        status=RunStatus.WAITING,
        paused=False,
        revision=20,
        input_hash="",
        output_hash=None,
        error_hash=None,
        error_code=None,
        error_summary=None,
        parent_run_id=None,
        parent_revision=None,
        root_run_id=RUN_ID,
        restart_number=0,
        started_by="ada",
        started_by_uid=0,
        active_ms=span("2m19s"),
        waiting_ms=clock("14:04:12.320") - clock("14:02:42.007"),
        clock=Clock.PERSON,
        clock_since=clock("14:05:02.655"),
        steps=4,
        chain_head="",
        last_at=0,
        created_at=clock("14:00:00.011"),
        started_at=clock("14:00:02.114"),
        finished_at=None,
    )
    return RunDetail(
        run=runs()[0],
        row=row,
        claim=None,
        worker=None,
        sources={},
        attempts=attempts,
        intervals=intervals,
        requests=(asked,),
        resolutions=(),
        effects=(),
        updates=(),
        children=(),
    )


def event(seq: int, at: str, type: str, node: str | None = None, number: int = 0, **payload: Any) -> EventView:
    return EventView(
        event_seq=seq,
        run_id=RUN_ID,
        seq=seq,
        type=type,
        at=clock(at),
        actor=Actor(kind=ActorKind.USER, id="bo"),
        attempt_id=f"attempt-{number}" if number else None,
        node=node,
        payload=payload,
        hash="",
    )


def events() -> list[EventView]:
    clocks = {"to": "active", "elapsed_ms": 41_600}
    return [
        event(1, "14:00:00.011", "run_queued", birth={"started_by": "ada"}),
        event(2, "14:00:02.114", "node_started", "build", 1, kind="shell", attempt_number=1, visit=1),
        event(3, "14:00:20.390", "node_failed", "build", 1, outcome="failed", error_summary="exit 1: missing wheel"),
        event(4, "14:00:22.004", "node_started", "build", 2, kind="shell", attempt_number=2, visit=2),
        event(
            5,
            "14:01:03.611",
            "effect_reserved",
            "build",
            2,
            effect={"recovery": "idempotent", "effect_type": "artifact"},
        ),
        event(6, "14:01:03.702", "node_finished", "build", 2, outcome="ok", clocks=clocks),
        event(7, "14:02:05.377", "run_interrupted", "test", 3, cause="exit", signal=9, attempt_id="attempt-3"),
        event(
            8,
            "14:02:42.007",
            "decision_requested",
            "approve",
            6,
            request={"digest": "7c219e0f44ab" + "0" * 52, "kind": "decision"},
            decision={"title": "Publish?"},
        ),
        event(9, "14:04:12.320", "run_paused"),
        event(10, "14:05:02.655", "run_unpaused"),
    ]


def snapshot() -> Snapshot:
    """What the pictures show, made from the records above."""
    rows = tuple(shown_run(each, slower=3.4 if each.workflow == "crawl" else None) for each in runs())
    marks = [each for each in events() if each.type in ("run_paused", "run_unpaused", "run_interrupted")]
    numbers = {"attempt-1": 1, "attempt-2": 2, "attempt-3": 1, "attempt-4": 2, "attempt-5": 1, "attempt-6": 1}
    shown = tuple(shown_event(each, numbers) for each in events())
    pending = tuple(in_order([shown_request(each) for each in requests()]))
    return Snapshot(
        at=NOW,
        store=StoreFact(file="state.sqlite", as_of=NOW.wall_ms),
        event_seq=20,
        host=HostFact(HostState.OK, pid=4242, busy=3, capacity=4, heartbeat_at=NOW.wall_ms),
        counts=Counts(total=128, need_you=3, running=2, lost=1, blocked=1, overdue=1, stuck=1),
        runs=RunsPage(rows=rows, total=128, everything=128),
        decisions=pending,
        detail=ShownDetail(
            run=rows[0],
            timeline=shown_timeline(detail_rows(), marks),
            request=pending[0],
            trace=TracePage(shown, 10),
        ),
    )
