"""Patterns of text fields: the same answers as ``re`` within the grammar, never its backtracking."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.domain.patterns import MAX_PATTERN_CHARS, PatternError, check_pattern, matches

ATOMS = st.sampled_from(
    ["a", "b", "\\d", "\\w", "\\S", ".", "[ab]", "[^a]", "[a-c\\d]", "\\.", "[.-]"]
)
PARTS = st.builds(
    lambda atom, times: atom + times,
    ATOMS,
    st.sampled_from(["", "*", "+", "?", "{2}", "{1,2}", "{1,}"]),
)
PATTERNS = st.recursive(
    st.lists(PARTS, max_size=3).map("".join),
    lambda inner: st.builds("({}|{}){}".format, inner, inner, st.sampled_from(["", "+", "?"])),
    max_leaves=4,
)


@given(PATTERNS, st.text("ab1.-_\n ", max_size=8))
def test_a_pattern_means_what_it_means_to_re(pattern: str, text: str) -> None:
    expected = re.fullmatch(pattern, text, re.ASCII) is not None

    assert matches(pattern, text) is expected


def test_what_makes_re_hang_is_answered_at_once() -> None:
    assert not matches("(a+)+b", "a" * 500)
    assert not matches("(a|a)*b", "a" * 500)
    assert not matches("(a*)*(a*)*b", "a" * 500)


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        ")",
        "a)",
        "[a",
        "[]",
        "a**",
        "*a",
        "a{2,1}",
        "a{x}",
        "a{9999}",
        "(?=a)",
        "\\1",
        "\\b",
        "[b-a]",
        "a\\",
        "(" * 30 + ")" * 30,
        "(a{99}){99}",
        "a" * (MAX_PATTERN_CHARS + 1),
    ],
)
def test_what_is_not_of_the_grammar_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        check_pattern(pattern, longest=500)


@pytest.mark.parametrize(
    ("pattern", "shortest", "longest", "possible"),
    [("a{5}", 0, 5, True), ("a{5}", 0, 4, False), ("a{5}", 6, 9, False), ("a*", 3, 3, True)],
)
def test_a_pattern_no_text_of_the_length_can_match_is_refused(
    pattern: str, shortest: int, longest: int, *, possible: bool
) -> None:
    try:
        check_pattern(pattern, shortest=shortest, longest=longest)
    except PatternError:
        assert not possible
    else:
        assert possible


def test_start_and_end_may_be_written() -> None:
    assert matches("^ab$", "ab")
    assert not matches("^ab$", "ab\n")
