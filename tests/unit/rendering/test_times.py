"""Instants and spans in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sayso.rendering.times import format_instant, rough_span

INSTANT = datetime(2026, 12, 3, 16, 0, tzinfo=UTC)


def test_an_instant_is_told_in_the_readers_zone_and_in_utc() -> None:
    text = format_instant(INSTANT, "Europe/Berlin")

    assert str(text) == "Thursday 3 December 2026, 17:00 CET (16:00 UTC)"
    assert text.short == "Thu 3 Dec, 17:00 CET"
    assert text.iso == "2026-12-03T17:00:00+01:00"


def test_utc_is_told_once() -> None:
    assert str(format_instant(INSTANT)) == "Thursday 3 December 2026, 16:00 UTC"


def test_the_date_in_utc_is_told_where_it_differs() -> None:
    text = format_instant(datetime(2026, 12, 3, 23, 30, tzinfo=UTC), "Asia/Tokyo")

    assert str(text) == ("Friday 4 December 2026, 08:30 JST (Thursday 3 December 2026, 23:30 UTC)")


def test_a_zone_without_an_abbreviation_is_told_by_its_offset() -> None:
    assert format_instant(INSTANT, "Asia/Kathmandu").clock == "21:45 UTC+05:45"


@pytest.mark.parametrize("zone", ["Nowhere/Town", "../../etc/passwd", "", "Europe"])
def test_an_unknown_zone_reads_as_utc(zone: str) -> None:
    assert format_instant(INSTANT, zone).clock == "16:00 UTC"


def test_summer_time_is_the_one_of_the_instant() -> None:
    summer = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)

    assert format_instant(summer, "Europe/Berlin").clock == "14:00 CEST"


def test_a_naive_instant_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a zone"):
        format_instant(INSTANT.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(days=1, hours=4, minutes=59), "1 day 4 hours"),
        (timedelta(days=3), "3 days"),
        (timedelta(hours=1, minutes=1), "1 hour 1 minute"),
        (timedelta(hours=2, seconds=59), "2 hours"),
        (timedelta(minutes=3, seconds=2), "3 minutes"),
        (timedelta(seconds=40), "40 seconds"),
        (timedelta(seconds=-5), "0 seconds"),
    ],
)
def test_a_span_is_told_in_its_largest_units(span: timedelta, words: str) -> None:
    assert rough_span(span) == words
