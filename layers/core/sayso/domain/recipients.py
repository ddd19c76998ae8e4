"""Who is asked: recipients from the policy or the stack's defaults, never from the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.form import DeliveryState, Recipient, RecipientType
from sayso.domain.policy import EmailMethod

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sayso.domain.policy import HumanInputPolicy


def recipients_of(policy: HumanInputPolicy, defaults: tuple[str, ...]) -> tuple[Recipient, ...]:
    """Return the recipients of one form, numbered from 1.

    An address counts once over all methods, whatever its case (human-input §5, R).
    """
    found: list[Recipient] = []
    seen: set[str] = set()
    for kind, address in _wanted(policy, defaults):
        if address and address.casefold() in seen:
            continue
        seen.add(address.casefold())
        mailed = kind is RecipientType.EMAIL_EXTERNAL
        state = DeliveryState.QUEUED if mailed else DeliveryState.NONE
        number = len(found) + 1
        found.append(Recipient(number=number, type=kind, address=address, state=state))
    return tuple(found)


def _wanted(
    policy: HumanInputPolicy, defaults: tuple[str, ...]
) -> Iterator[tuple[RecipientType, str]]:
    if policy.delivery_methods is None:
        yield from ((RecipientType.EMAIL_EXTERNAL, address) for address in defaults)
        return
    for method in policy.enabled_methods:
        if isinstance(method, EmailMethod):
            for item in method.config.recipients.items:
                if item.email:
                    yield RecipientType.EMAIL_EXTERNAL, item.email
        else:
            yield RecipientType.STANDALONE_WEB_APP, ""
