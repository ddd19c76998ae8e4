"""Primary keys of all items (DESIGN §3)."""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING

from sayso.ports import Key

if TYPE_CHECKING:
    from sayso.domain.ids import FormId, MemberId, PauseId, RunId, TenantId, UploadId

DUE_SHARDS = 8
"""Shards of the due-index; one key takes 1,000 writes a second (DynamoDB limit)."""

EVENT = "EVENT#"
RECIPIENT = "RECIPIENT#"
AUDIT = "AUDIT#"
UPLOAD = "UPLOAD#"
MEMBER = "MEMBER#"


def run_pk(run_id: RunId) -> str:
    """Return the partition of a run."""
    return f"RUN#{run_id}"


def run_key(run_id: RunId) -> Key:
    """Return the key of the run record."""
    return Key(run_pk(run_id), "RUN")


def request_key(run_id: RunId) -> Key:
    """Return the key of the stored create request."""
    return Key(run_pk(run_id), "REQUEST")


def credential_key(run_id: RunId) -> Key:
    """Return the key of the request's credentials."""
    return Key(run_pk(run_id), "CREDENTIAL")


def pause_key(run_id: RunId, pause_id: PauseId) -> Key:
    """Return the key of a pause."""
    return Key(run_pk(run_id), f"PAUSE#{pause_id}")


def event_sk(number: int) -> str:
    """Return the sort key of an event; twelve digits keep the order."""
    return f"{EVENT}{number:012d}"


def journal_prefix(segment: int) -> str:
    """Return the start of the sort keys of a segment's operations."""
    return f"JOURNAL#{segment:06d}#"


def form_pk(form_id: FormId) -> str:
    """Return the partition of a form."""
    return f"FORM#{form_id}"


def form_key(form_id: FormId) -> Key:
    """Return the key of the form record."""
    return Key(form_pk(form_id), "FORM")


def content_key(form_id: FormId) -> Key:
    """Return the key of the form's content."""
    return Key(form_pk(form_id), "CONTENT")


def recipient_key(form_id: FormId, number: int) -> Key:
    """Return the key of a recipient."""
    return Key(form_pk(form_id), f"{RECIPIENT}{number:03d}")


def upload_key(form_id: FormId, upload_id: UploadId) -> Key:
    """Return the key of an uploaded file's record."""
    return Key(form_pk(form_id), f"{UPLOAD}{upload_id}")


def audit_key(pk: str, number: int) -> Key:
    """Return the key of an audit entry."""
    return Key(pk, f"{AUDIT}{number:06d}")


def member_key(tenant: TenantId, member_id: MemberId) -> Key:
    """Return the key of a member; an id holds no ``#``, so no two tenants share one."""
    return Key(f"{MEMBER}{tenant}#{member_id}", "MEMBER")


def claim_key(tenant: TenantId, idempotency_key: str) -> Key:
    """Return the key under which a tenant's idempotency key is claimed; it may be any text."""
    digest = hashlib.sha256(idempotency_key.encode()).hexdigest()
    return Key(f"IDEM#{tenant}#{digest}", "IDEM")


def shard_of(identity: str) -> int:
    """Return the due-shard of a run or form: spread evenly, the same every time."""
    return zlib.crc32(identity.encode()) % DUE_SHARDS
