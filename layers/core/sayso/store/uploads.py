"""Files of people: the bytes in the bucket, a record beside the form they were sent for.

Bytes first: a record never points at nothing. Bytes without a record are deleted with the form, as
everything below its prefix is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.errors import ConditionFailedError, FormClosedError
from sayso.domain.ids import UploadId
from sayso.domain.transitions import FormStatus
from sayso.domain.uploads import Upload
from sayso.ports import Above, Check, Equals, Put
from sayso.store.codec import from_ms, to_ms
from sayso.store.keys import UPLOAD, form_key, upload_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sayso.domain.form import Form
    from sayso.domain.ids import FormId, TenantId
    from sayso.ports import Item, ObjectStore, Write
    from sayso.store.commit import Committer


class UploadStore:
    """Uploads in table and bucket."""

    def __init__(self, committer: Committer, objects: ObjectStore) -> None:
        """Take what writes."""
        self._committer = committer
        self._objects = objects

    def add(self, form: Form, upload: Upload, data: bytes, *, ttl: int) -> None:
        """Store a file, if its form still waits. The same file again changes nothing.

        Raises:
            FormClosedError: The form was decided, or its time is over.
        """
        self._objects.put_once(object_key(form.tenant, form.id, upload.id), data)
        when = (
            Equals("status", FormStatus.WAITING),
            Above("deadline", to_ms(upload.created_at)),
        )
        writes: list[Write] = [
            Put(item=_item(form, upload, ttl)),
            Check(key=form_key(form.id), when=when),
        ]
        try:
            self._committer.transact(writes)
        except ConditionFailedError as error:
            now = (error.first or {}).get("status", form.status)
            status = FormStatus.TIMEOUT if now == FormStatus.WAITING else FormStatus(now)
            raise FormClosedError(form.id, status) from error

    def delete_all(self, tenant: TenantId, form_id: FormId) -> None:
        """Delete the bytes of all files of a form, used or not."""
        self._objects.delete_prefix(_prefix(tenant, form_id))


def uploads_in(items: Sequence[Item]) -> Mapping[str, Upload]:
    """Return the uploads among the items of a form, by id."""
    found = (_from_item(item) for item in items if str(item["sk"]).startswith(UPLOAD))
    return {one.id: one for one in found}


def object_key(tenant: TenantId, form_id: FormId, upload_id: UploadId) -> str:
    """Return where the bytes of a file are; nothing that a person wrote is part of it."""
    return f"{_prefix(tenant, form_id)}{upload_id}"


def _prefix(tenant: TenantId, form_id: FormId) -> str:
    return f"uploads/{tenant}/{form_id}/"


def _item(form: Form, upload: Upload, ttl: int) -> Item:
    key = upload_key(form.id, upload.id)
    return {
        "pk": key.pk,
        "sk": key.sk,
        "name": upload.name,
        "size_bytes": upload.size_bytes,
        "mime_type": upload.mime_type,
        "extension": upload.extension,
        "kind": upload.kind,
        "digest": upload.digest,
        "uploaded_at": to_ms(upload.created_at),
        "recipient": upload.recipient,
        "object": object_key(form.tenant, form.id, upload.id),
        "ttl": ttl,
    }


def _from_item(item: Mapping[str, object]) -> Upload:
    members = dict(item)
    return Upload(
        id=UploadId(str(members["sk"]).removeprefix(UPLOAD)),
        created_at=from_ms(int(str(members["uploaded_at"]))),
        **{name: members[name] for name in _SAME},  # type: ignore[arg-type]  # as ``_item`` wrote
    )


_SAME = ("name", "size_bytes", "mime_type", "extension", "kind", "digest", "recipient")
"""Members whose attribute is called alike."""
