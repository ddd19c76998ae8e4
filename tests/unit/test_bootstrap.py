"""The wiring on AWS, as far as it needs no AWS."""

from __future__ import annotations

import json

import pytest

from sayso import bootstrap
from sayso.aws_wiring import AwsWiring, credential_in
from sayso.domain.errors import PermanentError
from sayso.settings import Settings
from support.functions import MemoryWiring

SECRET = json.dumps(
    {"openai": {"values": {"openai_api_key": "sk-secret"}, "hosts": ["api.openai.com"]}}
)


def test_a_process_uses_the_wiring_that_it_is_given_until_that_is_taken_back() -> None:
    mine = MemoryWiring()

    bootstrap.use(mine)
    try:
        assert bootstrap.wiring() is mine
    finally:
        bootstrap.use(None)


def test_a_provider_has_its_credential_with_the_hosts_that_may_get_it() -> None:
    found = credential_in(SECRET, "openai")

    assert found is not None
    assert (found.values, found.hosts) == ({"openai_api_key": "sk-secret"}, ("api.openai.com",))
    assert "sk-secret" not in repr(found)


def test_a_provider_that_the_secret_does_not_name_has_none() -> None:
    assert credential_in(SECRET, "anthropic") is None


@pytest.mark.parametrize(
    "text", ["", "[]", "no json", '{"openai": "sk-secret"}', '{"openai": {"values": {}}}']
)
def test_a_malformed_secret_is_an_error_that_does_not_quote_it(text: str) -> None:
    with pytest.raises(PermanentError) as error:
        credential_in(text, "openai")

    assert "sk-secret" not in str(error.value)
    assert error.value.__cause__ is None


def test_a_stack_without_a_model_secret_has_no_credential() -> None:
    assert AwsWiring(Settings()).stored_credential("openai") is None
