"""Plain text from outside: only what can be seen, on one line, never a link."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.rendering.plain import one_line, strip_invisible, without_links, without_tags


@pytest.mark.parametrize(
    "character",
    [
        "\u202a", "\u202e", "\u2066", "\u2069", "\u200e", "\u200f", "\u061c", "\u200b", "\u2060",
        "\ufeff", "\u00ad", "\u034f", "\u3164", "\x00", "\x1b", "\x7f", "\x9b", "\ud800", "\ufffe",
        "\U000e0041", "\U000e0100", "\u200d", "\ufe0f",
    ],
)  # fmt: skip
def test_what_is_invisible_or_turns_text_around_is_removed_and_counted(character: str) -> None:
    assert strip_invisible(f"a{character}b") == ("ab", 1)


@pytest.mark.parametrize(
    "text",
    ["👩\u200d👩\u200d👧", "❤\ufe0f", "👩\u200d❤\ufe0f\u200d👩", "1\ufe0f\u20e3", "\u0645\u06cc\u200c\u062e\u0648", "क्\u200dष", "a\tb\nc"],
)  # fmt: skip
def test_emoji_and_scripts_that_need_joiners_keep_them(text: str) -> None:
    assert strip_invisible(text) == (text, 0)


def test_line_ends_become_line_feeds_and_are_not_counted() -> None:
    assert strip_invisible("a\r\nb\rc\u2028d\u0085e") == ("a\nb\nc\nd\ne", 0)


@given(text=st.text())
def test_stripping_twice_removes_nothing_more(text: str) -> None:
    once, _ = strip_invisible(text)

    assert strip_invisible(once) == (once, 0)


@given(text=st.text(), limit=st.integers(1, 40))
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit=limit)

    assert len(line) <= limit
    assert not any(unicodedata.category(letter) in {"Cc", "Zl", "Zp"} for letter in line)
    assert line == line.strip()


def test_a_cut_line_ends_in_an_ellipsis() -> None:
    assert one_line("one two three", limit=8) == "one two…"


def test_tags_are_stripped_and_comparisons_stay() -> None:
    assert without_tags("<b>3 < 5</b> and 7 > 2<!-- x --><br/>") == "3 < 5 and 7 > 2"


def test_addresses_lose_what_makes_them_links() -> None:
    assert without_links("HTTPS://a.b/c mailto:x@y.z http:///d") == "a.b/c x@y.z d"
