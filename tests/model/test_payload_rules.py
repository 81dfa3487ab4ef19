"""What is not exactly JSON is refused before any write, with its path, the limit and what was seen."""

import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from lockgate.model.encoding import (
    MAX_CANONICAL_BYTES,
    MAX_VALUE_BYTES,
    canonical,
    chained,
    checked,
    digest,
    parsed,
    recomputable,
    stored,
)
from lockgate.model.errors import PayloadError


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"a": NaN}', "$.a"),
        ('{"a": [1, Infinity]}', "$.a[1]"),
        ("[-Infinity]", "$[0]"),
        ('{"a": {"b c": 1e400}}', '$.a["b c"]'),
        (str(2**70), "$"),
        ("[9007199254740992]", "$[0]"),
        ("[-9007199254740992]", "$[0]"),
        ("1" * 5000, "$"),
        ('{"a": 1, "a": 2}', "$.a"),
        ('{"x": {"a": 1, "a": 1}}', "$.x.a"),
        ('["\\ud800"]', "$[0]"),
        ('{"k": "a\\udfff"}', "$.k"),
        ("[" * 65 + "]" * 65, "$"),
        ("[" * 10_000, "$"),
        ("nope", "$"),
        ("", "$"),
        ('{"a": 1} x', "$"),
    ],
)
def test_bad_json_is_refused_at_its_path(text: str, path: str) -> None:
    with pytest.raises(PayloadError) as caught:
        parsed(text)
    assert caught.value.path == path
    assert caught.value.limit
    assert caught.value.observed


def test_size_is_refused_with_both_numbers() -> None:
    with pytest.raises(PayloadError, match=f"at most {MAX_VALUE_BYTES} bytes, got {MAX_VALUE_BYTES + 1} bytes"):
        parsed('"' + "x" * (MAX_VALUE_BYTES - 1) + '"')
    assert parsed('"' + "x" * (MAX_VALUE_BYTES - 2) + '"') == "x" * (MAX_VALUE_BYTES - 2)


def test_depth_64_is_taken_and_brackets_in_text_do_not_count() -> None:
    assert parsed("[" * 64 + "]" * 64)
    assert parsed('"' + "[" * 500 + '\\"{"') == "[" * 500 + '"{'


def test_nul_is_kept_exactly() -> None:
    assert parsed('"a\\u0000b"') == "a\0b"
    assert json.loads(checked("a\0b")) == "a\0b"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [float("nan")]}, "$.a[0]"),
        ({"a": float("inf")}, "$.a"),
        ([2**53], "$[0]"),
        ({"a": {1: 2}}, "$.a"),
        ({"a": {1, 2}}, "$.a"),
        ([b"bytes"], "$[0]"),
        (["\ud800"], "$[0]"),
        (object(), "$"),
    ],
)
def test_a_python_value_obeys_the_same_rules(value: object, path: str) -> None:
    with pytest.raises(PayloadError) as caught:
        checked(value)
    assert caught.value.path == path


def test_a_value_that_holds_itself_is_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(PayloadError, match="at most 64 levels"):
        checked(loop)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(json_values | st.floats(allow_nan=False, allow_infinity=False))
def test_what_is_accepted_is_read_back_equal(value: object) -> None:
    assert json.loads(checked(value)) == value
    assert parsed(json.dumps(value)) == value


ascii_keys = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=6)
float_free = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ascii_keys, inner, max_size=5),
    max_leaves=12,
)


@given(float_free)
def test_the_chain_is_hashed_over_rfc_8785_bytes(value: object) -> None:
    """The fast encoder stands in for the library only where both write the same bytes."""
    assert chained(value) == rfc8785.dumps(value)
    assert stored(value) == canonical(value)


@given(json_values | st.floats(allow_nan=False, allow_infinity=False) | st.dictionaries(st.text(), st.floats(0, 1e30)))
def test_a_small_subject_is_stored_in_the_form_that_anybody_can_hash(value: object) -> None:
    assert recomputable(value) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (["x" * (MAX_CANONICAL_BYTES - 9), 1.0], True),
        (["x" * (MAX_CANONICAL_BYTES - 6), 1.0], True),
        (["x" * (MAX_CANONICAL_BYTES - 5), 1.0], False),
        # Where a form is long only in one of the encodings, RFC 8785 decides.
        ([-0.0] * (MAX_CANONICAL_BYTES // 2 - 1), True),
        ([-0.0] * (MAX_CANONICAL_BYTES // 2), False),
        ([1e20] * 4_000, False),
    ],
    ids=["small", "at the limit", "over it", "shrinks to the limit", "shrinks over it", "grows over it"],
)
def test_a_large_subject_enters_by_its_stored_bytes(value: object, exact: bool) -> None:
    form = rfc8785.dumps(value)
    assert (len(form) <= MAX_CANONICAL_BYTES) is exact
    assert recomputable(value) == (form if exact else stored(value))
    assert form != stored(value)


def test_a_digest_can_be_recomputed_by_hand() -> None:
    assert digest({"b": 1, "a": "é"}) == "aa58fba8483623bed37c1b02edfccbdd9a53123837c20bfa4cb4049993a2872e"
