"""Text from outside never acts on a terminal, and is measured as it is drawn."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import iter_graphemes

from lockgate.model.text import cell_width, clean, clip

MARKUP = "nightly [/red] [@click=app.quit]x[/] [a] [type=x, v={'a[0]'}]"
ESCAPES = "job \x1b]52;c;cm0gLXJm\x07 \x1b]2;PWNED\x1b\\ \x1b[2J \x9b31m end \x1b]unterminated"
BAD = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")

anything = st.text(st.characters())
hostile = st.text(st.sampled_from("\x1b[]P\\;0m\x07\x9b\x9d\x9c\u202e\u200b\ud800a\n\t\r한e\u0301👩‍🚀 "), max_size=60)


def test_markup_is_only_text() -> None:
    assert clean(MARKUP) == MARKUP


def test_whole_sequences_go_and_leave_one_picture_each() -> None:
    assert clean(ESCAPES) == "job ␛ ␛ ␛ ␛ end ␛"


def test_an_unterminated_sequence_hides_no_more_than_its_line() -> None:
    assert clean("a \x1b]0;title\nrm -rf /", multiline=True) == "a ␛\nrm -rf /"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\x00b", "a␀b"),
        ("a\x7fb", "a␡b"),
        ("a\x85b", "a␛Eb"),
        ("two\nlines\tand a tab\r", "two␊lines␉and a tab␍"),
        ("bo\u202etxt", "bo<U+202E>txt"),
        ("a\u2066b\u2069", "a<U+2066>b<U+2069>"),
        ("pay\u200bpal", "pay<U+200B>pal"),
        ("hidden\U000e0041", "hidden<U+E0041>"),
        ("lone \ud800", "lone \ufffd"),
        ("\x1b", "␛"),
        ("한국어 e\u0301 👩‍🚀", "한국어 e\u0301 👩‍🚀"),
    ],
)
def test_controls_are_pictures_and_tokens(raw: str, shown: str) -> None:
    assert clean(raw) == shown


def test_several_lines_keep_their_ends_and_fill_their_tabs() -> None:
    assert clean("a\tb\r\nc\r", multiline=True) == "a       b\nc␍"


@given(anything | hostile)
def test_nothing_of_a_clean_text_is_a_control(text: str) -> None:
    assert not BAD.search(clean(text))
    assert not BAD.search(clean(text, multiline=True).replace("\n", ""))


@given(anything | hostile)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    once = clean(text, multiline=True)
    assert clean(once, multiline=True) == once


@given(anything | hostile, st.integers(0, 30), st.sampled_from(["…", "~", ""]))
def test_a_clipped_text_fits(text: str, cells: int, ellipsis: str) -> None:
    shown = clip(clean(text), cells, ellipsis)
    assert cell_width(shown) <= cells
    if cells and cell_width(clean(text)) <= cells:
        assert shown == clean(text)


@pytest.mark.parametrize(
    ("text", "cells", "shown"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 4, "abc…"),
        ("abcdef", 1, "…"),
        ("abcdef", 0, ""),
        ("한국어", 5, "한국…"),
        ("한국어", 4, "한…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("👩‍🚀👩‍🚀", 3, "👩‍🚀…"),
    ],
)
def test_text_is_cut_between_clusters(text: str, cells: int, shown: str) -> None:
    assert clip(text, cells) == shown


@given(st.lists(anything | hostile, max_size=4))
def test_a_text_is_as_wide_as_its_clusters(parts: list[str]) -> None:
    text = clean("".join(parts))
    assert cell_width(text) == sum(cell_width(cluster) for cluster in iter_graphemes(text))


def test_a_joiner_between_digits_hides_none_of_them() -> None:
    assert cell_width("000\u200d0") == 4
    assert clip("000\u200d0", 3) == "00…"


def test_a_line_of_megabytes_is_clipped_as_fast_as_a_short_one() -> None:
    for character in ("x", "한"):
        text = character * 2_000_000
        start = time.perf_counter()
        for _ in range(100):
            clip(text, 80)
        assert time.perf_counter() - start < 1


def test_plain_text_costs_next_to_nothing() -> None:
    start = time.perf_counter()
    for _ in range(100_000):
        clean("release 1.4.0")
    assert time.perf_counter() - start < 1
