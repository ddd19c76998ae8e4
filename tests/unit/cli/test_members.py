"""``sayso members``: the directory of one tenant, changed and shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from sayso_cli.main import FINE, FOUND, USAGE, main
from sayso_cli.stack import Stack
from support.template import TEMPLATE, section

if TYPE_CHECKING:
    from collections.abc import Iterator

PUT = ("members", "put", "priya", "--name", "Priya Nair", "--address", "priya@example.org")


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    names = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode")
    table = section(TEMPLATE, "Resources", "Table", "Properties")
    with mock_aws():
        client = boto3.client("dynamodb", region_name="eu-central-1")
        # A dict of what CloudFormation calls as DynamoDB does.
        client.create_table(TableName="t", **{name: table[name] for name in names})  # type: ignore[arg-type]
        yield Stack(name="sayso", outputs={"TableName": "t"}, region="eu-central-1")


def sayso(stack: Stack, *arguments: str) -> int:
    return main(arguments, lambda *_, **__: stack)


def test_a_member_is_put_shown_and_removed(
    stack: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sayso(stack, *PUT, "--time-zone", "Europe/Berlin", "--group", "finance") == FINE
    capsys.readouterr()

    assert sayso(stack, "members", "list", "--json") == FINE
    (shown,) = json.loads(capsys.readouterr().out)
    assert (shown["id"], shown["groups"], shown["active"]) == ("priya", ["finance"], True)

    assert sayso(stack, "members", "remove", "priya") == FINE
    assert sayso(stack, "members", "remove", "priya") == FOUND
    assert capsys.readouterr().out == "priya removed\nthere is no member priya\n"


def test_putting_again_changes_the_member(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    sayso(stack, *PUT)
    sayso(stack, *PUT, "--inactive")
    capsys.readouterr()

    assert sayso(stack, "members", "list") == FINE
    assert capsys.readouterr().out == (
        f"{'priya':<20}  Priya Nair  <priya@example.org>  inactive\n1 in the directory\n"
    )


def test_each_tenant_has_its_own(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    sayso(stack, *PUT, "--tenant", "other")
    capsys.readouterr()

    sayso(stack, "members", "list")

    assert capsys.readouterr().out == "0 in the directory\n"


@pytest.mark.parametrize("wrong", [("--address", "priya"), ("--time-zone", "Mars/Olympus")])
def test_what_is_no_member_is_said_without_repeating_it(
    stack: Stack, wrong: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert sayso(stack, *PUT, *wrong) == USAGE

    assert "must be" in capsys.readouterr().err


def test_an_id_is_short_and_plain(stack: Stack) -> None:
    assert sayso(stack, "members", "put", "a#b", *PUT[3:]) == USAGE
    assert sayso(stack, "members", "remove", "a#b") == FOUND
