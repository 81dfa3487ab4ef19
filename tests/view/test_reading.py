"""One read gives a screen everything it looks at, and costs no more than what changed."""

from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from lockgate.flow import transitions as t
from lockgate.model.records import HostView, Now, Run
from lockgate.model.statuses import Provenance, RequestKind
from lockgate.store import reads
from lockgate.store.openfile import Transaction
from lockgate.view.cells import plain
from lockgate.view.frames import frame, once_frame
from lockgate.view.glyphs import UNICODE
from lockgate.view.lens import Lens
from lockgate.view.reading import Reader, host_fact
from lockgate.view.snapshots import HostState, Interest, Snapshot, StoreFact
from tests.store.conftest import Bench, value

STORE = StoreFact("state.sqlite")


@pytest.fixture
def bench(tmp_path: Path):  # type: ignore[no-untyped-def]
    made = Bench(tmp_path / "state.sqlite")
    yield made
    made.close()


def look(bench: Bench, reader: Reader | None = None, **interest: object) -> Snapshot:
    chosen = reader or Reader(whole=True)
    asked = Interest(**interest)  # type: ignore[arg-type]
    return bench.read(lambda connection: chosen.read(connection, asked, STORE, bench.clock.now()))


def screen(bench: Bench, **interest: object) -> str:
    lens = Lens(bench.clock.now(), 120, 40, zone=UTC)
    return "\n".join(plain(line) for line in frame(look(bench, **interest), lens))


def test_an_empty_store(bench: Bench) -> None:
    shown = look(bench)
    assert shown.runs.rows == ()
    assert shown.counts.total == 0
    assert shown.detail is None
    assert shown.host.state is HostState.NONE
    assert "No runs yet." in screen(bench)


def test_a_decision_that_waits_is_on_every_pane(bench: Bench) -> None:
    run_id, request_id, digest = bench.at_decision(title="1.4.0")
    bench.clock.pass_ms(5_000)
    shown = look(bench)
    assert shown.counts.need_you == 1
    assert [each.request_id for each in shown.decisions] == [request_id]
    assert shown.decisions[0].digest == digest
    assert shown.decisions[0].default_label == "Stop here"
    assert [choice.consequence for choice in shown.decisions[0].choices] == [
        "the run ends: end",
        "work → send → ask, waits for input",
        "the run ends: end",
    ]
    assert shown.detail is not None
    assert shown.detail.run.run_id == run_id
    assert shown.detail.request == shown.decisions[0]
    assert [attempt.mark for attempt in shown.detail.timeline.attempts] == ["ok", "ok", "ok", "you"]
    text = screen(bench)
    assert "◆ waiting     sample 1.4.0" in text
    assert "◆ waiting for you" in text
    assert "in 55s" in text
    assert "◆ decision_requested   decide #1" in text


def test_an_overdue_decision_is_wrong_and_needs_nobody(bench: Bench) -> None:
    bench.at_decision(title="1.4.0")
    bench.clock.pass_ms(60_001)
    shown = look(bench)
    assert (shown.counts.need_you, shown.counts.overdue) == (0, 1)
    assert "▲ overdue     samp… due: Stop here" in screen(bench)


def test_a_decided_request_stays_readable_with_who_and_when(bench: Bench) -> None:
    _, request_id, digest = bench.at_decision()
    bench.answer(request_id, digest, "again", text="because it is not done")
    shown = look(bench, decided=True, request_id=request_id)
    assert shown.decisions == ()
    assert shown.request is not None
    assert shown.request.resolution is not None
    assert shown.request.resolution.provenance is Provenance.HUMAN
    assert shown.request.resolution.actor == "ada"
    assert shown.request.resolution.label == "Once more"
    assert shown.request.resolution.text == "because it is not done"
    assert [each.request_id for each in shown.decided] == [request_id]


