"""The run record, its pauses, events and operations as items."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sayso.domain.ids import AppId, FormId, PauseId, RunId, TenantId
from sayso.domain.run import (
    Audience,
    CancelIntent,
    Face,
    Lease,
    ObjectRef,
    Pause,
    PauseReason,
    Run,
)
from sayso.domain.segment import Operation, OperationKind, OperationRecord
from sayso.domain.transitions import RunStatus
from sayso.store.codec import (
    from_ms,
    optional_instant,
    optional_ms,
    refuses_unknown_formats,
    to_json,
    to_ms,
    unpack,
    without_none,
)
from sayso.store.keys import pause_key, run_key, shard_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.ports import Item


def run_item(run: Run) -> Item:
    """Return the whole item of a run."""
    key = run_key(run.id)
    return without_none(
        {
            "pk": key.pk,
            "sk": key.sk,
            "listing_key": f"{run.tenant}#run",
            "created_at": to_ms(run.created_at),
            "tenant": run.tenant,
            "app": run.app,
            "face": run.face,
            "deadline": to_ms(run.deadline),
            "base_url": run.base_url,
            "title": run.title,
            "asked_by": run.asked_by,
            "trace_id": run.trace_id,
            "invoke_from": run.invoke_from,
            "acting_user": run.acting_user or None,
            "request": _ref_text(run.request),
            "not_before": optional_ms(run.not_before),
            "segment": run.segment,
            "epoch": run.epoch,
            "deaths": run.deaths,
            **run_changes(run),
        }
    )


def run_changes(run: Run) -> dict[str, Any]:
    """Return the attributes that change during a run's life; None where there is none.

    Not among them: lease, epoch, deaths and segment, which the lease's own writes move.
    """
    return {
        "status": run.status,
        "updated_at": to_ms(run.updated_at),
        "last_event": run.last_event,
        "audits": run.audits,
        "questions": run.questions,
        "mails": run.mails,
        "cancel": None if run.cancel is None else to_json(asdict(run.cancel)),
        "pause_id": run.pause_id,
        "snapshot": _ref_text(run.snapshot),
        "error": run.error,
        "reason": run.reason,
        "error_type": run.error_type,
        "active_ms": run.active_ms,
        "refusal": run.refusal,
        "tells": run.tells,
        "due_at": optional_ms(run.due_at),
        "due_shard": None if run.due_at is None else shard_of(run.id),
    }


@refuses_unknown_formats
def run_from_item(item: Mapping[str, Any]) -> Run:
    """Return the run of an item."""
    cancel = item.get("cancel")
    return Run(
        id=RunId(str(item["pk"]).removeprefix("RUN#")),
        tenant=TenantId(item["tenant"]),
        app=AppId(item["app"]),
        face=Face(item["face"]),
        status=RunStatus(item["status"]),
        created_at=from_ms(item["created_at"]),
        updated_at=from_ms(item["updated_at"]),
        deadline=from_ms(item["deadline"]),
        base_url=item["base_url"],
        title=item["title"],
        asked_by=item["asked_by"],
        trace_id=item["trace_id"],
        invoke_from=item.get("invoke_from", ""),
        acting_user=item.get("acting_user", ""),
        segment=item["segment"],
        epoch=item["epoch"],
        lease=_lease(item),
        deaths=item["deaths"],
        last_event=item["last_event"],
        audits=item["audits"],
        questions=item["questions"],
        mails=item.get("mails", 0),
        cancel=CancelIntent(**json.loads(cancel)) if cancel else None,
        pause_id=PauseId(item["pause_id"]) if "pause_id" in item else None,
        snapshot=_ref(item.get("snapshot")),
        request=_ref(item.get("request")),
        error=item.get("error"),
        reason=item.get("reason"),
        error_type=item.get("error_type"),
        active_ms=item.get("active_ms", 0),
        refusal=item.get("refusal"),
        not_before=optional_instant(item.get("not_before")),
        tells=item["tells"],
        due_at=optional_instant(item.get("due_at")),
    )


def pause_item(run: Run, pause: Pause, ttl: int) -> Item:
    """Return the item of a pause."""
    key = pause_key(run.id, pause.id)
    return without_none(
        {
            "pk": key.pk,
            "sk": key.sk,
            "reason": pause.reason,
            "created_at": to_ms(pause.created_at),
            "snapshot": _ref_text(pause.snapshot),
            "forms": json.dumps(list(pause.forms.items())),
            "resumed_at": optional_ms(pause.resumed_at),
            "ttl": ttl,
        }
    )


@refuses_unknown_formats
def pause_from_item(item: Mapping[str, Any]) -> Pause:
    """Return the pause of an item."""
    forms = {call: FormId(form) for call, form in json.loads(item["forms"])}
    return Pause(
        id=PauseId(str(item["sk"]).removeprefix("PAUSE#")),
        reason=PauseReason(item["reason"]),
        created_at=from_ms(item["created_at"]),
        snapshot=_ref(item.get("snapshot")),
        forms=forms,
        resumed_at=optional_instant(item.get("resumed_at")),
    )


@refuses_unknown_formats
def record_from_item(item: Mapping[str, Any], outcome: Any) -> OperationRecord:
    """Return the operation record of an item whose outcome has been unpacked."""
    operation = Operation(
        kind=OperationKind(item["kind"]),
        name=item["name"],
        tool_call_id=item["tool_call_id"],
        occurrence=item["occurrence"],
        digest=item["digest"],
    )
    return OperationRecord(
        operation=operation,
        starts=item["starts"],
        outcome=outcome,
        shown=tuple(json.loads(item.get("shown", "[]"))),
        version=item["version"],
    )


def audience_of(item: Mapping[str, Any]) -> Audience:
    """Return who may see the event of an item."""
    return Audience(item.get("audience", Audience.ALL))


def unpack_optional(data: bytes | None) -> Any | None:
    """Return what was packed, or None."""
    return None if data is None else unpack(data)


def _lease(item: Mapping[str, Any]) -> Lease | None:
    if "lease_owner" not in item:
        return None
    return Lease(owner=item["lease_owner"], until=from_ms(item["lease_until"]))


def _ref_text(ref: ObjectRef | None) -> str | None:
    return None if ref is None else f"{ref.digest} {ref.key}"


def _ref(text: str | None) -> ObjectRef | None:
    if not text:
        return None
    digest, _, key = text.partition(" ")
    return ObjectRef(key=key, digest=digest)
