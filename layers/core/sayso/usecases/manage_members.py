"""The directory of members: list, add or change, remove.

Forms that wait keep the recipients they were made with; a change counts from the next question on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.errors import NotFoundError

if TYPE_CHECKING:
    from sayso.domain.ids import MemberId, TenantId
    from sayso.domain.members import Member
    from sayso.usecases.context import Context


def list_members(tenant: TenantId, context: Context) -> list[Member]:
    """Return the members of a tenant, who came first first."""
    return list(context.stores.members.listed(tenant))


def put_member(tenant: TenantId, member: Member, context: Context) -> None:
    """Add a member, or change the one of that id. Called twice, the second changes nothing.

    Raises:
        MovedOnError: Somebody removed the member at this very moment.
    """
    context.stores.members.put(tenant, member, now=context.clock.now())
    context.report("member_put", tenant=tenant)


def remove_member(tenant: TenantId, member_id: MemberId, context: Context) -> None:
    """Take a member out of the directory.

    Raises:
        NotFoundError: No such member of this tenant.
    """
    if not context.stores.members.remove(tenant, member_id):
        message = "member not found"
        raise NotFoundError(message)
    context.report("member_removed", tenant=tenant)
