"""How the object store reads the answers of S3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sayso.aws.objects import S3ObjectStore
from sayso.domain.errors import ServiceUnavailableError, ThrottledError

if TYPE_CHECKING:
    from collections.abc import Callable

    from botocore.client import BaseClient
    from botocore.stub import Stubber

    from sayso.aws.clients import Clients


@pytest.fixture
def s3(clients: Clients, stub: Callable[[BaseClient], Stubber]) -> Stubber:
    return stub(clients.get("s3"))


@pytest.fixture
def objects(clients: Clients) -> S3ObjectStore:
    return S3ObjectStore(clients.get("s3"), "bucket")


def test_object_is_put_only_where_none_is(objects: S3ObjectStore, s3: Stubber) -> None:
    expected = {"Bucket": "bucket", "Key": "k", "Body": b"x", "IfNoneMatch": "*"}
    s3.add_response("put_object", {}, expected)

    objects.put_once("k", b"x")


def test_put_that_meets_another_on_its_way_is_tried_again(
    objects: S3ObjectStore, s3: Stubber
) -> None:
    s3.add_client_error("put_object", "ConditionalRequestConflict", http_status_code=409)
    s3.add_client_error("put_object", "PreconditionFailed", http_status_code=412)

    objects.put_once("k", b"x")


def test_put_that_keeps_meeting_another_is_given_back(objects: S3ObjectStore, s3: Stubber) -> None:
    for _ in range(4):
        s3.add_client_error("put_object", "ConditionalRequestConflict", http_status_code=409)

    with pytest.raises(ThrottledError):
        objects.put_once("k", b"x")


def test_all_pages_of_versions_and_markers_are_deleted(objects: S3ObjectStore, s3: Stubber) -> None:
    pages = [
        {
            "Versions": [{"Key": "p/a", "VersionId": "1"}],
            "IsTruncated": True,
            "NextKeyMarker": "p/a",
            "NextVersionIdMarker": "1",
        },
        {"DeleteMarkers": [{"Key": "p/b", "VersionId": "2"}], "IsTruncated": False},
    ]
    for page, (key, version) in zip(pages, [("p/a", "1"), ("p/b", "2")], strict=True):
        s3.add_response("list_object_versions", page)
        delete = {"Objects": [{"Key": key, "VersionId": version}], "Quiet": True}
        s3.add_response("delete_objects", {}, {"Bucket": "bucket", "Delete": delete})

    objects.delete_prefix("p/")


def test_object_that_stays_is_an_error(objects: S3ObjectStore, s3: Stubber) -> None:
    s3.add_response("list_object_versions", {"Versions": [{"Key": "p/a", "VersionId": "1"}]})
    s3.add_response("delete_objects", {"Errors": [{"Key": "p/a", "Code": "InternalError"}]})

    with pytest.raises(ServiceUnavailableError, match="InternalError"):
        objects.delete_prefix("p/")


def test_forbidden_object_is_not_taken_for_a_missing_one(
    objects: S3ObjectStore, s3: Stubber
) -> None:
    s3.add_client_error("get_object", "AccessDenied", http_status_code=403)

    with pytest.raises(ServiceUnavailableError):
        objects.get("k")
