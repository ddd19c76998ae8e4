"""Secrets are read rarely, rotated keys are seen in time, and nothing of them is shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sayso.aws.secrets import CachedSecret, SecretLinks
from sayso.domain.errors import ServiceUnavailableError, UnknownLinkError
from sayso.domain.ids import FormId
from sayso.domain.links import Link, LinkSigner

if TYPE_CHECKING:
    from collections.abc import Callable

    from botocore.client import BaseClient
    from botocore.stub import Stubber

    from sayso.aws.clients import Clients

OLD, NEW = "o" * 32, "n" * 32
LINK = Link(form_id=FormId("7a0d9c3e-0000-4000-8000-000000000001"), recipient=0, revision=1)
BEFORE = json.dumps({"current": "1", "1": OLD})
AFTER = json.dumps({"current": "2", "1": OLD, "2": NEW})


class Time:
    """A monotonic clock that moves when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Return seconds."""
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def manager(clients: Clients, stub: Callable[[BaseClient], Stubber]) -> Stubber:
    return stub(clients.get("secretsmanager"))


@pytest.fixture
def secret(clients: Clients, time: Time) -> CachedSecret:
    return CachedSecret(clients.get("secretsmanager"), "arn", monotonic=time)


def answer(manager: Stubber, *texts: str) -> None:
    for text in texts:
        manager.add_response("get_secret_value", {"SecretString": text}, {"SecretId": "arn"})


def test_secret_is_read_again_after_five_minutes(
    manager: Stubber, secret: CachedSecret, time: Time
) -> None:
    answer(manager, "one", "two")

    assert [secret.text() for _ in range(3)] == ["one"] * 3
    time.now += 299
    assert secret.text() == "one"
    time.now += 1
    assert secret.text() == "two"


def test_old_secret_stays_in_use_while_the_service_is_down(
    manager: Stubber, secret: CachedSecret, time: Time
) -> None:
    answer(manager, "one")
    manager.add_client_error("get_secret_value", "InternalServiceError")
    secret.text()
    time.now += 300

    assert [secret.text() for _ in range(3)] == ["one"] * 3


def test_secret_that_was_never_read_is_for_time_to_mend(
    manager: Stubber, secret: CachedSecret
) -> None:
    manager.add_client_error("get_secret_value", "AccessDeniedException")

    with pytest.raises(ServiceUnavailableError):
        secret.text()


def test_rotated_key_signs_after_five_minutes_and_the_old_one_still_verifies(
    manager: Stubber, secret: CachedSecret, time: Time
) -> None:
    answer(manager, BEFORE, AFTER)
    links = SecretLinks(secret)
    old = links.sign(LINK)
    time.now += 300

    new = links.sign(LINK)

    assert new == LinkSigner({2: NEW.encode()}, 2).sign(LINK)
    assert links.verify(old) == links.verify(new) == LINK


def test_unknown_key_id_has_the_secret_read_at_most_once_a_minute(
    manager: Stubber, secret: CachedSecret, time: Time
) -> None:
    answer(manager, BEFORE, BEFORE, AFTER)
    links = SecretLinks(secret)
    links.sign(LINK)
    token = LinkSigner({2: NEW.encode()}, 2).sign(LINK)

    for seconds in (0, 59, 1, 59):
        time.now += seconds
        with pytest.raises(UnknownLinkError):
            links.verify(token)
    time.now += 1

    assert links.verify(token) == LINK


def test_forged_token_of_a_known_key_reads_nothing(
    manager: Stubber, secret: CachedSecret, time: Time
) -> None:
    answer(manager, BEFORE)
    links = SecretLinks(secret)
    time.now += 200
    forged = LinkSigner({1: b"f" * 32}, 1).sign(LINK)

    with pytest.raises(UnknownLinkError):
        links.verify(forged)


@pytest.mark.parametrize(
    "text",
    [
        "plain text",
        "[]",
        "{}",
        json.dumps({"current": "2", "1": OLD}),
        json.dumps({"current": "1", "1": "too short"}),
        json.dumps({"current": "one", "1": OLD}),
        json.dumps({"current": "1", "1": 17}),
    ],
)
def test_malformed_secret_is_named_and_not_shown(
    manager: Stubber, secret: CachedSecret, text: str
) -> None:
    answer(manager, text)

    with pytest.raises(ServiceUnavailableError, match="malformed") as failure:
        SecretLinks(secret).sign(LINK)

    assert OLD not in str(failure.value)
    assert failure.value.__suppress_context__
