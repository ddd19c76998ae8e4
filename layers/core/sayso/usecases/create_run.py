"""Start a run: store it, queue its first segment. No model is called here (DESIGN decision 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sayso.domain.errors import FieldIssue, ValidationError
from sayso.domain.policy import EmailMethod, HumanInputPolicy
from sayso.domain.requests import METADATA_POLICY
from sayso.domain.run import EventDraft, Face, Run
from sayso.domain.transitions import RunStatus
from sayso.store.runs import UNTOLD_AFTER
from sayso.usecases.context import tell

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from sayso.domain.access import ApiKey
    from sayso.usecases.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateRun:
    """A create request whose shape was checked."""

    key: ApiKey
    request: Mapping[str, Any]
    """Members of the create request; ``human_input`` only when it was given."""
    policy: HumanInputPolicy | None
    """The policy of a managed run, None for a protocol run."""
    base_url: str
    trace_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailDefaults:
    """What the stack is set to."""

    can_mail: bool
    """Whether a sender address is configured."""
    approvers: tuple[str, ...]
    run_timeout: timedelta


def create_run(command: CreateRun, context: Context, defaults: MailDefaults) -> Run:
    """Store a new run and ask for its first segment.

    The answer is the same when the queue is down: the sweep asks again.

    Raises:
        ValidationError: The policy reaches nobody.
        RetryableError: The run was perhaps not stored; the caller may try again.
    """
    policy = command.policy
    if policy is not None:
        _check_reachable(policy, defaults)
    now = context.clock.now()
    run_id = context.ids.run_id()
    request = dict(command.request)
    if policy is not None:
        request["human_input"] = policy.model_dump(mode="json")
    items, where = context.stores.requests.prepare(command.key.tenant, run_id, request)
    run = Run(
        id=run_id,
        tenant=command.key.tenant,
        app=command.key.app,
        face=Face.PROTOCOL if policy is None else Face.MANAGED,
        status=RunStatus.RUNNING,
        created_at=now,
        updated_at=now,
        deadline=(policy or HumanInputPolicy()).run_deadline(now, defaults.run_timeout),
        base_url=command.base_url,
        title=policy.title if policy else "",
        asked_by=(policy.asked_by if policy else "") or command.key.app,
        trace_id=command.trace_id,
        request=where,
        not_before=policy.not_before if policy else None,
        due_at=now + UNTOLD_AFTER,
    )
    run = context.stores.runs.create(run, [EventDraft(type="run_started", data={})], items)
    tell(context, lambda: context.queue.start(run_id), run_id=run_id)
    context.report("run_created", run_id=run_id)
    return run


def requested_policy(request: Mapping[str, Any], key: ApiKey) -> Mapping[str, Any] | None:
    """Return the raw policy: the request's own, its metadata's, or the key's default."""
    if request.get("human_input") is not None:
        own: Mapping[str, Any] = request["human_input"]
        return own
    metadata: Mapping[str, Any] = request.get("metadata") or {}
    carried: Mapping[str, Any] | None = metadata.get(METADATA_POLICY)
    return carried if carried is not None else key.default_policy


def _check_reachable(policy: HumanInputPolicy, defaults: MailDefaults) -> None:
    """Refuse what could never be delivered, while the caller can still mend it."""
    methods = policy.enabled_methods
    wants_mail = policy.delivery_methods is None or any(
        isinstance(method, EmailMethod) for method in methods
    )
    if wants_mail and not defaults.can_mail:
        raise _refused(
            "e-mail is off: deploy with the parameter SenderAddress, or use the method webapp"
        )
    if policy.delivery_methods is None and not defaults.approvers:
        raise _refused(
            "nobody to ask: give delivery_methods, or deploy with the parameter DefaultApprovers"
        )


def _refused(message: str) -> ValidationError:
    return ValidationError(message, [FieldIssue("delivery_methods", "unreachable", message)])
