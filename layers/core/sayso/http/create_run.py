"""``POST /runs`` and ``POST /runs/{run_id}/cancel`` (dify-agent §1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sayso.domain.policy import HumanInputPolicy
from sayso.domain.run import CancelIntent
from sayso.http.invalid import InvalidRequestError, entry_of
from sayso.http.json_body import read_json
from sayso.http.keyed_api import KeyedApi, as_powertools
from sayso.http.response import json_response
from sayso.http.run_api import run_api, run_id_of
from sayso.http.schemas import CancelRunRequest, CreateRunRequest, parse, parse_create_run
from sayso.usecases.cancel_run import cancel_run
from sayso.usecases.create_run import CreateRun, MailDefaults, create_run, requested_policy
from sayso.usecases.read_run import read_run

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response

    from sayso.domain.access import ApiKey
    from sayso.http.request import HttpRequest
    from sayso.ports import Directory
    from sayso.usecases.context import Context


IDEMPOTENCY_HEADER = "idempotency-key"

_POLICY = ("body", "human_input")
"""Place of a policy in the request; that of a key's default too, for want of a better one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatePorts:
    """What these routes need."""

    context: Context
    directory: Directory
    defaults: MailDefaults
    public_base_url: str
    """Empty: the address of the request."""


def create_run_api(ports: CreatePorts) -> KeyedApi:
    """Return the resolver of the routes that change runs."""
    app = run_api(ports.directory)

    @app.post("/runs")
    def create() -> Response[str]:
        call = app.call
        request = parse_create_run(read_json(call.request))
        run_id = create_run(
            _command(request, call.key, call.request, ports), ports.context, ports.defaults
        )
        # Always "running": no other status exists at this moment for clients (§1).
        return as_powertools(json_response(202, {"run_id": run_id, "status": "running"}))

    @app.post("/runs/<run_id>/cancel")
    def cancel(run_id: str) -> Response[str]:
        call = app.call
        wanted = run_id_of(run_id)
        try:
            body = parse(CancelRunRequest, read_json(call.request), ["body"])
        except InvalidRequestError:
            read_run(wanted, call.key.tenant, ports.context)  # 404 comes before 422 (§18.16)
            raise
        intent = CancelIntent(reason=body.reason, message=body.message)
        cancel_run(wanted, call.key.tenant, intent, ports.context)
        return as_powertools(json_response(200, {"run_id": wanted, "status": "cancelled"}))

    return app


def _command(
    request: CreateRunRequest, key: ApiKey, http: HttpRequest, ports: CreatePorts
) -> CreateRun:
    members: dict[str, Any] = request.model_dump(mode="json")
    idempotency_key = _idempotency_key(request, http)
    members["idempotency_key"] = idempotency_key or None
    if members["human_input"] is None:
        del members["human_input"]
    raw = requested_policy(members, key)
    return CreateRun(
        key=key,
        request=members,
        policy=None if raw is None else parse(HumanInputPolicy, raw, _POLICY),
        base_url=ports.public_base_url or f"https://{http.domain}",
        trace_id=http.headers.get("x-amzn-trace-id", ""),
        idempotency_key=idempotency_key,
    )


def _idempotency_key(request: CreateRunRequest, http: HttpRequest) -> str:
    """Return the key of body or header; empty when there is none.

    Raises:
        InvalidRequestError: They name two keys.
    """
    in_body = request.idempotency_key or ""
    in_header = http.headers.get(IDEMPOTENCY_HEADER, "").strip()
    if in_body and in_header and in_body != in_header:
        message = "idempotency_key and the header Idempotency-Key should be the same"
        raise InvalidRequestError(
            [entry_of("value_error", ["body", "idempotency_key"], message, in_body)]
        )
    return in_body or in_header
