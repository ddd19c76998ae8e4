"""§16: how often an address, a link and a form may be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.ids import FormId
from sayso.domain.links import Link
from sayso.store.limiter import FORM_FACTOR, LINK_FACTOR, TableRateLimiter
from support.functions import http_event
from support.human_input import MAIL, NOTE, Forms, error, node, path

if TYPE_CHECKING:
    from support.functions import Answer

LIMIT = 30
FORM = {"content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin"}


def call(
    forms: Forms, method: str, target: str, address: str = "203.0.113.7", **parts: Any
) -> Answer:
    """Send a request that the gateway saw come from an address."""
    headers = {"host": "x", **parts.pop("headers", {})}
    function, event = http_event(method, target, headers=headers, body=parts.get("body"), query={})
    event["requestContext"]["http"]["sourceIp"] = address
    return forms.functions.answer(forms.functions.invoke(function, event))


@pytest.mark.parametrize("surface", ["page", "public"])
def test_s16_access_is_limited_by_address(surface: str) -> None:
    forms = Forms({"form": node(NOTE)})
    target = path(surface, forms.token(MAIL))

    answers = [call(forms, "GET", target) for _ in range(LIMIT + 1)]

    assert [one.status for one in answers] == [200] * LIMIT + [429]
    assert int(answers[-1].headers["retry-after"]) >= 1
    if surface == "public":
        assert answers[-1].json == error(
            "web_form_rate_limit_exceeded", "Too many form requests. Please try again later.", 429
        )


def test_s16_submit_has_a_counter_of_its_own() -> None:
    forms = Forms({"form": node(NOTE)})
    target = path("page", forms.token(MAIL))
    for _ in range(LIMIT):
        call(forms, "GET", target)

    answers = [
        call(forms, "POST", target, headers=FORM, body="action=steal") for _ in range(LIMIT + 1)
    ]

    assert [one.status for one in answers] == [422] * LIMIT + [429]


def test_s16_page_and_public_form_share_their_counters() -> None:
    forms = Forms({"form": node(NOTE)})
    for _ in range(LIMIT):
        call(forms, "GET", path("page", forms.token(MAIL)))

    assert call(forms, "GET", path("public", forms.token(MAIL))).status == 429


def test_s16_R_a_forged_token_is_refused_before_counting() -> None:
    forms = Forms({"form": node(NOTE)})
    before = forms.functions.wiring.table.snapshot()

    answers = {call(forms, "GET", path("page", "A" * 50)).status for _ in range(LIMIT + 5)}

    assert answers == {404}
    assert forms.functions.wiring.table.snapshot() == before


def test_s16_R_one_link_is_limited_over_all_addresses() -> None:
    forms = Forms({"form": node(NOTE)})
    target = path("page", forms.token(MAIL))

    statuses = [
        call(forms, "GET", target, address=f"198.51.100.{number % 100}").status
        for number in range(LIMIT * LINK_FACTOR + 1)
    ]

    assert statuses == [200] * (LIMIT * LINK_FACTOR) + [429]
    assert call(forms, "GET", path("page", forms.token()), address="192.0.2.1").status == 200


def test_s16_R_one_form_is_limited_over_all_links() -> None:
    forms = Forms()
    wiring = forms.functions.wiring
    limiter = TableRateLimiter(wiring.table, wiring.clock, limit=1)

    def taken(recipient: int) -> bool:
        link = Link(form_id=FormId("f"), recipient=recipient, revision=1)
        try:
            limiter.count_link("access", link)
        except Exception:  # noqa: BLE001 - refused, whatever the words
            return False
        return True

    results = [taken(number) for number in range(FORM_FACTOR + 1)]

    assert results == [True] * FORM_FACTOR + [False]


def test_s16_link_and_form_are_counted_by_one_write() -> None:
    forms = Forms()
    wiring = forms.functions.wiring
    limiter = TableRateLimiter(wiring.table, wiring.clock, limit=5)
    before = len(wiring.faults.calls)

    limiter.count_link("access", Link(form_id=FormId("f"), recipient=1, revision=1))

    assert wiring.faults.calls[before:] == ["write"]


def test_s16_R_the_address_is_the_gateways_not_a_header() -> None:
    forms = Forms({"form": node(NOTE)})
    target = path("page", forms.token(MAIL))
    spoofed = [
        call(forms, "GET", target, headers={"x-forwarded-for": f"192.0.2.{number}"}).status
        for number in range(LIMIT + 1)
    ]

    assert spoofed[-1] == 429


@pytest.mark.parametrize("surface", ["service_api", "openapi", "console"])
def test_s16_surfaces_with_a_key_are_not_limited_by_address(surface: str) -> None:
    forms = Forms({"form": node(NOTE)})
    kind = {"console": forms.types()[-1]}.get(surface, forms.types()[0])

    assert {forms.get(surface, kind).status for _ in range(LIMIT + 5)} == {200}


def test_D25_31st_get_in_a_minute_is_429_and_another_address_is_unaffected() -> None:
    forms = Forms({"form": node(NOTE)})
    target = path("public", forms.token(MAIL))

    statuses = [call(forms, "GET", target).status for _ in range(LIMIT + 1)]

    assert statuses[-1] == 429
    assert call(forms, "GET", target, address="192.0.2.1").status == 200
