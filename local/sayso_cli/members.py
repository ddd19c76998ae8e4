"""``sayso members``: the directory of a tenant, in the table of a stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from sayso.aws.table import DynamoTable
from sayso.domain.ids import MemberId, TenantId
from sayso.domain.members import is_member_id
from sayso.http.member_models import MemberRequest
from sayso.store.commit import Committer
from sayso.store.members import MemberStore
from sayso.system import RandomIds, SystemClock
from sayso_cli.stack import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from sayso.domain.members import Member
    from sayso_cli.stack import Stack


def list_members(stack: Stack, tenant: str) -> list[Member]:
    """Return the members of a tenant, who came first first."""
    return list(_store(stack).listed(TenantId(tenant)))


def put_member(stack: Stack, tenant: str, member_id: str, values: Mapping[str, Any]) -> Member:
    """Add or change a member; the values are checked as over HTTP.

    Raises:
        UsageError: The id or a value is none.
    """
    if not is_member_id(member_id):
        message = "a member id has up to 64 letters, digits, dots, hyphens and underscores"
        raise UsageError(message)
    try:
        member = MemberRequest.model_validate(values).as_member(MemberId(member_id))
    except ValidationError as error:
        first = error.errors()[0]
        message = f"{first['loc'][0]}: {first['msg']}"
        raise UsageError(message) from None
    _store(stack).put(TenantId(tenant), member, now=SystemClock().now())
    return member


def remove_member(stack: Stack, tenant: str, member_id: str) -> bool:
    """Remove a member and tell whether there was one."""
    known = is_member_id(member_id)
    return known and _store(stack).remove(TenantId(tenant), MemberId(member_id))


def _store(stack: Stack) -> MemberStore:
    table = DynamoTable(stack.client("dynamodb"), stack.output("TableName"))
    return MemberStore(Committer(table, RandomIds()))
