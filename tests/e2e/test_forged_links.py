"""Links and tokens that are not ours: one page, one error, whatever the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from e2e.stage import token_of
from e2e.web import Reply, get, submit

if TYPE_CHECKING:
    from collections.abc import Callable

    from e2e.stage import Stage
    from sayso.domain.ids import RunId

pytestmark = pytest.mark.stack


def changed(token: str, place: int) -> str:
    """Return the token with another character at a place."""
    other = "B" if token[place] == "A" else "A"
    return token[:place] + other + token[place:][1:]


TOKENS: dict[str, Callable[[str], str]] = {
    "cut": lambda token: token[:-1],
    "longer": lambda token: token + "A",
    "of another version": lambda token: changed(token, 0),
    "of another form": lambda token: changed(token, 20),
    "with another signature": lambda token: changed(token, 40),
    "with another end": lambda token: changed(token, len(token) - 1),
    "with an end that means the same": lambda token: token[:-1] + chr(ord(token[-1]) + 1),
    "with a space": lambda token: token + "%20",
    "nothing like one": lambda _: "x",
    "endless": lambda _: "A" * 4000,
}


@pytest.mark.parametrize("name", TOKENS)
def test_a_link_that_is_not_ours_opens_one_and_the_same_page(
    stage: Stage, waiting: RunId, link: str, name: str
) -> None:
    token = token_of(link)
    forged = link.replace(token, TOKENS[name](token))
    (form,) = stage.records.forms(waiting)
    nobodys = stage.link_to(form, recipient=9)
    before = stage.records.about(waiting)

    page, posted, compared = get(forged), submit(forged, {"action": "approve"}), get(nobodys)

    assert [page.status, posted.status, compared.status] == [404, 404, 404]
    assert without_nonce(page) == without_nonce(posted) == without_nonce(compared)
    assert "This link opens nothing" in page.text
    assert stage.records.about(waiting) == before


def without_nonce(page: Reply) -> tuple[str, dict[str, str]]:
    """Return page and headers without what is new in each response."""
    policy = page.headers["content-security-policy"]
    nonce = policy.partition("'nonce-")[2].partition("'")[0]
    own = {"date", "apigw-requestid"}
    headers = {name: value for name, value in page.headers.items() if name not in own}
    return page.text.replace(nonce, ""), {k: v.replace(nonce, "") for k, v in headers.items()}


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_that_is_not_ours_is_a_form_not_found(
    stage: Stage, waiting: RunId, link: str, name: str
) -> None:
    path = f"/v1/form/human_input/{TOKENS[name](token_of(link))}"
    before = stage.records.about(waiting)

    replies = [
        stage.call("GET", path),
        stage.call("POST", path, {"inputs": {}, "action": "approve", "user": "x"}),
    ]

    assert [reply.status for reply in replies] == [404, 404]
    assert {reply.json["code"] for reply in replies} == {"not_found"}
    assert stage.records.about(waiting) == before
