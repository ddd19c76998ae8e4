"""Send one delivery of a policy as it would look: a form that decides nothing (human-input §4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sayso.domain.errors import DeliveryTestRefusedError
from sayso.domain.form import DeliveryState, Form, FormKind, WholeForm
from sayso.domain.ids import FormId, PauseId, RunId
from sayso.domain.invocation import DEBUGGER
from sayso.domain.policy import EmailMethod, HumanInputPolicy
from sayso.domain.recipients import recipients_of
from sayso.domain.transitions import FormStatus
from sayso.domain.variables import NOTHING_ASKED, nested
from sayso.usecases.context import tell
from sayso.usecases.find_people import find_people
from sayso.usecases.make_form import TELL_WITHIN, Origin, make_content

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.access import ApiKey
    from sayso.domain.form import FormContent, Recipient
    from sayso.ports import ContentRenderer
    from sayso.usecases.context import Context

KEPT_FOR = timedelta(days=7)
"""How long a test form stays in the table after its deadline."""
_ASKED: Mapping[str, Any] = {"fields": [], "actions": []}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryTest:
    """What is to be tried."""

    key: ApiKey
    policy: HumanInputPolicy
    delivery_method_id: str
    inputs: Mapping[str, Any]
    """Values of variables: by node, or by dotted path such as ``order.id``."""
    base_url: str


def try_delivery(
    test: DeliveryTest, context: Context, renderer: ContentRenderer, *, can_mail: bool
) -> FormId:
    """Make a test form for the recipients of one method and ask to mail it.

    It can be opened, answered and timed out like any other; no run hears of it. Goes through the
    same sending as real forms, retries included.

    Raises:
        DeliveryTestRefusedError: With the contract's texts, or why the form cannot be answered.
    """
    policy = _policy_of(test)
    if not can_mail:
        raise DeliveryTestRefusedError("Mail client is not initialized.")
    recipients = _recipients(policy, test, context)
    content = _content(policy, test, renderer)
    now = context.clock.now()
    deadline = policy.form_deadline(now)
    form = Form(
        id=FormId(context.ids.run_id()),
        run_id=RunId(""),
        pause_id=PauseId(""),
        segment=0,
        tool_call_id="",
        tool_name="",
        tenant=test.key.tenant,
        app=test.key.app,
        status=FormStatus.WAITING,
        created_at=now,
        deadline=deadline,
        content_digest=content.digest,
        due_at=min(now + TELL_WITHIN, deadline),
        kind=FormKind.DELIVERY_TEST,
    )
    ttl = int((deadline + KEPT_FOR).timestamp())
    context.stores.forms.create(WholeForm(form=form, content=content, recipients=recipients), ttl)
    tell(context, lambda: context.queue.mail([form.id]), form_id=form.id)
    context.report("delivery_tried", form_id=form.id)
    return form.id


def _policy_of(test: DeliveryTest) -> HumanInputPolicy:
    """Return the policy with one method only, its variables with the values to try."""
    method = next(
        (one for one in test.policy.delivery_methods or [] if one.id == test.delivery_method_id),
        None,
    )
    if method is None:
        raise DeliveryTestRefusedError("Delivery method not found.")
    if not isinstance(method, EmailMethod):
        raise DeliveryTestRefusedError("Delivery method does not support test send.")
    variables = {**test.policy.variables, **nested(test.inputs)}
    enabled = method.model_copy(update={"enabled": True})
    return test.policy.model_copy(update={"delivery_methods": [enabled], "variables": variables})


def _recipients(
    policy: HumanInputPolicy, test: DeliveryTest, context: Context
) -> tuple[Recipient, ...]:
    """Return whom the method mails; a test has no implicit recipients (§5)."""
    people = find_people(policy, test.key.tenant, context.stores.members)
    invited = recipients_of(policy, (), invoke_from=DEBUGGER, people=people)
    mailed = tuple(one for one in invited.recipients if one.state is DeliveryState.QUEUED)
    if not mailed:
        raise DeliveryTestRefusedError("No recipients configured for delivery method.")
    return mailed


def _content(
    policy: HumanInputPolicy, test: DeliveryTest, renderer: ContentRenderer
) -> FormContent:
    asked = {**NOTHING_ASKED, **_ASKED, "question": policy.title or "Test", "urgency": "normal"}
    origin = Origin(
        asked_by=policy.asked_by or test.key.app,
        base_url=test.base_url,
        run_title=policy.title,
        invoke_from=DEBUGGER,
    )
    try:
        return make_content(asked, policy, origin, renderer)
    except ValueError as error:
        raise DeliveryTestRefusedError(str(error)) from error
