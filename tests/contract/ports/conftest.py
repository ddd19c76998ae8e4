"""Each port in memory and over AWS; the same tests must pass on both.

AWS is moto in this process. It ignores ``ClientRequestToken`` and does not isolate requests from
each other, so that threads prove nothing: tests of these take ``strict_table``. An emulator that
does better joins in when ``CONTRACT_ENDPOINT_URL`` names it (with the usual AWS variables); what
is sent and how answers are read is tested in ``tests/unit/aws``. Smaller deviations: ``DEVIATIONS``.

``double`` is the stand-in of the crash table (``tests/crash/double``) under the AWS adapters: what
that table proves is worth as much as the double is like the service.
"""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

import pytest
from botocore.exceptions import ReadTimeoutError
from moto import mock_aws

from crash.double.cloud import Cloud, DoubleClients
from sayso.aws.clients import Clients
from sayso.aws.table import DynamoTable
from sayso.domain.errors import ServiceUnavailableError
from sayso.testing.clock import FixedClock
from sayso.testing.faults import Faults
from sayso.testing.table import MemoryTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy_boto3_dynamodb import DynamoDBClient

    from sayso.ports import Table

REGION = "eu-west-1"
EMULATOR = "CONTRACT_ENDPOINT_URL"

_REFUSED = "test_what_the_service_would_refuse_is_refused"
_NAMED = "test_name_that_is_none_is_refused"
_COMPARED = "test_write_hands_back_what_stands_there_when_its_condition_fails"
DEVIATIONS = {
    f"{_COMPARED}[moto-Equals(attribute='flag', value=1)]": "compares as Python: True == 1",
    f"{_COMPARED}[moto-Above(attribute='status', value=0)]": "raises TypeError between types",
    f"{_REFUSED}[moto-index key of another type]": "does not check the keys of indexes",
    f"{_REFUSED}[moto-39 digits]": "takes numbers of any length",
    f"{_REFUSED}[moto-text as counter]": "answers with an internal error",
    f"{_REFUSED}[emulator-attribute named twice]": "lets the last one win",
    f"{_NAMED}[moto-too long]": "takes any name",
    f"{_NAMED}[moto-space]": "takes any name",
    f"{_NAMED}[moto-slash]": "takes any name",
    "test_transaction_of_more_than_4_mb_is_refused[moto]": "takes transactions of any size",
    "test_item_just_under_the_limit_is_taken[moto]": "counts the wire format",
}
"""Test → what the double does otherwise than AWS. Strict: a test that passes is noticed."""

_ATTRIBUTES = {
    "pk": "S",
    "sk": "S",
    "due_shard": "N",
    "due_at": "N",
    "listing_key": "S",
    "created_at": "N",
}
_INDEXES = {"due": ("due_shard", "due_at"), "listing": ("listing_key", "created_at")}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Expect the known deviations."""
    for item in items:
        if reason := DEVIATIONS.get(item.name):
            item.add_marker(pytest.mark.xfail(reason=reason))


def make_table(clients: Clients) -> str:
    """Make a table like the template's and return its name."""
    name = f"sayso-{uuid.uuid4()}"
    clients.get("dynamodb").create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": attribute, "AttributeType": "N" if kind == "N" else "S"}
            for attribute, kind in _ATTRIBUTES.items()
        ],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": index,
                "KeySchema": [
                    {"AttributeName": hash_key, "KeyType": "HASH"},
                    {"AttributeName": range_key, "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
            for index, (hash_key, range_key) in _INDEXES.items()
        ],
    )
    return name


@pytest.fixture
def lose_next_answer() -> Callable[[Table], None]:
    """Return what lets the next write of a table land and its answer get lost."""
    return _lose_next_answer


def _lose_next_answer(table: Table) -> None:
    if isinstance(table, DynamoTable):
        _lose_next_answer_of(table._client)
    else:
        assert isinstance(table, LossyTable)
        error = ServiceUnavailableError("the answer was lost")
        table.faults.fail_next(error, moment="after")


def _lose_next_answer_of(client: DynamoDBClient) -> None:
    def lose(**_: object) -> None:
        client.meta.events.unregister("after-call.dynamodb", lose)
        raise ReadTimeoutError(endpoint_url="the table")

    client.meta.events.register("after-call.dynamodb", lose)


class LossyTable(MemoryTable):
    """A table in memory whose faults a test can reach."""

    def __init__(self, clock: FixedClock) -> None:
        self.faults = Faults()
        super().__init__(clock=clock, faults=self.faults)


@pytest.fixture(scope="session")
def moto_clients() -> Clients:
    """Clients for moto: making them is slow, moto forgets everything between tests anyway."""
    return Clients(REGION)


@pytest.fixture
def aws(moto_clients: Clients) -> Iterator[Clients]:
    """AWS in this process, empty."""
    with mock_aws():
        yield moto_clients


@pytest.fixture
def clock() -> FixedClock:
    """A clock that stands still."""
    return FixedClock()


@pytest.fixture(scope="session")
def double_clients() -> DoubleClients:
    """Clients of the double; making them is slow."""
    return DoubleClients()


@pytest.fixture
def double(double_clients: DoubleClients, clock: FixedClock) -> Cloud:
    """Return the services of the crash table, empty, behind their clients."""
    double_clients.cloud = Cloud(clock)
    return double_clients.cloud


@pytest.fixture
def double_table(double: Cloud, double_clients: DoubleClients) -> DynamoTable:
    """Return an empty table in the double."""
    assert double is double_clients.cloud
    return DynamoTable(double_clients.get("dynamodb"), "sayso")


def _tables() -> list[str]:
    return ["memory", "moto", "double", *(["emulator"] if EMULATOR in os.environ else [])]


@pytest.fixture
def dynamo_table(aws: Clients) -> DynamoTable:
    """Return an empty table in moto."""
    return DynamoTable(aws.get("dynamodb"), make_table(aws))


@pytest.fixture(params=_tables())
def table(request: pytest.FixtureRequest, clock: FixedClock) -> Table:
    """Return an empty table of each kind."""
    match request.param:
        case "memory":
            return LossyTable(clock)
        case "moto":
            dynamo_table: Table = request.getfixturevalue("dynamo_table")
            return dynamo_table
        case "double":
            double_table: Table = request.getfixturevalue("double_table")
            return double_table
        case _:
            return _emulated_table(request)


@pytest.fixture(params=[kind for kind in _tables() if kind != "moto"])
def strict_table(request: pytest.FixtureRequest, clock: FixedClock) -> Table:
    """Return an empty table of each kind that isolates requests and honours attempt ids."""
    if request.param == "double":
        double_table: Table = request.getfixturevalue("double_table")
        return double_table
    return MemoryTable(clock=clock) if request.param == "memory" else _emulated_table(request)


def _emulated_table(request: pytest.FixtureRequest) -> Table:
    patch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    patch.setenv("AWS_ENDPOINT_URL", os.environ[EMULATOR])
    clients = Clients(REGION)
    return DynamoTable(clients.get("dynamodb"), make_table(clients))
