"""Who is asked: recipients from the policy or the stack's defaults, never from the model.

Besides those that the policy names there are implicit ones (human-input §5): the console of whoever
tries the agent out, and the backstage of whoever runs it. Both answer with a console key only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.form import DeliveryState, Recipient, RecipientType
from sayso.domain.invocation import DEBUGGER, TRIED_OUT
from sayso.domain.policy import EmailMethod, WebappMethod

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sayso.domain.policy import HumanInputPolicy


def recipients_of(
    policy: HumanInputPolicy, defaults: tuple[str, ...], *, invoke_from: str = ""
) -> tuple[Recipient, ...]:
    """Return the recipients of one form, numbered from 1, the implicit ones last.

    An address counts once over all methods, whatever its case (human-input §5, R).

    Args:
        policy: Of the run.
        defaults: Addresses that are asked when the policy names no method.
        invoke_from: What started the run.
    """
    found: list[Recipient] = []
    seen: set[str] = set()
    explicit = _wanted(policy, defaults, invoke_from)
    for kind, address in (*explicit, *_implicit(policy, invoke_from)):
        if address and address.casefold() in seen:
            continue
        seen.add(address.casefold())
        mailed = kind is RecipientType.EMAIL_EXTERNAL
        state = DeliveryState.QUEUED if mailed else DeliveryState.NONE
        number = len(found) + 1
        found.append(Recipient(number=number, type=kind, address=address, state=state))
    return tuple(found)


def _wanted(
    policy: HumanInputPolicy, defaults: tuple[str, ...], invoke_from: str
) -> Iterator[tuple[RecipientType, str]]:
    if policy.delivery_methods is None:
        yield from ((RecipientType.EMAIL_EXTERNAL, address) for address in defaults)
        return
    for method in policy.enabled_methods:
        if isinstance(method, EmailMethod):
            if invoke_from != DEBUGGER or not method.config.debug_mode:
                yield from addressees(method)
        elif invoke_from not in TRIED_OUT:
            yield RecipientType.STANDALONE_WEB_APP, ""


def addressees(method: EmailMethod) -> Iterator[tuple[RecipientType, str]]:
    """Yield the people of one e-mail method; blank addresses are skipped."""
    for item in method.config.recipients.items:
        if item.email:
            yield RecipientType.EMAIL_EXTERNAL, item.email


def _implicit(policy: HumanInputPolicy, invoke_from: str) -> Iterator[tuple[RecipientType, str]]:
    if invoke_from == DEBUGGER or (invoke_from in TRIED_OUT and has_webapp(policy)):
        yield RecipientType.CONSOLE, ""
    yield RecipientType.BACKSTAGE, ""


def has_webapp(policy: HumanInputPolicy) -> bool:
    """Tell whether an enabled method is the web app."""
    return any(isinstance(method, WebappMethod) for method in policy.enabled_methods)
