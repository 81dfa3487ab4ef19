"""Each event is told in a few words, and one that nobody knows is shown by its type."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from lockgate.model.events import PAYLOADS
from lockgate.store import reads
from lockgate.view.cells import line_width, plain
from lockgate.view.events import _MARKS, _WORDERS, detail, shown_event
from lockgate.view.lens import Lens
from lockgate.view.trace import payload_lines, trace_line, trace_rule
from tests.store.conftest import Bench
from tests.view.picture import NOW, ZONE, event, events

LENS = Lens(NOW, 120, 40, zone=ZONE)


def test_nothing_tells_of_events_that_do_not_exist() -> None:
    assert set(_WORDERS) <= PAYLOADS.keys()
    assert set(_MARKS) <= PAYLOADS.keys()


def test_a_row_of_the_picture() -> None:
    failed = shown_event(events()[2], {"attempt-1": 1})
    assert plain(trace_line(failed, 69, LENS)) == (
        "  14:00:20.390   3  ✗ node_failed          build #1   exit 1: missi…"
    )
    assert plain(trace_line(failed, 45, Lens(NOW, 80, 24, zone=ZONE))) == "  14:00:20 ✗ node_failed          build #1"
    wider = plain(trace_line(failed, 65, Lens(NOW, 100, 24, zone=ZONE)))
    assert wider == "  14:00:20 ✗ node_failed          build #1   exit 1: missing wh…"
    inside = replace(failed, subject="review/typos/draft #12")
    assert (
        plain(trace_line(inside, 46, Lens(NOW, 80, 24, zone=ZONE))) == "  14:00:20 ✗ node_failed          …/draft #12"
    )
    assert plain(trace_rule(1, LENS)) == "run · 1 event"


def test_the_number_column_grows_and_the_row_does_not() -> None:
    shown = shown_event(events()[2])
    assert line_width(trace_line(shown, 69, LENS, seq_cells=7)) == 69


def test_a_real_run_is_told_from_start_to_end(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "state.sqlite")
    try:
        run_id, request_id, digest = bench.at_decision()
        bench.answer(request_id, digest, "go")
        bench.complete(run_id)
        told = {each.type: detail(each) for each in bench.read(lambda connection: reads.events(connection, run_id))}
    finally:
        bench.close()
    assert told["run_queued"] == "by bo"
    assert told["run_claimed"] == "host 1"
    assert told["node_started"] == "compute"
    assert told["effect_applied"] == "manual send"
    assert told["checkpoint_requested"].startswith("checkpoint ")
    assert told["interaction_accepted"] == "by bo"
    assert told["decision_accepted"] == "go, by ada"
    assert told["node_finished"].startswith("ok")


@pytest.mark.parametrize(("timeout_ms", "words"), [(90_000, "at most 1m30s"), (None, "no limit")])
def test_a_computed_limit_may_be_none(timeout_ms: int | None, words: str) -> None:
    assert detail(event(1, "14:00:00.000", "node_timeout_set", timeout_ms=timeout_ms)) == words


@pytest.mark.parametrize("type", sorted(PAYLOADS))
def test_a_payload_that_is_not_what_it_should_be_breaks_nothing(type: str) -> None:
    for payload in ({}, {"effect": 3}, {"clocks": None, "outcome": None}, {"birth": []}, {"request": None}):
        shown = shown_event(event(1, "14:00:00.000", type, **payload))
        assert plain(trace_line(shown, 69, LENS)).strip()


def test_an_unknown_type_is_shown_by_itself() -> None:
    shown = shown_event(event(1, "14:00:00.000", "settings_guessed", node=None, a="\x1b[2J"))
    assert "settings_guessed" in plain(trace_line(shown, 69, LENS))
    text = "\n".join(plain(line) for line in payload_lines(shown, 69, LENS))
    assert "\x1b" not in text
    assert '"a"' in text


def test_a_loss_says_how() -> None:
    lost = event(7, "14:02:05.377", "run_interrupted", cause="exit", signal=9, counted=True, losses=2)
    assert detail(lost) == "exit, signal 9, loss 2"
    assert detail(event(7, "14:02:05.377", "run_interrupted", cause="signal", signal=9)) == "signal 9"
    assert detail(event(7, "14:02:05.377", "run_interrupted", cause="host_lost")) == "host lost"
