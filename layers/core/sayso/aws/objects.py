"""Write-once objects in S3. Encryption and versions are the bucket's own settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from sayso.aws.errors import code_of, to_domain, translated
from sayso.domain.errors import PermanentError, ServiceUnavailableError, ThrottledError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ObjectIdentifierTypeDef


_TRIES = 4
"""Puts of one object; each takes a round trip, in which the other put ends."""


class S3ObjectStore:
    """An ``ObjectStore`` in one bucket."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        """Take the client and the name of the bucket."""
        self._client = client
        self._bucket = bucket

    def put_once(self, key: str, data: bytes) -> None:
        """Store bytes; where an object stands already, it is the same one and that is success.

        Source: S3 user guide, "conditional writes": 412 when the key exists, 409 while another
        put of it is under way, whose outcome is still open.
        """
        for _ in range(_TRIES):
            try:
                self._client.put_object(Bucket=self._bucket, Key=key, Body=data, IfNoneMatch="*")
            except (ClientError, BotoCoreError) as error:
                if _is(error, "PreconditionFailed"):
                    return
                if not _is(error, "ConditionalRequestConflict"):
                    raise to_domain(error) from error
            else:
                return
        message = "another put of the same object kept being under way"
        raise ThrottledError(message)

    def get(self, key: str) -> bytes | None:
        """Return the bytes, or None."""
        try:
            return self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        except (ClientError, BotoCoreError) as error:
            if _is(error, "NoSuchKey"):
                return None
            raise to_domain(error) from error

    def delete_prefix(self, prefix: str) -> None:
        """Delete all versions and delete markers below a prefix, a page of 1,000 at a time."""
        if not prefix:
            message = "an empty prefix would delete the whole bucket, expected one of a run"
            raise PermanentError(message)
        pages = self._client.get_paginator("list_object_versions")
        with translated():
            for page in pages.paginate(Bucket=self._bucket, Prefix=prefix):
                found = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
                self._delete([{"Key": one["Key"], "VersionId": one["VersionId"]} for one in found])

    def _delete(self, objects: list[ObjectIdentifierTypeDef]) -> None:
        if not objects:
            return
        answer = self._client.delete_objects(
            Bucket=self._bucket, Delete={"Objects": objects, "Quiet": True}
        )
        if errors := answer.get("Errors"):
            message = f"{len(errors)} objects were not deleted: {errors[0].get('Code')!r}"
            raise ServiceUnavailableError(message)


def _is(error: ClientError | BotoCoreError, code: str) -> bool:
    return isinstance(error, ClientError) and code_of(error) == code
