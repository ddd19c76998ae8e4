"""Forms, their content and recipients as items."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sayso.domain.fields import INPUT_TYPES, FileLimits, Option, VariableSource
from sayso.domain.form import (
    Action,
    Actor,
    ButtonStyle,
    ContentBlock,
    Decision,
    DeliveryState,
    FieldBlock,
    Form,
    FormContent,
    FormDefinition,
    FormKind,
    HtmlBlock,
    Recipient,
    RecipientType,
)
from sayso.domain.ids import AppId, FormId, PauseId, RunId, TenantId
from sayso.domain.transitions import FormStatus
from sayso.store.codec import (
    digest_of,
    from_ms,
    optional_instant,
    optional_ms,
    pack,
    refuses_unknown_formats,
    to_json,
    to_ms,
    unpack,
    without_none,
)
from sayso.store.keys import RECIPIENT, content_key, form_key, recipient_key, shard_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.fields import FormInput
    from sayso.ports import Item


def form_item(form: Form) -> Item:
    """Return the whole item of a form."""
    key = form_key(form.id)
    return without_none(
        {
            "pk": key.pk,
            "sk": key.sk,
            "listing_key": f"{form.tenant}#form",
            "created_at": to_ms(form.created_at),
            "run_id": form.run_id,
            "pause_id": form.pause_id,
            "segment": form.segment,
            "tool_call_id": form.tool_call_id,
            "tool_name": form.tool_name,
            "tenant": form.tenant,
            "app": form.app,
            "content_digest": form.content_digest,
            "kind": form.kind,
            **form_changes(form),
        }
    )


def form_changes(form: Form) -> dict[str, Any]:
    """Return the attributes that change during a form's life; None where there is none."""
    decision = form.decision
    return {
        "status": form.status,
        "deadline": to_ms(form.deadline),
        "decision": None if decision is None else to_json(_decision_document(decision)),
        "ended_at": optional_ms(form.ended_at),
        "end_note": form.end_note,
        "audits": form.audits,
        "audit_digest": form.audit_digest,
        "tells": form.tells,
        "due_at": optional_ms(form.due_at),
        "due_shard": None if form.due_at is None else shard_of(form.id),
    }


@refuses_unknown_formats
def form_from_item(item: Mapping[str, Any]) -> Form:
    """Return the form of an item."""
    decision = item.get("decision")
    return Form(
        id=FormId(str(item["pk"]).removeprefix("FORM#")),
        run_id=RunId(item["run_id"]),
        pause_id=PauseId(item["pause_id"]),
        segment=item["segment"],
        tool_call_id=item["tool_call_id"],
        tool_name=item["tool_name"],
        tenant=TenantId(item["tenant"]),
        app=AppId(item["app"]),
        status=FormStatus(item["status"]),
        created_at=from_ms(item["created_at"]),
        deadline=from_ms(item["deadline"]),
        content_digest=item["content_digest"],
        decision=_decision(json.loads(decision)) if decision else None,
        ended_at=optional_instant(item.get("ended_at")),
        end_note=item.get("end_note"),
        audits=item["audits"],
        audit_digest=item["audit_digest"],
        tells=item["tells"],
        due_at=optional_instant(item.get("due_at")),
        kind=FormKind(item.get("kind", FormKind.RUNTIME)),
    )


def content_item(form_id: FormId, content: FormContent) -> Item:
    """Return the item of a form's content."""
    key = content_key(form_id)
    document = asdict(content)
    return {"pk": key.pk, "sk": key.sk, "document": pack(document)}


@refuses_unknown_formats
def content_from_item(item: Mapping[str, Any]) -> FormContent:
    """Return the content of an item."""
    document = unpack(item["document"])
    return FormContent(
        **{
            **document,
            "definition": _definition(document["definition"]),
            "blocks": tuple(_block(block) for block in document["blocks"]),
            "warnings": tuple(document.get("warnings", ())),
            "unknown_members": tuple(document.get("unknown_members", ())),
        }
    )


def definition_digest(definition: FormDefinition) -> str:
    """Return what identifies exactly this question, content and choice of answers (I5)."""
    return digest_of(to_json(asdict(definition)).encode())


def recipient_item(form_id: FormId, recipient: Recipient, ttl: int) -> Item:
    """Return the item of a recipient."""
    key = recipient_key(form_id, recipient.number)
    return without_none(
        {
            "pk": key.pk,
            "sk": key.sk,
            "type": recipient.type,
            "revision": recipient.revision,
            "address": recipient.address,
            "name": recipient.name,
            "member": recipient.member or None,
            "time_zone": recipient.time_zone or None,
            "state": recipient.state,
            "attempts": recipient.attempts,
            "claimed_at": optional_ms(recipient.claimed_at),
            "message_id": recipient.message_id,
            "ttl": ttl,
        }
    )


@refuses_unknown_formats
def recipient_from_item(item: Mapping[str, Any]) -> Recipient:
    """Return the recipient of an item."""
    return Recipient(
        number=int(str(item["sk"]).removeprefix(RECIPIENT)),
        type=RecipientType(item["type"]),
        revision=item["revision"],
        address=item["address"],
        name=item["name"],
        member=item.get("member", ""),
        time_zone=item.get("time_zone", ""),
        state=DeliveryState(item["state"]),
        attempts=item["attempts"],
        claimed_at=optional_instant(item.get("claimed_at")),
        message_id=item["message_id"],
    )


def _decision_document(decision: Decision) -> dict[str, Any]:
    return asdict(decision) | {"decided_at": to_ms(decision.decided_at)}


def _decision(document: dict[str, Any]) -> Decision:
    actor = Actor(**document["actor"])
    decided_at = from_ms(document["decided_at"])
    return Decision(**{**document, "actor": actor, "decided_at": decided_at})


def _definition(document: dict[str, Any]) -> FormDefinition:
    actions = tuple(_action(one) for one in document["actions"])
    inputs = tuple(_input(one) for one in document["inputs"])
    return FormDefinition(**{**document, "inputs": inputs, "actions": actions})


def _action(document: dict[str, Any]) -> Action:
    requires = document.get("requires")
    return Action(
        **{
            **document,
            "style": ButtonStyle(document["style"]),
            "requires": None if requires is None else tuple(requires),
        }
    )


def _input(document: dict[str, Any]) -> FormInput:
    """Return a field: its members are its own, but JSON knows neither tuples nor our classes."""
    members = dict(document)
    if "options" in members:
        members["options"] = tuple(Option(**one) for one in members["options"])
    if source := members.get("source"):
        members["source"] = VariableSource(**source | {"selector": tuple(source["selector"])})
    if "limits" in members:
        limits = {name: tuple(values) for name, values in members["limits"].items()}
        members["limits"] = FileLimits(**limits)
    if isinstance(members.get("default"), list):
        members["default"] = tuple(members["default"])
    return INPUT_TYPES[members["kind"]](**members)


def _block(document: dict[str, Any]) -> ContentBlock:
    return FieldBlock(**document) if document["kind"] == "field" else HtmlBlock(**document)
