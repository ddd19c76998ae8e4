"""The policy of managed runs: bounds, defaults, recipients."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from sayso.domain.form import RecipientType
from sayso.domain.policy import HumanInputPolicy
from sayso.domain.recipients import recipients_of
from sayso.domain.run import MAX_TIMEOUT

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WEEK = timedelta(days=7)


def email(*addresses: str) -> dict[str, Any]:
    items = [{"type": "external", "email": address} for address in addresses]
    return {"type": "email", "config": {"recipients": {"items": items}}}


@pytest.mark.parametrize(
    ("timeout", "unit", "span"),
    [
        (5, "second", timedelta(seconds=5)),
        (2, "minute", timedelta(minutes=2)),
        (36, "hour", timedelta(hours=36)),
        (3, "day", timedelta(days=3)),
    ],
)
def test_a_form_has_the_time_its_policy_gives(timeout: int, unit: str, span: timedelta) -> None:
    policy = HumanInputPolicy.model_validate({"timeout": timeout, "timeout_unit": unit})

    assert policy.form_deadline(NOW) == NOW + span


def test_the_default_is_36_hours_and_the_stacks_run_timeout() -> None:
    policy = HumanInputPolicy.model_validate({})

    assert policy.form_deadline(NOW) == NOW + timedelta(hours=36)
    assert policy.run_deadline(NOW, WEEK) == NOW + WEEK


def test_zero_means_the_longest_run() -> None:
    policy = HumanInputPolicy.model_validate({"run_timeout_seconds": 0})

    assert policy.run_deadline(NOW, WEEK) == NOW + MAX_TIMEOUT


@pytest.mark.parametrize(
    "member",
    [
        {"timeout": 0},
        {"timeout": 367, "timeout_unit": "day"},
        {"timeout": 10**400},
        {"timeout_unit": "week"},
        {"run_timeout_seconds": 31_622_401},
        {"delivery_methods": []},
        {"delivery_methods": [{"type": "webapp", "enabled": False}]},
        {"delivery_methods": [{"type": "pigeon"}]},
        {"delivery_methods": [email("not an address")]},
        {"delivery_methods": [email("a@example.org\r\nBcc: b@example.org")]},
        {"delivery_methods": [email(*(f"a{n}@example.org" for n in range(51)))]},
        {"delivery_methods": [email(*(f"a{n}@example.org" for n in range(26)))] * 2},
        {"not_before": "2026-01-01T00:00:00"},
        {"recipients": ["a@example.org"]},
    ],
)
def test_what_does_not_fit_is_refused(member: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        HumanInputPolicy.model_validate(member)


def test_an_address_counts_once_whatever_its_case_and_method() -> None:
    policy = HumanInputPolicy.model_validate(
        {
            "delivery_methods": [
                email("CFO@example.org", "", "b@example.org"),
                email("cfo@Example.org"),
            ]
        }
    )

    recipients = recipients_of(policy, ("default@example.org",)).recipients

    assert [one.address for one in recipients] == ["CFO@example.org", "b@example.org", ""]
    assert [one.number for one in recipients] == [1, 2, 3]


def test_webapp_makes_one_recipient_without_address() -> None:
    policy = HumanInputPolicy.model_validate({"delivery_methods": [{"type": "webapp"}]})

    one, backstage = recipients_of(policy, ()).recipients

    assert backstage.type is RecipientType.BACKSTAGE
    assert one.type is RecipientType.STANDALONE_WEB_APP
    assert one.address == ""
