"""Members on the wire: what an operator sends, what is answered."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from sayso.domain.mail_addresses import is_mail_address
from sayso.domain.members import Member

if TYPE_CHECKING:
    from sayso.domain.ids import MemberId

_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}")

Line = Annotated[str, StringConstraints(max_length=80, strip_whitespace=True)]


class MemberRequest(BaseModel):
    """Body of ``PUT /console/api/members/{member_id}``: the whole member."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, StringConstraints(min_length=1, max_length=80, strip_whitespace=True)]
    address: Annotated[str, StringConstraints(max_length=254, strip_whitespace=True)]
    groups: Annotated[list[Line], Field(max_length=50)] = []
    language: Annotated[str, StringConstraints(max_length=35)] = ""
    time_zone: Annotated[str, StringConstraints(max_length=64)] = ""
    active: Annotated[bool, Field(strict=True)] = True

    @field_validator("name")
    @classmethod
    def _is_one_line(cls, value: str) -> str:
        if not value.isprintable():
            message = "must be one line of visible text"
            raise ValueError(message)
        return value

    @field_validator("address")
    @classmethod
    def _is_address(cls, value: str) -> str:
        if not is_mail_address(value):
            message = "must be a mail address such as name@example.org"
            raise ValueError(message)
        return value

    @field_validator("language")
    @classmethod
    def _is_tag(cls, value: str) -> str:
        if value and not _LANGUAGE.fullmatch(value):
            message = "must be a language tag such as en or pt-BR"
            raise ValueError(message)
        return value

    @field_validator("time_zone")
    @classmethod
    def _is_zone(cls, value: str) -> str:
        try:
            return ZoneInfo(value).key if value else ""
        except (KeyError, ValueError, OSError):
            message = "must be the IANA name of a time zone such as Europe/Berlin"
            raise ValueError(message) from None

    def as_member(self, member_id: MemberId) -> Member:
        """Return the member of an id."""
        return Member(
            id=member_id,
            name=self.name,
            address=self.address,
            groups=tuple(self.groups),
            language=self.language,
            time_zone=self.time_zone,
            active=self.active,
        )


class MemberAnswer(BaseModel):
    """One member."""

    model_config = ConfigDict(extra="forbid")

    id: str
    name: str
    address: str
    groups: list[str]
    language: str
    time_zone: str
    active: bool


class MembersAnswer(BaseModel):
    """The directory of the key's tenant, who came first first."""

    model_config = ConfigDict(extra="forbid")

    members: list[MemberAnswer]
