"""What every directory, signer of links and vault promises."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from sayso.aws.credentials import KmsVault, PlainVault
from sayso.aws.directory import TableDirectory
from sayso.aws.secrets import CachedSecret, SecretLinks
from sayso.domain.access import ApiKey, Role
from sayso.domain.errors import PermanentError, UnknownLinkError
from sayso.domain.ids import AppId, FormId, RunId, TenantId
from sayso.domain.links import Link
from sayso.testing.access import MemoryDirectory, MemoryVault, fixed_links
from sayso.testing.table import MemoryTable

if TYPE_CHECKING:
    from sayso.aws.clients import Clients
    from sayso.ports import CredentialVault, Directory, Links, Table

FIRST = ApiKey(id="first", tenant=TenantId("default"), app=AppId("default"), role=Role.ADMIN)
OTHER = ApiKey(
    id="k2",
    tenant=TenantId("acme"),
    app=AppId("refunds"),
    role=Role.SERVICE,
    default_policy={"title": "Refund"},
    disabled=True,
    limits={"runs_per_minute": 3},
)


@pytest.fixture(params=["memory", "memory table", "moto"])
def directory(request: pytest.FixtureRequest) -> Directory:
    if request.param == "memory":
        return MemoryDirectory({"first-secret": FIRST, "other-secret": OTHER})
    table: Table = (
        request.getfixturevalue("dynamo_table") if request.param == "moto" else MemoryTable()
    )
    table.put_many(
        [
            {
                "pk": f"KEY#{hashlib.sha256(b'other-secret').hexdigest()}",
                "sk": "KEY",
                "id": "k2",
                "tenant": "acme",
                "app": "refunds",
                "role": "service",
                "disabled": True,
                "default_policy": json.dumps({"title": "Refund"}),
                "limits": {"runs_per_minute": 3},
            }
        ]
    )
    first = {"tenant": "default", "app": "default", "role": "admin", "key": "first-secret"}
    return TableDirectory(table, lambda: json.dumps(first))


def test_first_and_other_keys_are_found(directory: Directory) -> None:
    assert directory.find_key("first-secret") == FIRST
    assert directory.find_key("other-secret") == OTHER


@pytest.mark.parametrize("secret", ["", "first-secre", "first-secret ", "ünknown", "x" * 10_000])
def test_unknown_key_is_none(directory: Directory, secret: str) -> None:
    assert directory.find_key(secret) is None


@pytest.fixture(params=["fixed", "secret"])
def links(request: pytest.FixtureRequest) -> Links:
    if request.param == "fixed":
        return fixed_links()
    clients: Clients = request.getfixturevalue("aws")
    client = clients.get("secretsmanager")
    text = json.dumps({"current": "1", "1": "x" * 64})
    arn = client.create_secret(Name="keys", SecretString=text)["ARN"]
    return SecretLinks(CachedSecret(client, arn))


def test_token_opens_what_was_signed(links: Links) -> None:
    form_id = FormId("7a0d9c3e-0000-4000-8000-000000000001")
    link = Link(form_id=form_id, recipient=3, revision=1)

    assert links.verify(links.sign(link)) == link


@pytest.mark.parametrize("token", ["", "A", "AQ==", "x" * 50, "AQE" + "A" * 47, "é" * 50])
def test_forged_token_is_unknown(links: Links, token: str) -> None:
    with pytest.raises(UnknownLinkError):
        links.verify(token)


@pytest.fixture(params=["memory", "plain", "kms"])
def vault(request: pytest.FixtureRequest) -> CredentialVault:
    match request.param:
        case "memory":
            return MemoryVault()
        case "plain":
            return PlainVault()
        case _:
            clients: Clients = request.getfixturevalue("aws")
            client = clients.get("kms")
            return KmsVault(client, client.create_key()["KeyMetadata"]["Arn"])


@pytest.mark.parametrize("plain", [b"{}", b'{"openai_api_key": "k"}', b"x" * 40_960], ids=len)
def test_sealed_credentials_open_for_their_run(vault: CredentialVault, plain: bytes) -> None:
    run_id = RunId("1")

    assert vault.open(run_id, vault.seal(run_id, plain)) == plain


def test_sealed_credentials_open_for_no_other_run(vault: CredentialVault) -> None:
    if isinstance(vault, PlainVault):
        pytest.skip("without a key nothing binds them to their run")
    sealed = vault.seal(RunId("1"), b"{}")

    with pytest.raises(PermanentError):
        vault.open(RunId("2"), sealed)
