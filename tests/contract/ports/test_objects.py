"""What every object store promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sayso.aws.objects import S3ObjectStore
from sayso.domain.errors import PermanentError
from sayso.testing.objects import MemoryObjectStore

if TYPE_CHECKING:
    from sayso.aws.clients import Clients
    from sayso.ports import ObjectStore

BUCKET = "sayso-contract"


@pytest.fixture(params=["memory", "moto", "double"])
def objects(request: pytest.FixtureRequest) -> ObjectStore:
    if request.param == "memory":
        return MemoryObjectStore()
    if request.param == "double":
        request.getfixturevalue("double")
        doubles: Clients = request.getfixturevalue("double_clients")
        return S3ObjectStore(doubles.get("s3"), BUCKET)
    clients: Clients = request.getfixturevalue("aws")
    client = clients.get("s3")
    client.create_bucket(
        Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
    )
    client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    return S3ObjectStore(client, BUCKET)


@pytest.mark.parametrize("data", [b"", b"\x00\xff", b"x" * 1_000_000], ids=len)
def test_bytes_come_back(objects: ObjectStore, data: bytes) -> None:
    objects.put_once("runs/t/1/a", data)

    assert objects.get("runs/t/1/a") == data


def test_missing_object_is_none(objects: ObjectStore) -> None:
    assert objects.get("runs/t/1/a") is None


def test_second_put_is_success_and_changes_nothing(objects: ObjectStore) -> None:
    objects.put_once("runs/t/1/a", b"first")

    objects.put_once("runs/t/1/a", b"second")

    assert objects.get("runs/t/1/a") == b"first"


def test_prefix_takes_its_objects_and_no_others(objects: ObjectStore) -> None:
    for key in ("runs/t/1/a", "runs/t/1/b/c", "runs/t/12/a"):
        objects.put_once(key, b"x")

    objects.delete_prefix("runs/t/1/")

    assert objects.get("runs/t/1/a") is None
    assert objects.get("runs/t/1/b/c") is None
    assert objects.get("runs/t/12/a") == b"x"


def test_deleting_nothing_and_twice_is_success(objects: ObjectStore) -> None:
    objects.delete_prefix("runs/t/1/")
    objects.put_once("runs/t/1/a", b"x")
    objects.delete_prefix("runs/t/1/")

    objects.delete_prefix("runs/t/1/")

    assert objects.get("runs/t/1/a") is None


def test_deleted_object_can_be_put_again(objects: ObjectStore) -> None:
    objects.put_once("runs/t/1/a", b"first")
    objects.delete_prefix("runs/t/1/")

    objects.put_once("runs/t/1/a", b"second")

    assert objects.get("runs/t/1/a") == b"second"


def test_empty_prefix_is_refused(objects: ObjectStore) -> None:
    with pytest.raises(PermanentError, match="empty prefix"):
        objects.delete_prefix("")
