"""Who is asked: recipients from the policy or the stack's defaults, never from the model.

Besides those that the policy names there are implicit ones (human-input §5): the console of whoever
tries the agent out, and the backstage of whoever runs it. Both answer with a console key only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sayso.domain.form import DeliveryState, Recipient, RecipientType
from sayso.domain.ids import MemberId
from sayso.domain.invocation import DEBUGGER, TRIED_OUT
from sayso.domain.members import NOBODY
from sayso.domain.policy import MAX_RECIPIENTS, EmailMethod, MemberRecipient, WebappMethod

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sayso.domain.members import Member, People
    from sayso.domain.policy import HumanInputPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Invited:
    """Whom a form asks."""

    recipients: tuple[Recipient, ...]
    """Numbered from 1, the implicit ones last."""
    left_out: int = 0
    """How many more there are at least than the limit of a form allows."""
    unknown: tuple[str, ...] = ()
    """Ids that are no active member of the tenant."""


def recipients_of(
    policy: HumanInputPolicy,
    defaults: tuple[str, ...],
    *,
    invoke_from: str = "",
    people: People = NOBODY,
) -> Invited:
    """Return the recipients of one form.

    An address counts once over all methods, whatever its case; a member's goes before the same one
    given as an address (human-input §5, R).

    Args:
        policy: Of the run.
        defaults: Addresses that are asked when the policy names no method.
        invoke_from: What started the run.
        people: Members whom the policy may reach.
    """
    wanted = list(_wanted(policy, defaults, invoke_from, people))
    members = {one.address.casefold(): one for one in reversed(wanted) if one.type is _MEMBER}
    found: dict[str, Recipient] = {}
    for number, one in enumerate(wanted):
        address = one.address.casefold()
        found.setdefault(address or f" {number}", members.get(address, one))
    explicit = list(found.values())
    asked = [*explicit[:MAX_RECIPIENTS], *_implicit(policy, invoke_from)]
    return Invited(
        recipients=tuple(replace(one, number=number) for number, one in enumerate(asked, 1)),
        left_out=max(0, len(explicit) - MAX_RECIPIENTS),
        unknown=tuple(one for one in named_members(policy) if one not in people.named),
    )


_MEMBER = RecipientType.EMAIL_MEMBER


def named_members(policy: HumanInputPolicy) -> list[MemberId]:
    """Return the ids of members that the methods which are used name, each once."""
    items = [item for group in policy.email_recipients for item in group.items]
    ids = (item.reference_id for item in items if isinstance(item, MemberRecipient))
    return [MemberId(one) for one in dict.fromkeys(ids)]


def _wanted(
    policy: HumanInputPolicy, defaults: tuple[str, ...], invoke_from: str, people: People
) -> Iterator[Recipient]:
    if policy.delivery_methods is None:
        yield from map(_by_address, defaults)
        return
    for method in policy.enabled_methods:
        if isinstance(method, EmailMethod):
            if invoke_from == DEBUGGER and method.config.debug_mode:
                yield from _by_membership([people.acting] if people.acting else [])
            else:
                yield from _addressees(method, people)
        elif invoke_from not in TRIED_OUT:
            yield Recipient(number=0, type=RecipientType.STANDALONE_WEB_APP)


def _addressees(method: EmailMethod, people: People) -> Iterator[Recipient]:
    """Yield the people of one e-mail method, members first; blank addresses are skipped."""
    given = method.config.recipients
    ids = [MemberId(one.reference_id) for one in given.items if isinstance(one, MemberRecipient)]
    if given.include_bound_group:
        yield from _by_membership(people.everybody)
    yield from _by_membership(people.named[one] for one in ids if one in people.named)
    for item in given.items:
        if not isinstance(item, MemberRecipient) and item.email:
            yield _by_address(item.email)


def _by_membership(members: Iterable[Member]) -> Iterator[Recipient]:
    for one in members:
        yield Recipient(
            number=0,
            type=RecipientType.EMAIL_MEMBER,
            address=one.address,
            name=one.name,
            member=one.id,
            time_zone=one.time_zone,
            state=DeliveryState.QUEUED,
        )


def _by_address(address: str) -> Recipient:
    kind = RecipientType.EMAIL_EXTERNAL
    return Recipient(number=0, type=kind, address=address, state=DeliveryState.QUEUED)


def _implicit(policy: HumanInputPolicy, invoke_from: str) -> Iterator[Recipient]:
    if invoke_from == DEBUGGER or (invoke_from in TRIED_OUT and has_webapp(policy)):
        yield Recipient(number=0, type=RecipientType.CONSOLE)
    yield Recipient(number=0, type=RecipientType.BACKSTAGE)


def has_webapp(policy: HumanInputPolicy) -> bool:
    """Tell whether an enabled method is the web app."""
    return any(isinstance(method, WebappMethod) for method in policy.enabled_methods)
