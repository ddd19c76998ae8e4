"""The approver's page through its handler: what each link and each answer gets (human-input §18)."""

from __future__ import annotations

import base64
import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from sayso.domain.errors import PermanentError, ServiceUnavailableError
from sayso.domain.transitions import FormStatus
from support.functions import DOMAIN, Answer, Functions

HEADERS = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex, nofollow",
    "content-type": "text/html; charset=utf-8",
}


def asked(**members: Any) -> tuple[Functions, str]:
    """Return functions with one waiting form and the mailed person's token."""
    functions = Functions()
    run_id = functions.paused_run(**members)
    return functions, functions.token(run_id)


def get(functions: Functions, token: str) -> Answer:
    return functions.call("GET", f"/form/{token}", key=None)


def status_of(functions: Functions, token: str) -> FormStatus:
    form_id = functions.wiring.links.verify(token).form_id
    form = functions.wiring.context.stores.forms.get(form_id)
    assert form is not None
    return form.status


def digest_in(page: str) -> str:
    found = re.search(r'name="form_nonce" value="([0-9a-f]{64})"', page)
    assert found is not None
    return found[1]


ANSWER = {"action": "approve", "comment": "<b>Fine</b> with me", "reason": "late"}


def test_the_page_shows_question_content_fields_and_actions() -> None:
    functions, token = asked()

    page = get(functions, token)

    assert page.status == 200
    for text in ("Refund order 17?", "<strong>3200</strong>", "Comment", "Too late", "Approve"):
        assert text in page.body


def test_every_page_carries_the_security_headers_and_its_own_nonce() -> None:
    functions, token = asked()

    first, second = get(functions, token), get(functions, "unknown")

    for page in (first, second):
        assert HEADERS.items() <= page.headers.items()
        found = re.search(r"'nonce-([^']+)'", page.headers["content-security-policy"])
        assert found is not None
        assert f'<style nonce="{found[1]}">' in page.body
    assert first.headers["content-security-policy"] != second.headers["content-security-policy"]


def test_opening_a_link_any_number_of_times_decides_nothing() -> None:
    functions, token = asked()

    for method in ("GET", "HEAD", "GET"):
        functions.call(method, f"/form/{token}", key=None)

    assert status_of(functions, token) is FormStatus.WAITING


def test_head_is_get_without_content() -> None:
    functions, token = asked()

    head = functions.call("HEAD", f"/form/{token}", key=None)

    assert (head.status, head.body) == (200, "")
    assert HEADERS.items() <= head.headers.items()


def test_an_answer_is_taken_and_leads_to_its_receipt() -> None:
    functions, token = asked()
    digest = digest_in(get(functions, token).body)

    answer = functions.post_form(token, form_nonce=digest, **ANSWER)

    assert (answer.status, answer.body) == (303, "")
    assert answer.headers["location"] == f"/form/{token}"
    assert answer.headers["cache-control"] == "no-store"
    assert status_of(functions, token) is FormStatus.SUBMITTED
    receipt = get(functions, token)
    assert receipt.status == 200
    assert "&lt;b&gt;Fine&lt;/b&gt; with me" in receipt.body


def test_the_same_answer_sent_twice_leads_to_the_same_receipt() -> None:
    functions, token = asked()

    answers = [functions.post_form(token, **ANSWER) for _ in range(2)]

    assert [answer.status for answer in answers] == [303, 303]


def test_somebody_else_sees_who_decided_and_not_what_was_written() -> None:
    functions = Functions()
    run_id = functions.paused_run()
    functions.post_form(functions.token(run_id), **ANSWER)

    other = get(functions, functions.token(run_id, recipient=1))

    assert other.status == 200
    assert "c…@example.org" in other.body
    assert "with me" not in other.body


