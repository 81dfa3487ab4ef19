"""The card says what is asked, what each choice leads to, and, once decided, who did what and when."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.model.records import RequestView, ResolutionRow
from lockgate.model.statuses import ActorKind, Provenance, RequestKind, RequestStatus, RunStatus
from lockgate.view.blocks import block_lines, widest
from lockgate.view.card import (
    Pick,
    boxed,
    button_line,
    card_top,
    card_width,
    choice_lines,
    closed_line,
    draft_head,
    picked_lines,
    prompt_lines,
    question_lines,
    read_rule,
    record_band,
    small_card_lines,
    submit_lines,
)
from lockgate.view.cells import Line, line_width, plain
from lockgate.view.decisions import decision_lines
from lockgate.view.glyphs import ASCII
from lockgate.view.lens import Lens
from lockgate.view.shown import shown_request
from lockgate.view.snapshots import Block, ShownInput, ShownRequest
from tests.view.picture import NOW, ZONE, clock, request, requests

LENS = Lens(NOW, 120, 40, zone=ZONE)
NARROW = Lens(NOW, 80, 24, zone=ZONE)
CELLS = 92


def asked(**facts: Any) -> ShownRequest:
    made: RequestView = request("release", "3f9a1c2b", "Publish 1.4.0 to PyPI?", "5m48s", "Stop here", **facts)
    return shown_request(made)


def labelled(key: str, label: str) -> tuple[Any, ...]:
    """The choices with another label at one of them."""
    return tuple({**choice, "label": label} if choice["key"] == key else choice for choice in requests()[0].choices)


def resolution(**facts: Any) -> ResolutionRow:
    fields: dict[str, Any] = {
        "decision_id": "d",
        "run_id": "r",
        "provenance": Provenance.HUMAN,
        "choice": "publish",
        "response_hash": None,
        "submission_id": None,
        "actor_kind": ActorKind.HUMAN,
        "actor_id": "bo",
        "channel": "ws1:/dev/pts/4",
        "request_digest": "",
        "resolved_at": clock("14:03:11.000"),
    }
    return ResolutionRow(**{**fields, **facts})


def decided(**facts: Any) -> ShownRequest:
    return asked(resolution=resolution(**facts), status=RequestStatus.SETTLED)


def texts(lines: list[Line]) -> list[str]:
    return [plain(line) for line in lines]


def test_the_head_says_what_who_and_until_when() -> None:
    assert plain(card_top(asked(), card_width(LENS), LENS)).endswith("─ fingerprint 7c21 9e0f 44ab ─┐")
    assert texts(question_lines(asked(), CELLS, LENS, among=True)) == [
        "  Publish 1.4.0 to PyPI?                                           in 5m48s then Stop here",
        "  release 3f9a1c2b · approve #1 · started by ada              for maintainers, you are one",
    ]
    assert not boxed(NARROW)
    assert plain(card_top(asked(), 80, NARROW)).endswith("─ 7c21 9e0f 44ab ─")


def test_a_long_question_is_never_cut() -> None:
    title = "Really " * 40
    shown = asked()
    lines = question_lines(shown_request(request("w", "3f9a", title, None, None)), CELLS, LENS)
    assert " ".join("".join(texts(lines)[:-1]).replace("no limit", "").split()) == title.strip()
    assert shown.title


def test_a_long_default_or_audience_hides_neither_the_question_nor_the_run() -> None:
    made = requests()[0]
    label = "Stop here " * 12
    choices = tuple(
        {**choice, "label": label if choice["key"] == "stop" else choice["label"]} for choice in made.choices
    )
    for cells, lens in ((CELLS, LENS), (80, NARROW), (60, Lens(NOW, 60, 15, zone=ZONE))):
        rows = texts(question_lines(asked(choices=choices, audience="a" * 100), cells, lens))
        assert rows[0].startswith("  Publish 1.4.0 to PyPI?")
        assert "in 5m48s then Stop here" in rows[0]
        assert rows[-2].startswith("  release 3f9a1c2b · approve #1 · ")
        assert rows[-1].startswith("  for aaaa")


def test_what_is_picked_is_told_whole_where_its_row_is_cut() -> None:
    made = requests()[0]
    label = f"{'Publish it ' * 18}now"
    choices = tuple(
        {**choice, "label": label if choice["key"] == "publish" else choice["label"]} for choice in made.choices
    )
    shown = asked(choices=choices)
    publish, revise = shown.choice("publish"), shown.choice("revise")
    assert publish is not None
    assert revise is not None
    told = " ".join(" ".join(texts(picked_lines(publish, shown, CELLS, LENS))).split())
    assert told == f"{label} then publish → announce → done"
    assert picked_lines(revise, shown, CELLS, LENS) == []
    assert " ".join(texts(picked_lines(revise, shown, 50, NARROW))).split()[-3:] == ["approve,", "asks", "again"]


def test_a_long_default_leaves_the_queue_its_run() -> None:
    made = requests()[0]
    label = "Stop here " * 12
    choices = tuple(
        {**choice, "label": label if choice["key"] == "stop" else choice["label"]} for choice in made.choices
    )
    for cells, lens in ((50, LENS), (72, Lens(NOW, 200, 50, zone=ZONE))):
        second = texts(decision_lines(asked(choices=choices), cells, lens))[1]
        assert second.startswith("    release 3f9a")
        assert "  then Stop here" in second


def test_the_blocks_are_the_picture() -> None:
    assert texts(block_lines(asked().blocks, 88, LENS)) == [
        "lockgate 1.4.0, built by build #2 from commit 9d31c07 on main.",
        "· 31 commits since 1.3.9, 2 of them change the schema",
        "· 980 tests passed on the second try; the first lost its worker",
        "· wheel and sdist are built, signed and not yet uploaded",
        "",
        "Facts",
        "wheel     lockgate-1.4.0-py3-none-any.whl, 214 KB",
        "sha256    c9a2 77f0 1b3e 5d88",
        "schema    12 → 13, migrates by itself",
        "",
        "Notes as they will be published",
        "│   ## 1.4.0",
        "│ + * Decisions can be answered from the terminal",
        "│ + * A run that loses its worker starts again by itself",
        "│ - * Timeouts count wall time",
        "│ + * Timeouts count working time only",
        "│",
        "│   Full list: CHANGES.md",
    ]


def test_differences_have_their_own_colours() -> None:
    lines = block_lines((Block("preformatted", "+ in\n- out\n same"),), 40, LENS)
    assert [line[-1].role for line in lines] == ["add", "rem", "text"]


def test_a_wide_preformatted_line_is_clipped_and_scrolls_sideways() -> None:
    blocks = (Block("preformatted", "+" + "abcdefgh" * 20),)
    assert plain(block_lines(blocks, 20, LENS)[0]).endswith("…")
    assert plain(block_lines(blocks, 20, LENS, shift=159)[0]) == "│ +h"
    assert widest(blocks) == 161


def test_long_labels_are_never_cut() -> None:
    lines = texts(block_lines((Block("fields", fields=(("a very long label", "value"),)),), 40, LENS))
    assert lines == ["a very long label", "          value"]


def test_choices_say_what_they_lead_to() -> None:
    assert texts(choice_lines(asked(), CELLS, LENS, Pick("revise"))) == [
        "  1 ○ Publish            then publish → announce → done",
        "▌ 2 ● Change the notes   then notes → approve, asks again",
        "  3 ○ Stop here          then the run ends: stopped                            the default",
    ]
    ascii = Lens(NOW, 120, 40, ASCII, ZONE)
    assert all(line.isascii() for line in texts(choice_lines(asked(), CELLS, ascii, Pick("revise"))))


@pytest.mark.parametrize(
    ("length", "words", "role"),
    [(96, "96 of 10 to 2000", "text"), (3, "3 of 10 at least", "bad"), (2001, "2001 of 2000 at most", "bad")],
)
def test_the_length_of_the_text_is_told(length: int, words: str, role: str) -> None:
    text = ShownInput("text", "What should change?", 10, 2000)
    line = prompt_lines(text, length, CELLS, LENS)[0]
    assert plain(line).endswith(words)
    assert next(span.role for span in line if span.text == str(length)) == role


def test_the_button_says_what_keeps_it_from_recording() -> None:
    armed = button_line("Change the notes", "", CELLS, LENS)
    assert armed[1].text == " ctrl+s  Record “Change the notes” "
    assert armed[1].role == "button"
    assert plain(armed).endswith("esc close, decide nothing")
    waiting = button_line("Change the notes", "read to the end first (23 lines)", 80, NARROW)
    assert waiting[1].role == "field"
    assert "read to the end first (23 lines)" in plain(waiting)
    assert plain(waiting).endswith("esc close")
    assert plain(button_line(None, "", CELLS, LENS)).startswith("  pick a choice first")


def test_the_lines_read_are_told() -> None:
    assert plain(read_rule(1, 18, 41, CELLS, LENS, seen=False)).endswith("─ lines 1-18 of 41 ▾ ──")
    assert plain(read_rule(24, 41, 41, CELLS, LENS, seen=True)).endswith("─ all 41 lines seen ✓ ──")


def test_a_decision_made_elsewhere_is_a_record() -> None:
    shown = decided()
    assert texts(record_band(shown, CELLS, LENS, mine=False, draft=True, tried_at=clock("14:03:13.000"))) == [
        "▌ Publish, by bo at 14:03:11, 2 s before you",
        "▌ Recorded for fingerprint 7c21 9e0f 44ab, from ws1 pts/4. Next: publish.",
        "▌ Nothing of yours was recorded. Your draft is kept below.",
    ]
    assert texts(choice_lines(shown, CELLS, LENS, Pick("revise"))) == [
        "  1 ● Publish            then publish → announce → done                       bo, 14:03:11",
        "  2 ○ Change the notes   then notes → approve, asks again          your pick, not recorded",
        "  3 ○ Stop here          then the run ends: stopped",
    ]
    assert texts(question_lines(shown, CELLS, LENS))[0].endswith("closed 14:03:11")
    assert "◈ Decided" in plain(card_top(shown, 94, LENS, decided=True))


def test_the_deadline_and_a_cancel_are_records_too() -> None:
    taken = decided(provenance=Provenance.TIMEOUT_POLICY, choice="stop", actor_kind=ActorKind.POLICY)
    assert (
        texts(record_band(taken, CELLS, LENS, mine=False, draft=False))[0] == "▌ Stop here, by its deadline at 14:03:11"
    )
    assert texts(record_band(taken, CELLS, LENS, mine=False, draft=False))[1].endswith(". The run ends: stopped.")
    gone = decided(provenance=Provenance.EXPLICIT_CANCEL, choice=None)
    band = texts(record_band(gone, CELLS, LENS, mine=False, draft=False))
    assert band[0] == "▌ Withdrawn at 14:03:11: the run was cancelled"
    mine = shown_request(
        request("r", "3f9a", "?", None, None, resolution=resolution(), status=RequestStatus.SETTLED), text="yes"
    )
    assert texts(record_band(mine, CELLS, LENS, mine=True, draft=False))[::2] == [
        "▌ Publish, by you at 14:03:11",
        "▌ Your text was recorded with it.",
    ]


def test_a_closed_run_asks_nothing_any_more() -> None:
    shown = asked(run_status=RunStatus.CANCELLED)
    assert not shown.is_pending
    assert texts(question_lines(shown, CELLS, LENS))[0].endswith("closed")


def test_what_is_no_decision_names_its_command() -> None:
    shown = asked(kind=RequestKind.CHECKPOINT, contract={"type": "object"}, choices=())
    text = "\n".join(texts(submit_lines(shown, CELLS, LENS)))
    assert "lockgate submit request-3f9a1c2b --output @answer.json" in text
    assert '"type": "object"' in text


def test_a_small_terminal_sends_to_the_command() -> None:
    text = " ".join(" ".join(texts(small_card_lines(asked(), Lens(NOW, 40, 10, zone=ZONE)))).split())
    assert "lockgate answer 3f9a1c2b CHOICE" in text
    assert "in 5m48s" in text


hostile = st.sampled_from(
    ["[/red] [@click=app.quit]x[/]", "\x1b]2;x\x07 \u202e", "한국어" * 9, "x" * 500, "👩‍🚀 1️⃣", "?"]
)


@settings(deadline=None, max_examples=60)
@given(hostile, hostile, st.integers(44, 140), st.booleans(), st.booleans())
def test_every_row_of_the_card_has_its_width(title: str, label: str, columns: int, over: bool, ascii: bool) -> None:
    lens = Lens(NOW, columns, 40, ASCII, ZONE) if ascii else Lens(NOW, columns, 40, zone=ZONE)
    cells = card_width(lens) - (2 if boxed(lens) else 0)
    made = requests()[0]
    choices = tuple({**choice, "label": label} for choice in made.choices)
    shown = asked(
        choices=choices,
        audience=title,
        started_by=title,
        resolution=resolution(actor_id=title, channel=title) if over else None,
    )
    lines = [
        *question_lines(shown, cells, lens, among=True),
        *choice_lines(shown, cells, lens, Pick("revise")),
        *picked_lines(shown.choices[0], shown, cells, lens),
        *prompt_lines(ShownInput("t", shown.choices[0].label or "?", 1, 20), 3, cells, lens),
        read_rule(1, 2, 3, cells, lens, seen=over),
        button_line(shown.choices[0].label, "armed in 0.3 s" if over else "", cells, lens),
        closed_line(cells, lens, draft=over),
        draft_head(3, cells, lens),
        *record_band(shown, cells, lens, mine=over, draft=True, tried_at=NOW.wall_ms),
        *submit_lines(shown, cells, lens),
    ]
    assert {line_width(line) for line in lines} == {cells}
    assert line_width(card_top(shown, card_width(lens), lens, decided=over)) == card_width(lens)
    blocks = (Block("paragraph", shown.title), Block("bullets", items=(title,)), Block("section", shown.title))
    assert all(line_width(line) <= cells - 4 for line in block_lines(shown.blocks + blocks[:1], cells - 4, lens))
