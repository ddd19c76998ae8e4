"""The directory of members: one item each, found by tenant and id, listed by tenant.

The index only says who there may be; whoever is asked was read from the table itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.errors import ConditionFailedError, MovedOnError
from sayso.domain.ids import MemberId
from sayso.domain.members import Member
from sayso.ports import Delete, Exists, Missing, Put, Update
from sayso.store.codec import to_ms
from sayso.store.keys import MEMBER, member_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from sayso.domain.ids import TenantId
    from sayso.ports import Item, Key
    from sayso.store.commit import Committer

MAX_LISTED = 1_000
"""Members of a tenant that are looked at; a directory beyond this belongs elsewhere."""
_PAGE = 100
"""Items that one read returns at most (``Table.get_many``)."""


class MemberStore:
    """Members in the table."""

    def __init__(self, committer: Committer) -> None:
        """Take what reads and writes."""
        self._committer = committer

    def find(self, tenant: TenantId, ids: Sequence[MemberId]) -> list[Member]:
        """Return those of these different ids that are members of the tenant, in their order."""
        keys = [member_key(tenant, one) for one in ids]
        return [member_from_item(item) for item in self._items(keys)]

    def listed(self, tenant: TenantId) -> Iterator[Member]:
        """Yield the members of a tenant, who came first first; at most ``MAX_LISTED``."""
        keys = self._committer.table.listing(_listing_key(tenant), limit=MAX_LISTED)
        for start in range(0, len(keys), _PAGE):
            yield from map(member_from_item, self._items(keys[start : start + _PAGE]))

    def put(self, tenant: TenantId, member: Member, *, now: datetime) -> None:
        """Write a member, new or changed; the last write counts.

        Raises:
            MovedOnError: Somebody removed the member at this very moment.
        """
        key, values = member_key(tenant, member.id), _attributes(member)
        listed = {"listing_key": _listing_key(tenant), "created_at": to_ms(now)}
        item = {"pk": key.pk, "sk": key.sk, **listed, **values}
        try:
            self._committer.write(Put(item=item, when=(Missing("pk"),)))
        except ConditionFailedError:
            self._change(Update(key=key, set=values, when=(Exists("pk"),)))

    def _change(self, update: Update) -> None:
        try:
            self._committer.write(update)
        except ConditionFailedError as error:
            message = "the member was removed meanwhile, try again"
            raise MovedOnError(message) from error

    def remove(self, tenant: TenantId, member_id: MemberId) -> bool:
        """Delete a member and tell whether there was one."""
        key = member_key(tenant, member_id)
        try:
            self._committer.write(Delete(key=key, when=(Exists("pk"),)))
        except ConditionFailedError:
            return False
        return True

    def _items(self, keys: Sequence[Key]) -> list[Item]:
        if not keys:
            return []
        return [item for item in self._committer.table.get_many(keys) if item is not None]


def _listing_key(tenant: TenantId) -> str:
    return f"{tenant}#member"


def _attributes(member: Member) -> dict[str, Any]:
    return {
        "name": member.name,
        "address": member.address,
        "groups": list(member.groups),
        "language": member.language,
        "time_zone": member.time_zone,
        "active": member.active,
    }


def member_from_item(item: Mapping[str, Any]) -> Member:
    """Return the member of an item."""
    return Member(
        id=MemberId(str(item["pk"]).removeprefix(MEMBER).rpartition("#")[2]),
        name=item["name"],
        address=item["address"],
        groups=tuple(item["groups"]),
        language=item["language"],
        time_zone=item["time_zone"],
        active=item["active"],
    )