def test_an_answer_that_comes_second_goes_back_to_its_writer() -> None:
    functions = Functions()
    run_id = functions.paused_run()
    functions.post_form(functions.token(run_id), **ANSWER)

    second = functions.post_form(
        functions.token(run_id, recipient=1), action="deny", comment="No!", reason="bad"
    )

    assert second.status == 409
    assert "No!" in second.body
    decision = functions.form(run_id).form.decision
    assert decision is not None
    assert decision.action_id == "approve"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"action": "approve", "comment": "kept"}, "Choose an answer to “Reason”"),
        ({"comment": "kept", "reason": "late"}, "Press one of the buttons below"),
        ({"action": "steal", "comment": "kept", "reason": "late"}, "Press one of the buttons"),
        ({**ANSWER, "comment": "kept", "reason": "foreign"}, "Choose an answer to “Reason”"),
        ({**ANSWER, "comment": "kept", "foreign": "x"}, "this page was out of date"),
        ({**ANSWER, "comment": "kept" * 6000}, "Shorten “Comment”"),
    ],
)
def test_an_answer_that_does_not_fit_comes_back_with_what_was_typed(
    fields: dict[str, str], words: str
) -> None:
    functions, token = asked()

    page = functions.post_form(token, **fields)

    assert page.status == 422
    assert "<title>Error:" in page.body
    assert words in page.body
    assert "kept" in page.body
    assert status_of(functions, token) is FormStatus.WAITING


def test_what_was_not_shown_cannot_be_approved() -> None:
    functions, token = asked()

    page = functions.post_form(token, form_nonce="0" * 64, **ANSWER)

    assert page.status == 409
    assert "this page was out of date" in page.body
    assert status_of(functions, token) is FormStatus.WAITING


def test_an_answer_after_the_deadline_is_refused_and_goes_back() -> None:
    functions, token = asked(timeout=5, timeout_unit="second")
    functions.clock.advance(timedelta(seconds=5))

    page = functions.post_form(token, **ANSWER)

    assert page.status == 410
    assert "with me" in page.body
    assert get(functions, token).status == 200
    assert status_of(functions, token) is FormStatus.WAITING  # the sweep has not come by yet


def test_a_cancelled_run_takes_no_answer() -> None:
    functions = Functions()
    run_id = functions.paused_run()
    token = functions.token(run_id)
    functions.call("POST", f"/runs/{run_id}/cancel", json_body={})

    assert get(functions, token).status == 200
    assert functions.post_form(token, **ANSWER).status == 410
    assert status_of(functions, token) is FormStatus.CANCELLED


def forged(token: str) -> list[str]:
    return ["", "x", token[:-1], token + "A", token[:-1] + ("A" if token[-1] != "A" else "B")]


def test_links_that_open_nothing_get_one_page_whatever_the_reason() -> None:
    """Same status, same size, same headers; only the nonce is another one each time."""
    functions = Functions()
    token = functions.token(functions.paused_run())
    functions.wiring.clock.advance(timedelta(minutes=2))

    pages = [get(functions, bad) for bad in forged(token) if bad]

    assert {page.status for page in pages} == {404}
    assert len({re.sub(r'nonce="[^"]+"', "", page.body) for page in pages}) == 1
    assert {tuple(sorted(page.headers)) for page in pages} == {tuple(sorted(pages[0].headers))}


def test_an_unknown_link_takes_no_answer_either() -> None:
    functions, token = asked()

    for bad in forged(token)[1:]:
        assert functions.post_form(bad, **ANSWER).status == 404

    assert status_of(functions, token) is FormStatus.WAITING


