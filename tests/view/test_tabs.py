"""Steps, output, info and help fit their panes and leave nothing out without saying so."""

import pytest

from lockgate.model.records import OutputChunk
from lockgate.model.statuses import EffectStatus, Recovery
from lockgate.view.attempts import shown_steps
from lockgate.view.cells import line_width, plain
from lockgate.view.glyphs import ASCII
from lockgate.view.help import help_lines
from lockgate.view.info import info_lines, progress_bar
from lockgate.view.infos import told
from lockgate.view.lens import Lens
from lockgate.view.output import output_line, output_rule, shown_output
from lockgate.view.snapshots import Progress, ShownEffect, ShownInfo, StepDetail
from lockgate.view.steps import step_line, step_lines, steps_head, steps_rule
from lockgate.view.values import settings_pairs, shown_value, value_facts, value_lines
from tests.view.picture import NOW, ZONE, detail_rows, snapshot

LENS = Lens(NOW, 200, 50, zone=ZONE)


SETTINGS = b'{"model":"sonnet","notes":{"words":400}}'


def chunk(number: int, content: bytes, stream: str = "stdout", gap: int = 0) -> OutputChunk:
    return OutputChunk(attempt_id="a", stream=stream, chunk=number, at=0, gap=gap, content=content)


def test_the_steps_are_the_picture() -> None:
    scene = snapshot().detail
    assert scene is not None
    steps = shown_steps(detail_rows(), scene.timeline)
    assert plain(steps_head(LENS)) == "  step  node       outcome     worked"
    assert [plain(step_line(step, LENS)) for step in steps] == [
        "     1  build   #1 ✗ failed       18s",
        "     2  build   #2 ✓ ok           41s",
        "     3  test    #2 ✓ ok           24s",
        "     4  notes   #1 ✓ ok            8s",
        "        approve #1 ◆ waiting    2m58s",
    ]
    assert plain(steps_rule(steps, 4, LENS)) == "4 steps · 1 attempt not finished"


def test_a_step_shows_what_it_read_and_wrote() -> None:
    scene = snapshot().detail
    assert scene is not None
    step = shown_steps(detail_rows(), scene.timeline)[3]
    output = shown_value("4be109aa77c2" + "0" * 52, b'{"title":"1.4.0","breaking":[]}')
    effect = ShownEffect("e", "tag", 1, "tag", Recovery.MANUAL, EffectStatus.AMBIGUOUS, 1, "", None)
    detail = StepDetail(
        step.attempt.attempt_id,
        output=output,
        receipts=("accepted by ada",),
        effects=(effect,),
        settings=settings_pairs(SETTINGS),
    )
    lines = [plain(line) for line in step_lines(step, detail, 86, LENS)]
    assert lines[0] == "notes #1   agent · visit 1 · 14:02:32 to 14:02:40 · worked 8.8s"
    assert "Output  JSON, 31 B, sha256 4be1 09aa 77c2" in lines
    assert '    "title": "1.4.0",' in lines
    assert "  ✓ accepted by ada" in lines
    assert "  tag              manual, ambiguous: did it happen?" in lines
    assert lines[-3:] == ["Settings  2 bound", "  model        sonnet", "  notes.words  400"]


def test_a_large_value_says_how_much_is_shown() -> None:
    value = shown_value("a" * 64, b"x" * 65_536, total=2_097_152)
    assert value_facts(value) == "first 64.0 KB of 2.0 MB, m for more"
    many = shown_value("a" * 64, b"\n".join(b"line" for _ in range(50)))
    assert plain(value_lines("Output", many, 60, LENS, rows=12)[-1]) == "  … 38 more lines · Enter opens"


def test_a_value_that_is_cut_inside_a_character_is_shown() -> None:
    assert shown_value("a" * 64, "한".encode()[:2], total=3).lines == ("\ufffd",)


def test_output_keeps_lines_and_streams_apart() -> None:
    shown = shown_output(
        "a",
        "test #1",
        [chunk(0, b"one\ntw"), chunk(1, b"oops\n", "stderr"), chunk(2, b"o\n\x1b[31mred\x1b[0m\n")],
    )
    assert shown.lines == (("stdout", "one"), ("stderr", "oops"), ("stdout", "two"), ("stdout", "␛red␛"))
    assert plain(output_line(shown.lines[1], 40, LENS)) == "  ! oops"


def test_what_was_left_out_of_the_output_is_counted() -> None:
    shown = shown_output("a", "test #1", [chunk(0, b"a\n"), chunk(1, b"z", gap=4096)])
    assert [text for _, text in shown.lines] == ["a", "", "[4.0 KB left out]", "z"]
    assert plain(output_rule(shown, LENS)) == "test #1 · 4.0 KB, 4.0 KB left out"


def test_a_line_of_megabytes_is_a_row() -> None:
    shown = shown_output("a", "t", [chunk(0, b"x" * 2_000_000)])
    assert line_width(output_line(shown.lines[0], 80, LENS, shift=1_000_000)) == 80


@pytest.mark.parametrize(
    ("data", "done", "words"),
    [
        ({"status": "running", "completed": 412, "total": 980, "unit": "tests"}, 412 / 980, "412 of 980 tests"),
        ({"status": "failed", "label": "copy"}, None, "copy, failed"),
        ({"completed": 3, "unit": "rows"}, None, "3 rows"),
        ({"anything": 1}, None, "anything 1"),
        ("text", None, "text"),
        (None, None, ""),
    ],
)
def test_an_update_is_told(data: object, done: float | None, words: str) -> None:
    assert told(data) == (done, words)


def test_info_has_groups_progress_and_values() -> None:
    info = ShownInfo(
        groups=(("Run", (("id", "r-1"), ("workflow", "release"))),),
        input=shown_value("a" * 64, b"{}"),
        progress=(Progress("tests", "test #1", "412 of 980 tests", 0.5, NOW.wall_ms),),
    )
    lines = info_lines(info, 69, LENS)
    assert {line_width(line) for line in lines} == {69}
    text = [plain(line) for line in lines]
    assert "    id           r-1" in text
    assert any("██████████──────────" in line and line.endswith("test #1 14:06:30") for line in text)
    assert line_width(progress_bar(3.0, LENS)) == 20


@pytest.mark.parametrize("cells", [40, 60, 80, 100])
def test_help_fits_and_has_every_word(cells: int) -> None:
    groups = (("In this pane", (("j k ↑ ↓", "move"),)), ("Everywhere", (("q", "quit"),)))
    for lens in (LENS, Lens(NOW, 200, 50, ASCII, ZONE)):
        lines = help_lines(groups, cells, lens)
        assert {line_width(line) for line in lines} == {cells}
        text = "\n".join(plain(line) for line in lines)
        for word in ("overdue", "interrupted", "waiting for you", "timed out", "move", "quit"):
            assert word in text
    assert text.isascii()
