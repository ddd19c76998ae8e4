"""Members: people of a tenant whom policies name by an id instead of an address (human-input §5)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.ids import MemberId

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def is_member_id(text: str) -> bool:
    """Tell whether a text can be the id of a member: short, and a part of a path or key as it is."""
    return _ID.fullmatch(text) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One person in the directory of a tenant."""

    id: MemberId
    """The tenant's own (``is_member_id``)."""
    name: str
    """What the others are told about who decided."""
    address: str = field(repr=False)
    """Mail address."""
    groups: tuple[str, ...] = ()
    language: str = ""
    """BCP 47 tag; empty: the stack's language."""
    time_zone: str = ""
    """IANA name of the zone in which deadlines are shown; empty: UTC."""
    active: bool = True
    """Somebody inactive stays listed and is asked nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Active members whom a policy may ask, looked up before a form is made."""

    named: Mapping[MemberId, Member] = MappingProxyType({})
    """Those that the policy names, by id; who is unknown, foreign or inactive is not there."""
    everybody: tuple[Member, ...] = ()
    """All of the tenant, when the policy asks for them."""
    acting: Member | None = None
    """Who tries the agent out, if that is known."""


NOBODY = People()