def test_a_forged_link_asks_no_table() -> None:
    functions, token = asked()
    calls = len(functions.wiring.faults.calls)

    get(functions, forged(token)[-1])

    assert len(functions.wiring.faults.calls) == calls


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin"}, 303),
        ({"sec-fetch-site": "none"}, 303),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "same-origin", "origin": "https://proxy.example.org"}, 303),
        ({}, 303),
        ({"origin": "null"}, 303),
        ({"origin": f"https://{DOMAIN}"}, 303),
        ({"origin": "https://evil.example.org"}, 403),
    ],
)
def test_an_answer_from_another_site_is_refused(headers: dict[str, str], status: int) -> None:
    functions, token = asked()
    headers = {"content-type": "application/x-www-form-urlencoded", **headers}

    answer = functions.call(
        "POST", f"/form/{token}", key=None, body=urlencode(ANSWER), headers=headers
    )

    assert answer.status == status
    waits = status_of(functions, token) is FormStatus.WAITING
    assert waits is (status == 403)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ('{"action": "approve"}', "application/json"),
        ("action=approve&action=deny", "application/x-www-form-urlencoded"),
        ("x" * 300_000, "application/x-www-form-urlencoded"),
        (None, ""),
    ],
)
def test_what_no_page_sends_gets_the_form_again(body: str | None, content_type: str) -> None:
    functions, token = asked()

    page = functions.call(
        "POST", f"/form/{token}", key=None, body=body, headers={"content-type": content_type}
    )

    assert page.status == 400
    assert "Refund order 17?" in page.body
    assert status_of(functions, token) is FormStatus.WAITING


def test_a_body_that_the_gateway_encoded_is_read() -> None:
    functions, token = asked()
    body = base64.b64encode(urlencode(ANSWER).encode()).decode()
    event = {
        "version": "2.0",
        "routeKey": "POST /form/{token}",
        "rawPath": f"/form/{token}",
        "headers": {"content-type": "application/x-www-form-urlencoded"},
        "pathParameters": {"token": token},
        "requestContext": {"http": {"method": "POST", "sourceIp": "203.0.113.7"}},
        "body": body,
        "isBase64Encoded": True,
    }

    assert functions.invoke("submit_form", event)["statusCode"] == 303


def test_too_many_requests_of_one_address_are_told_when_to_come_back() -> None:
    functions, token = asked()

    answers = [get(functions, token) for _ in range(31)]

    assert {answer.status for answer in answers[:30]} == {200}
    assert answers[30].status == 429
    assert int(answers[30].headers["retry-after"]) >= 1
    assert HEADERS.items() <= answers[30].headers.items()
    assert "Refund" not in answers[30].body


@pytest.mark.parametrize(
    ("error", "status"), [(ServiceUnavailableError("down"), 503), (RuntimeError("secret"), 500)]
)
def test_a_failure_of_ours_is_a_page_that_says_nothing(error: Exception, status: int) -> None:
    functions, token = asked()
    functions.wiring.faults.fail_next(error, operation="query")

    page = get(functions, token)

    assert page.status == status
    assert HEADERS.items() <= page.headers.items()
    assert "secret" not in page.body


def test_the_client_address_is_the_gateways_word_only() -> None:
    functions, token = asked()
    headers = {"x-forwarded-for": "198.51.100.1", "forwarded": "for=198.51.100.1"}

    for number in range(30):
        sent = {**headers, "x-forwarded-for": f"198.51.100.{number}"}
        functions.call("GET", f"/form/{token}", key=None, headers=sent)

    assert functions.call("GET", f"/form/{token}", key=None, headers=headers).status == 429


def test_an_answer_is_kept_when_the_queue_is_down() -> None:
    functions, token = asked()
    functions.wiring.queue_faults.fail_next(ServiceUnavailableError("down"))

    assert functions.post_form(token, **ANSWER).status == 303
    assert status_of(functions, token) is FormStatus.SUBMITTED


def test_a_bad_answer_to_a_closed_question_is_told_how_it_ended() -> None:
    functions, token = asked()
    functions.post_form(token, **ANSWER)

    page = functions.call("POST", f"/form/{token}", key=None, body="{}", headers={})

    assert page.status == 409
    assert "Error:" not in page.body


def test_a_stored_form_that_cannot_be_read_is_a_page_that_says_nothing() -> None:
    functions, token = asked()
    functions.wiring.faults.fail_next(PermanentError("a place"), operation="query")

    page = get(functions, token)

    assert page.status == 500
    assert "a place" not in page.body
