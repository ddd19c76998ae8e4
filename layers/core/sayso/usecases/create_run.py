"""Start a run: store it, queue its first segment. No model is called here (DESIGN decision 1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sayso.domain.access import may_try_out
from sayso.domain.errors import (
    ConditionFailedError,
    FieldIssue,
    IdempotencyMismatchError,
    NotAllowedError,
    ValidationError,
)
from sayso.domain.invocation import TRIED_OUT, acting_user_of, invoke_from_of
from sayso.domain.policy import EmailMethod, HumanInputPolicy
from sayso.domain.requests import METADATA_POLICY, split_credentials
from sayso.domain.run import EventDraft, Face, Run
from sayso.domain.transitions import RunStatus
from sayso.store.claims import Claim, standing_claim
from sayso.store.codec import digest_of, to_json
from sayso.store.limiter import TableRateLimiter
from sayso.store.runs import UNTOLD_AFTER
from sayso.usecases.context import tell

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from sayso.domain.access import ApiKey
    from sayso.domain.ids import RunId
    from sayso.usecases.context import Context

RUNS_PER_MINUTE = "runs_per_minute"
"""Name of the limit in the record of an API key."""


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
    idempotency_key: str = ""
    """Text under which the same request is carried out once; empty: none was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailDefaults:
    """What the stack is set to."""

    can_mail: bool
    """Whether a sender address is configured."""
    approvers: tuple[str, ...]
    run_timeout: timedelta


def create_run(command: CreateRun, context: Context, defaults: MailDefaults) -> RunId:
    """Store a new run, ask for its first segment and return its id.

    The answer is the same when the queue is down: the sweep asks again. With an idempotency key the
    same request again gets the first run, whoever of two at once is faster.

    Raises:
        NotAllowedError: The run is one of the console's, the key is not.
        ValidationError: The policy reaches nobody.
        IdempotencyMismatchError: The key came with another request before.
        TooManyRequestsError: The API key's own limit is reached.
        RetryableError: The run was perhaps not stored; the caller may try again.
    """
    if command.policy is not None:
        _check_invocation(command)
        _check_reachable(command.policy, defaults)
    if limit := command.key.limits.get(RUNS_PER_MINUTE):
        limiter = TableRateLimiter(context.stores.table, context.clock, limit=limit)
        limiter.count("runs", f"{command.key.tenant}/{command.key.id}")
    claim = _claim(command) if command.idempotency_key else None
    run = _new_run(command, context, defaults)
    try:
        _store(run, command, claim, context)
    except ConditionFailedError as error:
        if claim is None or (standing := standing_claim(error)) is None:
            raise
        if standing.request_digest != claim.request_digest:
            raise IdempotencyMismatchError from error
        context.report("run_repeated", run_id=standing.run_id)
        return standing.run_id
    tell(context, lambda: context.queue.start(run.id), run_id=run.id)
    context.report("run_created", run_id=run.id)
    return run.id


def _claim(command: CreateRun) -> Claim:
    """Return the claim of a request; other credentials make no other request, keys are renewed."""
    plain, _ = split_credentials(command.request)
    return Claim(
        tenant=command.key.tenant,
        key=command.idempotency_key,
        request_digest=digest_of(to_json(plain).encode()),
    )


def _new_run(command: CreateRun, context: Context, defaults: MailDefaults) -> Run:
    policy, now = command.policy, context.clock.now()
    return Run(
        id=context.ids.run_id(),
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
        invoke_from=invoke_from_of(command.request) if policy else "",
        acting_user=acting_user_of(command.request) if policy else "",
        not_before=policy.not_before if policy else None,
        due_at=now + UNTOLD_AFTER,
    )


def _store(run: Run, command: CreateRun, claim: Claim | None, context: Context) -> None:
    request = dict(command.request)
    if command.policy is not None:
        request["human_input"] = command.policy.model_dump(mode="json")
    items, where = context.stores.requests.prepare(run.tenant, run.id, request)
    context.stores.runs.create(
        replace(run, request=where),
        [EventDraft(type="run_started", data={})],
        items,
        also=[claim.put(run.id, run.created_at)] if claim else (),
    )


def requested_policy(request: Mapping[str, Any], key: ApiKey) -> Mapping[str, Any] | None:
    """Return the raw policy: the request's own, its metadata's, or the key's default."""
    if request.get("human_input") is not None:
        own: Mapping[str, Any] = request["human_input"]
        return own
    metadata: Mapping[str, Any] = request.get("metadata") or {}
    carried: Mapping[str, Any] | None = metadata.get(METADATA_POLICY)
    return carried if carried is not None else key.default_policy


def _check_invocation(command: CreateRun) -> None:
    """Refuse a run of the console to a key that could not answer it there (DESIGN decision 3)."""
    invoke_from = invoke_from_of(command.request)
    if invoke_from in TRIED_OUT and not may_try_out(command.key.role):
        message = f"invoke_from {invoke_from!r} needs a key of the console"
        raise NotAllowedError(message)


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
