"""Look up the members whom a policy may ask, once for all forms of a pause (human-input §5)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from sayso.domain.ids import MemberId
from sayso.domain.members import People, is_member_id
from sayso.domain.policy import MAX_RECIPIENTS
from sayso.domain.recipients import named_members

if TYPE_CHECKING:
    from sayso.domain.ids import TenantId
    from sayso.domain.members import Member
    from sayso.domain.policy import HumanInputPolicy
    from sayso.store.members import MemberStore


def find_people(
    policy: HumanInputPolicy, tenant: TenantId, members: MemberStore, *, acting: str = ""
) -> People:
    """Return the active members of a tenant that matter to a policy.

    A policy that names no members costs no read.

    Args:
        policy: Of the run.
        tenant: Of the API key; members of others are unknown.
        members: The directory.
        acting: Id of who tries the agent out, empty when that is unknown.
    """
    named = named_members(policy)
    ids = dict.fromkeys(filter(is_member_id, [*named, MemberId(acting)]))
    found = {one.id: one for one in members.find(tenant, list(ids)) if one.active}
    everybody: tuple[Member, ...] = ()
    if any(one.include_bound_group for one in policy.email_recipients):
        active = (one for one in members.listed(tenant) if one.active)
        # One more than may be asked, so that leaving somebody out is seen.
        everybody = tuple(itertools.islice(active, MAX_RECIPIENTS + 1))
    return People(named=found, everybody=everybody, acting=found.get(MemberId(acting)))
