"""Instants and spans of time in words, always with the zone (mock-up rule: zone always written)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from sayso.rendering.i18n import _, ngettext


@dataclass(frozen=True, slots=True, kw_only=True)
class InstantText:
    """One instant in words, in the reader's zone and in UTC."""

    date: str
    """``Thursday 3 December 2026``"""
    clock: str
    """``17:00 CET``"""
    short: str
    """``Thu 3 Dec, 17:00 CET``"""
    utc: str
    """``16:00 UTC``, with its date where that differs; empty when the zone is UTC itself."""
    iso: str
    """For ``<time datetime>``, with the zone's offset."""

    @property
    def full(self) -> str:
        """Return date and clock: ``Thursday 3 December 2026, 17:00 CET``."""
        return f"{self.date}, {self.clock}"

    def __str__(self) -> str:
        return f"{self.full} ({self.utc})" if self.utc else self.full


def format_instant(instant: datetime, zone: str = "UTC") -> InstantText:
    """Put an instant into words.

    Args:
        instant: Aware.
        zone: IANA name. One that this system does not know reads as UTC: the instant stays right.

    Raises:
        ValueError: The instant is naive.
    """
    if instant.tzinfo is None:
        raise ValueError(f"an instant needs a zone, {instant!r} has none")
    local = instant.astimezone(_zone(zone))
    utc = instant.astimezone(UTC)
    return InstantText(
        date=_date(local),
        clock=_clock(local),
        short=f"{_weekday(local)[:3]} {local.day} {_month(local)[:3]}, {_clock(local)}",
        utc=_utc(local, utc),
        iso=local.isoformat(timespec="seconds"),
    )


def rough_span(span: timedelta) -> str:
    """Return a span in its one or two largest units: ``1 day 4 hours``, ``40 seconds``."""
    minutes, seconds = divmod(max(0, int(span.total_seconds())), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return _joined(_days(days), _hours(hours) if hours else "")
    if hours:
        return _joined(_hours(hours), _minutes(minutes) if minutes else "")
    if minutes:
        return _minutes(minutes)
    return ngettext("%d second", "%d seconds", seconds) % seconds


def _joined(large: str, small: str) -> str:
    return f"{large} {small}".rstrip()


def _days(count: int) -> str:
    return ngettext("%d day", "%d days", count) % count


def _hours(count: int) -> str:
    return ngettext("%d hour", "%d hours", count) % count


def _minutes(count: int) -> str:
    return ngettext("%d minute", "%d minutes", count) % count


def _zone(name: str) -> tzinfo:
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return UTC


def _date(moment: datetime) -> str:
    return f"{_weekday(moment)} {moment.day} {_month(moment)} {moment.year}"


def _clock(moment: datetime) -> str:
    name = moment.tzname() or ""
    if not name.isalpha():  # zones without an abbreviation are named by their offset
        name = "UTC" + moment.isoformat()[-6:]
    return f"{moment:%H:%M} {name}"


def _utc(local: datetime, utc: datetime) -> str:
    if local.tzname() == "UTC":
        return ""
    return _clock(utc) if local.date() == utc.date() else f"{_date(utc)}, {_clock(utc)}"


def _weekday(moment: datetime) -> str:
    names = (
        _("Monday"),
        _("Tuesday"),
        _("Wednesday"),
        _("Thursday"),
        _("Friday"),
        _("Saturday"),
        _("Sunday"),
    )
    return names[moment.weekday()]


def _month(moment: datetime) -> str:
    names = (
        _("January"),
        _("February"),
        _("March"),
        _("April"),
        _("May"),
        _("June"),
        _("July"),
        _("August"),
        _("September"),
        _("October"),
        _("November"),
        _("December"),
    )
    return names[moment.month - 1]