def test_the_tabs_read_what_they_show(bench: Bench) -> None:
    run_id, request_id, digest = bench.at_decision()
    bench.answer(request_id, digest)
    bench.complete(run_id)
    steps = look(bench, tab="steps").detail
    assert steps is not None
    assert [step.index for step in steps.steps] == [1, 2, 3, 4, 5]
    assert steps.steps[3].attempt.outcome == "Go on"
    assert steps.step is not None
    assert steps.step.output is not None
    assert steps.step.output.lines == ('"done"',)
    decided = look(bench, tab="steps", attempt_id=steps.steps[3].attempt.attempt_id).detail
    assert decided is not None
    assert decided.step is not None
    assert decided.step.receipts == ("accepted, submission 1 of 1 by ada from test test",)
    info = look(bench, tab="info").detail
    assert info is not None
    assert info.info is not None
    assert ("id", run_id) in info.info.groups[0][1]
    output = look(bench, tab="output").detail
    assert output is not None
    assert output.output is not None
    assert output.output.lines == ()


def test_a_checkpoint_says_what_it_takes(bench: Bench) -> None:
    bench.at_checkpoint()
    request = look(bench).decisions[0]
    assert request.kind is RequestKind.CHECKPOINT
    assert '"required": [' in request.contract


def test_filters_and_orders_go_through_the_store(bench: Bench) -> None:
    first = bench.run_id(title="beta")
    bench.clock.pass_ms(1_000)
    second = bench.at_decision(title="alpha")[0]
    bench.clock.pass_ms(61_000)

    def listed(**interest: object) -> list[str]:
        return [row.run_id for row in look(bench, **interest).runs.rows]

    assert listed() == [second, first]
    assert listed(descending=False) == [first, second]
    assert listed(sort="title", descending=False) == [second, first]
    assert listed(filter="ALPHA") == [second]
    assert listed(filter="state:overdue") == [second]
    assert listed(filter="!state:overdue") == [first]
    assert listed(filter="state:completed") == []
    assert listed(filter="age:>62s") == [first] or listed(filter="age:>61s") == [first]
    assert look(bench, filter='"open').runs.rows == ()
    assert look(bench, filter="nothing").runs.everything == 2


def test_the_first_rows_come_before_the_list_of_all_ids(bench: Bench) -> None:
    run_id = bench.run_id()
    reader = Reader()
    first = look(bench, reader)
    assert first.runs.ids is None
    assert (first.runs.rows[0].run_id, first.runs.total) == (run_id, 1)
    assert reader.lacks_vector
    second = look(bench, reader)
    assert second.runs.ids is not None
    assert second.runs.ids.index_of(run_id) == 0
    assert not reader.lacks_vector


def test_new_runs_come_in_front_without_reading_all_ids_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader(whole=True)
    first = bench.run_id()
    before = look(bench, reader)
    monkeypatch.setattr(reads, "run_ids", None)
    monkeypatch.setattr(reads, "counts", None)
    second = bench.run_id()
    after = look(bench, reader)
    assert [row.run_id for row in after.runs.rows] == [second, first]
    assert after.counts.total == after.runs.everything == 2
    assert before.runs.ids is not None
    assert (len(before.runs.ids), before.runs.ids.id_at(0)) == (1, first)
    assert after.runs.ids is not None
    assert after.runs.ids.index_of(first) == 1


def test_a_page_beyond_the_end_is_the_last_page(bench: Bench) -> None:
    runs = [bench.run_id() for _ in range(7)]
    page = look(bench, first=100, count=3).runs
    assert (page.first, [row.run_id for row in page.rows]) == (4, list(reversed(runs))[4:])


def test_what_waits_is_read_again_only_when_it_can_have_changed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.at_decision()
    reader = Reader(whole=True)
    assert len(look(bench, reader).decisions) == 1
    monkeypatch.setattr(reads, "pending_requests", None)
    bench.run_id()
    assert len(look(bench, reader).decisions) == 1
    monkeypatch.undo()
    bench.at_decision()
    assert len(look(bench, reader).decisions) == 2


def test_a_filter_by_state_follows_the_time(bench: Bench) -> None:
    run_id = bench.at_decision()[0]
    reader = Reader(whole=True)
    assert look(bench, reader, filter="state:overdue").runs.rows == ()
    bench.clock.pass_ms(60_001)
    assert [row.run_id for row in look(bench, reader, filter="state:overdue").runs.rows] == [run_id]


