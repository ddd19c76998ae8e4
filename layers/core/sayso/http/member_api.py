"""The directory of members over HTTP: ``/console/api/members``, answered with problems."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from sayso.domain.errors import FieldIssue, NotFoundError, ValidationError
from sayso.domain.ids import MemberId
from sayso.domain.members import is_member_id
from sayso.http.json_body import read_json
from sayso.http.keyed_api import KeyedApi, as_powertools
from sayso.http.member_models import MemberRequest
from sayso.http.response import json_response
from sayso.http.schemas import parse
from sayso.usecases.manage_members import list_members, put_member, remove_member

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response

    from sayso.usecases.context import Context

MEMBER_PATHS: Final = frozenset({"/console/api/members", "/console/api/members/{member_id}"})
"""Paths of these routes."""


def add_members(app: KeyedApi, context: Context) -> None:
    """Add the routes. Each sees the members of the key's tenant only."""

    def show() -> Response[str]:
        found = [asdict(one) for one in list_members(app.call.key.tenant, context)]
        return as_powertools(json_response(200, {"members": found}))

    app.route("/console/api/members", method=["GET", "HEAD"])(show)

    @app.put("/console/api/members/<member_id>")
    def put(member_id: str) -> Response[str]:
        call = app.call
        if not is_member_id(member_id):
            message = "a member id has up to 64 letters, digits, dots, hyphens and underscores"
            raise ValidationError(message, [FieldIssue("member_id", "malformed", message)])
        member = parse(MemberRequest, read_json(call.request), ["body"]).as_member(
            MemberId(member_id)
        )
        put_member(call.key.tenant, member, context)
        return as_powertools(json_response(200, asdict(member)))

    @app.delete("/console/api/members/<member_id>")
    def remove(member_id: str) -> Response[str]:
        call = app.call
        if not is_member_id(member_id):
            message = "member not found"
            raise NotFoundError(message)
        remove_member(call.key.tenant, MemberId(member_id), context)
        return as_powertools(json_response(200, {}))
