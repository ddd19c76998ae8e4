"""Makes views from records: what a page needs of a form, in words for people.

Text from outside becomes visible text here (no invisible characters, titles and labels on one
line); templates escape it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.form import FieldBlock, HtmlBlock
from sayso.domain.ids import reference_of
from sayso.rendering.field_views import field_view, shown_value
from sayso.rendering.i18n import _
from sayso.rendering.plain import one_line, strip_invisible
from sayso.rendering.safe import POLICY_VERSION, RenderedHtml
from sayso.rendering.views import (
    ActionView,
    AskView,
    DecisionView,
    FormView,
    TextView,
    TypedView,
    ValueView,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sayso.domain.form import (
        ContentBlock,
        Decision,
        FormContent,
        FormDefinition,
        Recipient,
        WholeForm,
    )
    from sayso.rendering.views import PartView


def ask_view(whole: WholeForm, *, workspace: str = "", zone: str = "UTC") -> AskView:
    """Return the head of all pages and mails of a form.

    Args:
        whole: The form.
        workspace: Who runs this stack, from its settings.
        zone: IANA name of the reader's zone.
    """
    content, definition = whole.content, whole.content.definition
    title = one_line(definition.title) or one_line(content.run_title)
    question = one_line(definition.question)
    return AskView(
        question=question or title or _("Your decision is needed"),
        more=title if question and title != question else "",
        asker=one_line(content.asked_by) or _("An agent"),
        reference=reference_of(whole.form.id),
        workspace=workspace,
        zone=zone,
    )


def form_view(
    whole: WholeForm,
    recipient: Recipient,
    *,
    now: datetime,
    form_nonce: str | None = None,
    workspace: str = "",
    zone: str = "UTC",
) -> FormView:
    """Return the view of an open question for one recipient."""
    definition = whole.content.definition
    return FormView(
        ask=ask_view(whole, workspace=workspace, zone=zone),
        deadline=whole.form.deadline,
        now=now,
        parts=_parts(whole.content),
        actions=tuple(
            ActionView(id=one.id, label=one_line(one.label), style=one.style.value)
            for one in definition.actions
        ),
        recipient=recipient.name or recipient.address,
        removed=strip_invisible(definition.content)[1],
        form_nonce=form_nonce,
    )


def _parts(content: FormContent) -> tuple[PartView, ...]:
    fields = {one.name: field_view(one) for one in content.definition.inputs}
    return tuple(
        fields[block.name]
        if isinstance(block, FieldBlock)
        else TextView(html=RenderedHtml(block.html))
        for block in _blocks(content)
        if isinstance(block, HtmlBlock) or block.name in fields
    )


def _blocks(content: FormContent) -> Sequence[ContentBlock]:
    """Return the stored blocks, or fresh ones when the rules have changed since."""
    if content.sanitiser_version == POLICY_VERSION:
        return content.blocks
    # Rare, and costs the page the import of the sanitiser: only then.
    from sayso.rendering.content import render_blocks  # noqa: PLC0415

    names = [one.name for one in content.definition.inputs]
    return render_blocks(content.definition.content, names)


def decision_view(decision: Decision, *, by: str) -> DecisionView:
    """Return what was decided and when; ``by`` is empty where nobody is to be named."""
    return DecisionView(
        action=one_line(decision.action_label), at=decision.decided_at, by=one_line(by)
    )


def value_views(definition: FormDefinition, values: Mapping[str, object]) -> tuple[ValueView, ...]:
    """Return given values in the order of the definition, options by their labels."""
    return tuple(
        ValueView(label=one_line(one.label), text=shown_value(one, values.get(one.name)))
        for one in definition.inputs
    )


def typed_view(
    definition: FormDefinition, action_id: str, values: Mapping[str, object]
) -> TypedView:
    """Return an answer that was not taken, to be given back."""
    action = definition.action(action_id)
    return TypedView(
        action=one_line(action.label) if action else "", values=value_views(definition, values)
    )
