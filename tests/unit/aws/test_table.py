"""What the DynamoDB table sends, and how it reads answers that no double gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from botocore.stub import ANY

from sayso.aws.batches import BatchReader, BatchWriter
from sayso.aws.table import DynamoTable
from sayso.domain.errors import (
    AppError,
    ConditionFailedError,
    PermanentError,
    ServiceUnavailableError,
    ThrottledError,
)
from sayso.ports import Check, Exists, Key, Put, Update

if TYPE_CHECKING:
    from collections.abc import Callable

    from botocore.client import BaseClient
    from botocore.stub import Stubber

    from sayso.aws.clients import Clients
    from sayso.ports import Write

KEY = Key("RUN#1", "RUN")
WIRE_KEY = {"pk": {"S": "RUN#1"}, "sk": {"S": "RUN"}}
WRITES: list[Write] = [
    Update(key=KEY, add={"n": 1}),
    Check(key=Key("RUN#2", "RUN"), when=(Exists("pk"),)),
]


@pytest.fixture
def dynamodb(clients: Clients, stub: Callable[[BaseClient], Stubber]) -> Stubber:
    return stub(clients.get("dynamodb"))


@pytest.fixture
def table(clients: Clients) -> DynamoTable:
    return DynamoTable(clients.get("dynamodb"), "sayso")


def test_reads_are_strongly_consistent(table: DynamoTable, dynamodb: Stubber) -> None:
    dynamodb.add_response(
        "get_item", {}, {"TableName": "sayso", "Key": WIRE_KEY, "ConsistentRead": True}
    )
    dynamodb.add_response(
        "query",
        {"Items": []},
        {
            "TableName": "sayso",
            "KeyConditionExpression": "pk = :pk AND begins_with(sk, :prefix)",
            "ExpressionAttributeValues": {":pk": {"S": "RUN#1"}, ":prefix": {"S": "EVENT#"}},
            "ConsistentRead": True,
            "ScanIndexForward": True,
        },
    )

    assert table.get(KEY) is None
    assert table.query("RUN#1", prefix="EVENT#") == []


def test_pages_are_followed_up_to_the_limit(table: DynamoTable, dynamodb: Stubber) -> None:
    item = {**WIRE_KEY, "n": {"N": "1"}}
    common = {
        "TableName": "sayso",
        "KeyConditionExpression": ANY,
        "ExpressionAttributeValues": ANY,
        "ConsistentRead": True,
        "ScanIndexForward": True,
    }
    dynamodb.add_response(
        "query", {"Items": [item, item], "LastEvaluatedKey": WIRE_KEY}, {**common, "Limit": 3}
    )
    dynamodb.add_response(
        "query",
        {"Items": [item], "LastEvaluatedKey": WIRE_KEY},
        {**common, "Limit": 1, "ExclusiveStartKey": WIRE_KEY},
    )

    assert table.query("RUN#1", limit=3) == [{"pk": "RUN#1", "sk": "RUN", "n": 1}] * 3


def test_attempt_becomes_the_same_token_each_time(table: DynamoTable, dynamodb: Stubber) -> None:
    seen: list[str] = []

    def remember(params: dict[str, Any], **_: object) -> None:
        seen.append(params["ClientRequestToken"])

    events = dynamodb.client.meta.events
    events.register("provide-client-params.dynamodb.TransactWriteItems", remember)
    for _ in range(3):
        dynamodb.add_response("transact_write_items", {})
    for attempt in ("one attempt", "one attempt", "another attempt of a longer name than 36"):
        table.transact(WRITES, attempt=attempt)
    events.unregister("provide-client-params.dynamodb.TransactWriteItems", remember)

    assert seen[0] == seen[1] != seen[2]
    assert {len(token) for token in seen} == {36}


def test_failed_transaction_hands_back_items_in_order(
    table: DynamoTable, dynamodb: Stubber
) -> None:
    reasons: list[dict[str, Any]] = [
        {"Code": "ConditionalCheckFailed", "Item": {**WIRE_KEY, "attempt": {"S": "mine"}}},
        {"Code": "None"},
        {"Code": "ConditionalCheckFailed"},
        {"Code": "TransactionConflict"},
    ]
    _cancel(dynamodb, reasons)

    with pytest.raises(ConditionFailedError) as failure:
        table.transact(WRITES, attempt="a")

    first = {"pk": "RUN#1", "sk": "RUN", "attempt": "mine"}
    assert failure.value.items == (first, None, None, None)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("TransactionConflict", ThrottledError),
        ("ThrottlingError", ThrottledError),
        ("ProvisionedThroughputExceeded", ThrottledError),
        ("ValidationError", PermanentError),
        ("ItemCollectionSizeLimitExceeded", PermanentError),
    ],
)
def test_reason_of_a_cancelled_transaction_says_who_acts(
    table: DynamoTable, dynamodb: Stubber, code: str, kind: type[AppError]
) -> None:
    _cancel(dynamodb, [{"Code": "None"}, {"Code": code}])

    with pytest.raises(kind, match=code):
        table.transact(WRITES, attempt="a")


def _cancel(dynamodb: Stubber, reasons: list[dict[str, Any]]) -> None:
    dynamodb.add_client_error(
        "transact_write_items",
        "TransactionCanceledException",
        modeled_fields={"CancellationReasons": reasons},
    )


def test_failed_write_hands_back_the_item(table: DynamoTable, dynamodb: Stubber) -> None:
    dynamodb.add_client_error(
        "put_item",
        "ConditionalCheckFailedException",
        modeled_fields={"Item": {**WIRE_KEY, "n": {"N": "7"}}},
        expected_params={
            "TableName": "sayso",
            "Item": {**WIRE_KEY, "attempt": {"S": "a"}},
            "ConditionExpression": "attribute_exists(#n0)",
            "ExpressionAttributeNames": {"#n0": "n"},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
    )

    with pytest.raises(ConditionFailedError) as failure:
        table.write(Put(item={"pk": "RUN#1", "sk": "RUN"}, when=(Exists("n"),)), attempt="a")

    assert failure.value.items == ({"pk": "RUN#1", "sk": "RUN", "n": 7},)


@pytest.mark.parametrize(
    ("code", "kind"),
    [("ThrottlingException", ThrottledError), ("InternalServerError", ServiceUnavailableError)],
)
def test_no_botocore_error_leaves_the_adapter(
    table: DynamoTable, dynamodb: Stubber, code: str, kind: type[AppError]
) -> None:
    operations = ["get_item", "put_item", "transact_write_items", "batch_write_item", "query"]
    for operation in operations:
        dynamodb.add_client_error(operation, code)
    put = Put(item={"pk": "RUN#1", "sk": "RUN"})

    calls: list[Callable[[], object]] = [
        lambda: table.get(KEY),
        lambda: table.write(put, attempt="a"),
        lambda: table.transact(WRITES, attempt="a"),
        lambda: table.delete_many([KEY]),
        lambda: table.due(1, until=1, limit=1),
    ]
    for call in calls:
        with pytest.raises(kind):
            call()


def test_unprocessed_items_are_written_again_after_a_wait(
    clients: Clients, dynamodb: Stubber
) -> None:
    waits: list[float] = []
    writer = BatchWriter(clients.get("dynamodb"), "sayso", wait=waits.append)
    requests = [{"PutRequest": {"Item": {"pk": {"S": str(n)}, "sk": {"S": "x"}}}} for n in range(3)]
    for undone, sent in [(requests[1:], requests), ([], requests[1:])]:
        dynamodb.add_response(
            "batch_write_item",
            {"UnprocessedItems": {"sayso": undone} if undone else {}},
            {"RequestItems": {"sayso": sent}},
        )

    writer.write(requests)  # type: ignore[arg-type]  # plain dicts, as they are on the wire

    assert len(waits) == 1
    assert 0 <= waits[0] <= 0.1


def test_items_that_stay_unprocessed_are_throttled(clients: Clients, dynamodb: Stubber) -> None:
    waits: list[float] = []
    writer = BatchWriter(clients.get("dynamodb"), "sayso", wait=waits.append)
    request = {"DeleteRequest": {"Key": WIRE_KEY}}
    for _ in range(8):
        dynamodb.add_response("batch_write_item", {"UnprocessedItems": {"sayso": [request]}})

    with pytest.raises(ThrottledError, match="some writes"):
        writer.write([request])  # type: ignore[list-item]  # plain dicts, as they are on the wire

    assert len(waits) == 7


def test_keys_that_were_left_out_are_read_again(clients: Clients, dynamodb: Stubber) -> None:
    waits: list[float] = []
    reader = BatchReader(clients.get("dynamodb"), "sayso", wait=waits.append)
    other = {"pk": {"S": "RUN#1"}, "sk": {"S": "CREDENTIAL"}}
    both = {"Keys": [WIRE_KEY, other], "ConsistentRead": True}
    rest = {"Keys": [other], "ConsistentRead": True}
    dynamodb.add_response(
        "batch_get_item",
        {"Responses": {"sayso": [WIRE_KEY]}, "UnprocessedKeys": {"sayso": rest}},
        {"RequestItems": {"sayso": both}},
    )
    dynamodb.add_response(
        "batch_get_item",
        {"Responses": {"sayso": [other]}, "UnprocessedKeys": {}},
        {"RequestItems": {"sayso": rest}},
    )

    found = reader.read([KEY, Key("RUN#1", "CREDENTIAL")])

    assert found == [{"pk": "RUN#1", "sk": "RUN"}, {"pk": "RUN#1", "sk": "CREDENTIAL"}]
    assert len(waits) == 1
