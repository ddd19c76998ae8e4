"""Cursors and page sizes (dify-agent §1, §4.1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.http.cursors import event_id, read_cursor, read_limit
from sayso.http.invalid import InvalidRequestError


@given(number=st.integers(min_value=0, max_value=999_999_999_999))
def test_the_id_of_an_event_is_a_cursor_behind_it(number: int) -> None:
    assert read_cursor(event_id(number)) == number
    assert read_cursor(str(number)) == number


def test_a_well_formed_cursor_of_another_server_reads_behind_all() -> None:
    assert read_cursor("1796125458784-0") == 999_999_999_999


@pytest.mark.parametrize("text", ["", "abc", "$", "-", "+", "1-2-3", "5 ", " 5", "-1", "1-", "٣"])
def test_a_malformed_cursor_is_a_422_with_its_place(text: str) -> None:
    with pytest.raises(InvalidRequestError) as error:
        read_cursor(text)

    (entry,) = error.value.entries
    assert (entry["loc"], entry["input"]) == (["query", "after"], text)


@pytest.mark.parametrize(("text", "limit"), [(None, 100), ("1", 1), ("500", 500), ("+7", 7)])
def test_a_page_has_1_to_500_events_and_100_by_default(text: str | None, limit: int) -> None:
    assert read_limit(text) == limit


@pytest.mark.parametrize(
    ("text", "kind", "context"),
    [
        ("0", "greater_than_equal", {"ge": 1}),
        ("-4", "greater_than_equal", {"ge": 1}),
        ("501", "less_than_equal", {"le": 500}),
        ("", "int_parsing", None),
        ("x", "int_parsing", None),
        ("1.5", "int_parsing", None),
        ("9" * 5000, "int_parsing", None),
    ],
)
def test_another_page_size_is_refused_as_observed(
    text: str, kind: str, context: dict[str, int] | None
) -> None:
    with pytest.raises(InvalidRequestError) as error:
        read_limit(text)

    (entry,) = error.value.entries
    assert (entry["type"], entry["loc"], entry.get("ctx")) == (kind, ["query", "limit"], context)