def test_an_attempt_far_slower_than_usual_is_stuck(bench: Bench) -> None:
    for _ in range(10):
        claim = bench.claim(bench.run_id())
        bench.ready(claim)
        attempt = bench.begin(claim, "work")
        bench.clock.pass_ms(25_000)
        bench.finish(claim, attempt, 1)
    run_id = bench.run_id(title="slow")
    claim = bench.claim(run_id)
    bench.ready(claim)
    bench.begin(claim, "work")
    reader = Reader(whole=True)
    bench.clock.pass_ms(70_000)
    bench.write(lambda tx: hosts_renew(tx, run_id))
    assert look(bench, reader, filter="wf:sample").counts.stuck == 0
    bench.clock.pass_ms(6_000)
    shown = look(bench, reader, filter="state:stuck")
    assert shown.counts.stuck == 1
    assert [row.run_id for row in shown.runs.rows] == [run_id]
    assert shown.runs.rows[0].slower == pytest.approx(3.04)
    assert "! 3.0x slower" in screen(bench, filter="state:stuck")


def hosts_renew(tx: Transaction, run_id: str) -> None:
    tx.connection.execute(
        "UPDATE run_queue SET heartbeat_mono = :mono WHERE run_id = :run_id", {"mono": tx.now.mono_ms, "run_id": run_id}
    )


@pytest.mark.parametrize(
    ("facts", "exists", "state"),
    [
        ({}, True, HostState.OK),
        ({"heartbeat_mono": 1}, True, HostState.SILENT),
        ({}, False, HostState.NONE),
        ({"boot_id": "another"}, True, HostState.NONE),
        ({"host_id": None, "pid": None}, True, HostState.NONE),
    ],
)
def test_a_host_is_what_its_lease_and_its_process_say(facts: dict[str, Any], exists: bool, state: HostState) -> None:
    now = Now(wall_ms=100_000, boot_id="boot", mono_ms=100_000)
    row: dict[str, Any] = {
        "epoch": 1,
        "host_id": "h",
        "pid": 4242,
        "boot_id": "boot",
        "process_start": "1",
        "started_at": 1,
        "heartbeat_at": 99_000,
        "heartbeat_mono": 99_000,
        "capacity": 4,
    }
    assert host_fact(HostView(**{**row, **facts}), (), now, lambda pid: exists).state is state


def test_progress_says_how_far_and_how_long(bench: Bench) -> None:
    run_id = bench.run_id()
    claim = bench.claim(run_id)
    bench.ready(claim)
    attempt = bench.begin(claim, "work")
    for done in range(1, 8):
        bench.clock.pass_ms(1_000)
        data = value({"status": "running", "completed": done * 10, "total": 100, "unit": "rows"})
        wish = t.PublishUpdate(
            attempt_id=attempt,
            update_type="progress",
            update_key="rows",
            data_hash=data.hash,
            update_id=f"update-{done}",
        )
        assert bench.propose(claim, wish, values=(data,)).outcome == "accepted"
    info = look(bench, run_id=run_id, tab="info").detail
    assert info is not None
    assert info.info is not None
    shown = info.info.progress[0]
    assert (shown.label, shown.text, shown.done) == ("rows", "70 of 100 rows", 0.7)
    assert shown.estimate == "about 3s, high"


def test_a_run_that_is_not_there_has_no_detail(bench: Bench) -> None:
    bench.run_id()
    assert look(bench, run_id="nobody").detail is None


def test_once_prints_a_frame_of_the_file(bench: Bench) -> None:
    run_id, _, _ = bench.at_decision(title="1.4.0 \x1b[2J")
    bench.close()
    text = once_frame(bench.path, columns=80, rows=24, glyphs=UNICODE, zone=UTC, run_id=run_id)
    assert "\x1b" not in text
    assert "1 Runs 1" in text
    assert len(text.splitlines()) == 24
    narrow = once_frame(bench.path, columns=60, rows=15, glyphs=UNICODE, zone=UTC, run_id=run_id)
    assert "whole run" in narrow


def test_every_text_of_a_snapshot_is_clean(bench: Bench) -> None:
    run_id = bench.run_id(title="a\x1b]2;x\x07b\u202ec")
    shown = look(bench, run_id=run_id, tab="info")
    assert shown.runs.rows[0].run.title == "a␛b<U+202E>c"
    record: Run = bench.read(lambda connection: reads.runs_by_id(connection, [run_id]))[0]
    assert record.title != shown.runs.rows[0].run.title
