"""A presentation is shown whole or refused whole, with the place, the limit and what was seen."""

from typing import Any

import pytest

from lockgate import bullets, fields, paragraph, preformatted, section
from lockgate.flow import presentation as shown
from lockgate.flow.presentation import presentation
from lockgate.model.errors import PayloadError


def refused(*blocks: Any, summary: str = "s") -> PayloadError:
    with pytest.raises(PayloadError) as caught:
        presentation(summary, blocks)
    return caught.value


def test_every_kind_of_block_is_kept_as_it_is() -> None:
    blocks = (
        paragraph("a\tb"),
        section("Facts"),
        bullets(["one", "two"]),
        fields({"wheel": "x.whl", "size": 214}),
        preformatted("  a\n    b"),
    )
    made = presentation("Summary", blocks)
    assert made.blocks == blocks
    assert made.blocks[3] == shown.Fields((shown.Field("wheel", "x.whl"), shown.Field("size", "214")))


def test_blocks_may_be_given_as_plain_data() -> None:
    made = presentation("s", [{"kind": "bullets", "items": ["a"]}])
    assert made.blocks == (bullets(["a"]),)


def test_line_ends_become_lf_where_lines_may_end() -> None:
    assert presentation("s", [paragraph("a\r\nb\rc")]).blocks == (paragraph("a\nb\nc"),)


@pytest.mark.parametrize("text", ["a\x1b[2Jb", "a\x00", "a\x7f", "a\x0bb"])
def test_controls_are_refused_in_running_text(text: str) -> None:
    assert refused(paragraph(text)).path == "$.blocks[0].text"


@pytest.mark.parametrize(
    "block", [section("a\nb"), section("a\tb"), bullets(["a\nb"]), fields({"a\n": "b"}), fields({"a": "b\t"})]
)
def test_lines_hold_no_line_ends_and_tabs(block: Any) -> None:
    assert "no control characters" in refused(block).limit


@pytest.mark.parametrize("block", [paragraph(" "), section(""), bullets([" "]), fields({"a": ""})])
def test_blank_texts_are_refused(block: Any) -> None:
    assert refused(block).observed == "blank"


@pytest.mark.parametrize("block", [bullets([]), fields({}), bullets(["x"] * 257)])
def test_blocks_hold_1_to_256_items(block: Any) -> None:
    assert refused(block).limit == "1 to 256 items"


def test_256_items_and_blocks_are_taken_and_one_more_is_not() -> None:
    assert len(presentation("s", [bullets(["x"] * 256)]).blocks) == 1
    assert len(presentation("s", [paragraph("x")] * 256).blocks) == 256
    assert refused(*[paragraph("x")] * 257).observed == "257"


def test_lengths_count_utf16_units() -> None:
    assert presentation("s", [paragraph("\U0001f600" * 8000)])
    assert refused(paragraph("\U0001f600" * 8001)).observed == "16002"


def test_all_texts_together_are_bounded() -> None:
    assert presentation("s" * 100, [paragraph("x" * 15_975)] * 4)
    assert "in all" in refused(*[paragraph("x" * 15_976)] * 4, summary="s" * 100).limit


def test_a_lone_surrogate_is_refused() -> None:
    assert "surrogate" in refused(paragraph("a\ud800")).observed


@pytest.mark.parametrize("block", [{"kind": "paragraph", "text": "a", "more": 1}, {"text": "a"}, 3, {"kind": "x"}])
def test_unknown_blocks_and_fields_are_refused(block: Any) -> None:
    assert refused(block).path == "$.blocks[0]"
