"""Lines are measured in cells, and nothing that is joined, cut or filled up is a cell off."""

from hypothesis import given
from hypothesis import strategies as st

from lockgate.model.text import clean
from lockgate.view.cells import (
    Line,
    Span,
    beside,
    clipped,
    fitted,
    joined,
    left,
    line_width,
    node_name,
    plain,
    right,
    spread,
    wrapped,
)

texts = st.text(st.sampled_from("ab 한👩‍🚀é\u0301…") | st.characters(), max_size=20).map(clean)
lines = st.lists(texts.map(Span), max_size=5).map(lambda spans: joined(*spans))


@given(lines, st.integers(0, 40))
def test_a_line_is_fitted_to_the_cell(line: Line, cells: int) -> None:
    assert line_width(fitted(line, cells)) == cells
    assert line_width(clipped(line, cells)) <= cells


@given(texts, st.sampled_from(["", "/", "."]), texts, st.integers(0, 12))
def test_a_node_name_fills_its_cells(mount: str, mark: str, node: str, cells: int) -> None:
    assert line_width((Span(node_name(f"{mount}{mark}{node}", cells)),)) == cells


def test_of_a_node_inside_an_include_the_own_end_is_kept() -> None:
    assert [node_name("review/draft", cells) for cells in (13, 12, 8, 7, 6, 4)] == [
        "review/draft ",
        "review/draft",
        "…/draft ",
        "…/draft",
        "draft ",
        "dra…",
    ]
    assert node_name("review.done", 7) == "….done "
    assert node_name("publishing", 7) == "publis…"


@given(lines, lines, st.integers(0, 40))
def test_two_ends_share_a_row(start: Line, end: Line, cells: int) -> None:
    assert line_width(spread(start, end, cells)) == cells


@given(texts, st.integers(0, 30))
def test_a_cell_is_filled_up_at_either_side(text: str, cells: int) -> None:
    assert line_width((Span(left(text, cells)),)) == cells
    assert line_width((Span(right(text, cells)),)) == cells


@given(texts, st.integers(1, 30))
def test_wrapped_text_loses_nothing_but_blanks(text: str, cells: int) -> None:
    rows = wrapped(text, cells)
    assert "".join(rows).replace(" ", "") == text.replace("\n", "").replace(" ", "")
    assert all(line_width((Span(row),)) <= max(cells, 2) for row in rows)


def test_words_stay_whole_where_they_can() -> None:
    assert wrapped("the quick brown fox", 10) == ["the quick", "brown fox"]
    assert wrapped("a verylongwordindeed b", 8) == ["a", "verylong", "wordinde", "ed b"]
    assert wrapped("one\n\ntwo", 10) == ["one", "", "two"]


def test_the_start_is_cut_before_the_end() -> None:
    assert plain(spread((Span("a long title"),), (Span("12s"),), 10)) == "a lon… 12s"
    assert plain(spread((Span("title"),), (Span("a long end"),), 6)) == "a lon…"


def test_blocks_stand_side_by_side() -> None:
    rows = beside([(Span("a"),)], [(Span("b"),), (Span("c"),)], 3, 1, 2, 2)
    assert ["".join(span.text for span in row) for row in rows] == ["a   b ", "    c "]
