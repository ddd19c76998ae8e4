"""What operators do to forms: extend, withdraw, revoke a link, try a delivery.

``POST /console/api/…``: the first three are routes of our own and answer problems; the delivery
test is the reference's (human-input §4.4, §7.6).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from sayso.domain.errors import DeliveryTestRefusedError, NotFoundError
from sayso.domain.ids import FormId, parse_uuid
from sayso.domain.policy import HumanInputPolicy
from sayso.http.json_body import read_json
from sayso.http.keyed_api import Call, KeyedApi, as_powertools
from sayso.http.response import json_response
from sayso.http.schemas import parse
from sayso.usecases.manage_form import Operator, extend_form, revoke_link, withdraw_form
from sayso.usecases.try_delivery import DeliveryTest, try_delivery

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools.event_handler import Response

    from sayso.domain.form import Form
    from sayso.http.request import HttpRequest
    from sayso.ports import ContentRenderer, Directory, Links
    from sayso.usecases.context import Context

MANAGEMENT: Final = frozenset(
    {
        "/console/api/forms/{form_id}/extend",
        "/console/api/forms/{form_id}/withdraw",
        "/console/api/forms/{form_id}/recipients/{number}/revoke",
    }
)
"""Paths of our own routes."""

_MAX_NUMBER_CHARS: Final = 3
_LAST_SECOND: Final = 253402300799
"""31 December 9999, the last day that ``datetime`` knows."""

Seconds = Annotated[int, Field(strict=True, ge=0, le=_LAST_SECOND)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ExtendRequest(_Body):
    """Body of an extension: Unix seconds, as everywhere on form routes, or RFC 3339."""

    deadline: Seconds | AwareDatetime

    @property
    def instant(self) -> datetime:
        """The deadline, aware UTC."""
        if isinstance(self.deadline, datetime):
            return self.deadline.astimezone(UTC).replace(microsecond=0)
        return datetime.fromtimestamp(self.deadline, UTC)


class WithdrawRequest(_Body):
    """Body of a withdrawal."""

    reason: Annotated[str, StringConstraints(max_length=1_000, strip_whitespace=True)] = ""


class DeliveryTestRequest(_Body):
    """Body of a delivery test (DESIGN, out of scope)."""

    human_input: HumanInputPolicy
    delivery_method_id: Annotated[str, StringConstraints(max_length=100)]
    inputs: dict[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class FormPorts:
    """What the form routes need."""

    context: Context
    directory: Directory
    links: Links
    renderer: Callable[[], ContentRenderer]
    """Made when it is needed: the sanitiser takes long to import."""
    can_mail: bool
    public_base_url: str
    """Empty: the address of the request."""


def add_management(app: KeyedApi, ports: FormPorts) -> None:
    """Add the routes."""
    context = ports.context

    @app.post("/console/api/forms/<form_id>/extend")
    def extend(form_id: str) -> Response[str]:
        wanted, call = _form_id(form_id), app.call
        body = parse(ExtendRequest, read_json(call.request), ["body"])
        return _answer(extend_form(wanted, body.instant, _operator(call), context))

    @app.post("/console/api/forms/<form_id>/withdraw")
    def withdraw(form_id: str) -> Response[str]:
        wanted, call = _form_id(form_id), app.call
        body = parse(WithdrawRequest, _optional_json(call.request), ["body"])
        return _answer(withdraw_form(wanted, body.reason, _operator(call), context))

    @app.post("/console/api/forms/<form_id>/recipients/<number>/revoke")
    def revoke(form_id: str, number: str) -> Response[str]:
        wanted, call = _form_id(form_id), app.call
        parse(_Body, _optional_json(call.request), ["body"])
        revoke_link(wanted, _number(number), _operator(call), context)
        return as_powertools(json_response(200, {}))

    @app.post("/console/api/delivery-test")
    def delivery_test() -> Response[str]:
        call = app.call
        given = read_json(call.request)
        _check_node_type(given)
        body = parse(DeliveryTestRequest, given, ["body"])
        test = DeliveryTest(
            key=call.key,
            policy=body.human_input,
            delivery_method_id=body.delivery_method_id,
            inputs=body.inputs,
            base_url=ports.public_base_url or f"https://{call.request.domain}",
        )
        try_delivery(test, context, ports.renderer(), can_mail=ports.can_mail)
        return as_powertools(json_response(200, {}))


def _check_node_type(given: Any) -> None:
    """Refuse another type of node in the contract's words, before its members are looked at.

    Raises:
        DeliveryTestRefusedError: It says that it is another one.
    """
    match given:
        case {"human_input": {"form": {"type": kind}}} if kind != "human-input":
            raise DeliveryTestRefusedError("Node type must be human-input.")


def _operator(call: Call) -> Operator:
    return Operator(tenant=call.key.tenant, key_id=call.key.id)


def _answer(form: Form) -> Response[str]:
    shown = {
        "form_id": form.id,
        "status": form.status.value,
        "expiration_time": int(form.deadline.timestamp()),
    }
    return as_powertools(json_response(200, shown))


def _optional_json(request: HttpRequest) -> Any:
    """Return the body; none at all says as little as ``{}``."""
    return read_json(request) if request.body else {}


def _form_id(text: str) -> FormId:
    """Return the id of a path.

    Raises:
        NotFoundError: No form can have it, so no table is asked.
    """
    if parse_uuid(text) is None:
        message = "form not found"
        raise NotFoundError(message)
    return FormId(text)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_NUMBER_CHARS):
        message = "the form has no such recipient"
        raise NotFoundError(message)
    return int(text)
