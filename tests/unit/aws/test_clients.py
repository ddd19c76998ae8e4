"""Clients are made once, when needed, and give up in time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sayso.aws.clients import Clients


def test_each_client_is_made_once(clients: Clients) -> None:
    with ThreadPoolExecutor(16) as pool:
        made = set(pool.map(lambda _: clients.get("sqs"), range(64)))

    assert len(made) == 1


def test_clients_share_nothing_but_their_session(clients: Clients) -> None:
    assert clients.get("dynamodb").meta.service_model.service_name == "dynamodb"
    assert clients.get("sesv2").meta.service_model.service_name == "sesv2"


def test_a_hanging_service_is_given_up(clients: Clients) -> None:
    # The stub of Config does not know its own options.
    config: Any = clients.get("dynamodb").meta.config

    assert (config.connect_timeout, config.read_timeout) == (1, 5)
    assert config.retries == {"mode": "standard", "total_max_attempts": 3}


@pytest.mark.usefixtures("clients")  # credentials: without them botocore asks the network
def test_endpoint_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")

    assert Clients("eu-west-1").get("sqs").meta.endpoint_url == "http://127.0.0.1:4566"


@pytest.mark.usefixtures("clients")  # credentials: without them botocore asks the network
def test_region_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")

    assert Clients().get("sqs").meta.region_name == "eu-north-1"
