"""Credentials are sealed in parts that cannot be swapped, cut or opened elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from moto import mock_aws

from sayso.aws.clients import Clients
from sayso.aws.credentials import KmsVault, PlainVault
from sayso.domain.errors import PermanentError, ValidationError
from sayso.domain.ids import RunId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from botocore.client import BaseClient
    from botocore.stub import Stubber

RUN = RunId("7a0d9c3e-0000-4000-8000-000000000001")


@pytest.fixture
def vault() -> Iterator[KmsVault]:
    with mock_aws():
        client = Clients("eu-west-1").get("kms")
        yield KmsVault(client, client.create_key()["KeyMetadata"]["Arn"])


def test_context_names_run_and_part(
    clients: Clients, stub: Callable[[BaseClient], Stubber]
) -> None:
    kms = stub(clients.get("kms"))
    for number, part in enumerate([b"x" * 4096, b"x"], 1):
        kms.add_response(
            "encrypt",
            {"CiphertextBlob": b"c"},
            {
                "KeyId": "arn",
                "Plaintext": part,
                "EncryptionContext": {"run_id": RUN, "part": f"{number}/2"},
            },
        )

    sealed = KmsVault(clients.get("kms"), "arn").seal(RUN, b"x" * 4097)

    assert sealed.endswith(b"\x00\x01c\x00\x01c")


def test_sealed_credentials_show_nothing(vault: KmsVault) -> None:
    assert b"key" not in vault.seal(RUN, b'{"openai_api_key": "key"}')


@pytest.mark.parametrize("damage", [lambda data: data[:-3], lambda data: data[:5] + data[5:][::-1]])
def test_changed_credentials_do_not_open(vault: KmsVault, damage: Callable[[bytes], bytes]) -> None:
    sealed = vault.seal(RUN, b"x" * 5000)

    with pytest.raises(PermanentError):
        vault.open(RUN, damage(sealed))


def test_part_that_is_left_out_is_noticed(vault: KmsVault) -> None:
    sealed = vault.seal(RUN, b"x" * 5000)
    first_part_bytes = 2 + int.from_bytes(sealed[5:7])

    with pytest.raises(PermanentError):
        vault.open(RUN, sealed[: 5 + first_part_bytes])


def test_too_much_is_the_callers_error(vault: KmsVault) -> None:
    with pytest.raises(ValidationError, match="at most 40960"):
        vault.seal(RUN, b"x" * 40_961)


def test_what_was_stored_before_there_was_a_key_stays_readable(vault: KmsVault) -> None:
    assert vault.open(RUN, PlainVault().seal(RUN, b"{}")) == b"{}"


def test_what_was_sealed_needs_its_key(vault: KmsVault) -> None:
    with pytest.raises(PermanentError, match="KMS key"):
        PlainVault().open(RUN, vault.seal(RUN, b"{}"))
