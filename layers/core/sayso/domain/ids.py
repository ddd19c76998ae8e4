"""Typed identifiers, and those that are derived rather than drawn.

A derived id is the same in every attempt, so a worker that dies half-way and its successor write
the same records instead of two sets of them.
"""

from __future__ import annotations

import hashlib
import uuid
from typing import NewType

RunId = NewType("RunId", str)
FormId = NewType("FormId", str)
PauseId = NewType("PauseId", str)
TenantId = NewType("TenantId", str)
AppId = NewType("AppId", str)
MemberId = NewType("MemberId", str)
UploadId = NewType("UploadId", str)

_NAMESPACE = uuid.UUID("6a1f5f0e-5d0c-5c9b-9d5b-0a6c3a5e7b11")


def derive_form_id(run_id: RunId, segment: int, tool_call_id: str, question: int) -> FormId:
    """Return the id of one question: the same for every attempt at the same segment.

    Args:
        run_id: The run that asks.
        segment: Number of the segment that asked, from 1.
        tool_call_id: The model's id of the tool call; some models use the same one every turn.
        question: Position of the call among those of the pause, from 0.
    """
    return FormId(str(uuid.uuid5(_NAMESPACE, f"form/{run_id}/{segment}/{tool_call_id}/{question}")))


def derive_pause_id(run_id: RunId, segment: int) -> PauseId:
    """Return the id of the pause that ends a segment."""
    return PauseId(str(uuid.uuid5(_NAMESPACE, f"pause/{run_id}/{segment}")))


def parse_uuid(text: str) -> uuid.UUID | None:
    """Return the UUID that ``text`` spells in its canonical form, else None."""
    try:
        value = uuid.UUID(text)
    except ValueError:
        return None
    return value if str(value) == text else None


def reference_of(form_id: FormId) -> str:
    """Return the short reference that people may read aloud: not secret, eight characters.

    A digest, not a prefix of the id, so that it says nothing about the id itself.
    """
    alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
    raw = hashlib.sha256(f"reference/{form_id}".encode()).digest()
    letters = "".join(alphabet[byte % len(alphabet)] for byte in raw[:8])
    return f"{letters[:4]}-{letters[4:]}"
