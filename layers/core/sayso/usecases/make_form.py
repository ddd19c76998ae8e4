"""Make a form: from what the model asks, or from the form that the run's policy defines.

With a form in the policy the model's call only says when to ask. People see the author's text and
fields; the model's words stand where the author put ``{{#ask.question#}}`` and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sayso.domain.asking import composed_content, definition_of
from sayso.domain.form import Form, FormContent, WholeForm
from sayso.domain.ids import derive_form_id, derive_pause_id
from sayso.domain.invocation import DEBUGGER
from sayso.domain.node_definition import node_form
from sayso.domain.placeholders import mentioned
from sayso.domain.policy import EmailMethod
from sayso.domain.recipients import has_webapp
from sayso.domain.transitions import FormStatus
from sayso.domain.variables import visible_variables
from sayso.store.form_codec import definition_digest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sayso.domain.form import FormDefinition
    from sayso.domain.policy import HumanInputPolicy
    from sayso.domain.recipients import Invited
    from sayso.domain.run import Run
    from sayso.domain.segment import Question
    from sayso.ports import ContentRenderer, RenderedContent

TELL_WITHIN = timedelta(seconds=60)
"""A pause that was not told after this time is told by the sweep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who asks: what a form says about the run behind it."""

    asked_by: str
    base_url: str
    run_id: str = ""
    run_title: str = ""
    invoke_from: str = ""


def make_form(
    run: Run,
    question: Question,
    number: int,
    policy: HumanInputPolicy,
    now: datetime,
    *,
    renderer: ContentRenderer,
    invited: Invited,
) -> WholeForm:
    """Return the form of one question, not stored yet; the same for every attempt (derived ids)."""
    origin = Origin(
        asked_by=run.asked_by,
        base_url=run.base_url,
        run_id=run.id,
        run_title=run.title,
        invoke_from=run.invoke_from,
    )
    content = make_content(question.args, policy, origin, renderer)
    content = replace(content, unknown_members=invited.unknown)
    deadline = min(policy.form_deadline(now), run.deadline)
    form = Form(
        id=derive_form_id(run.id, run.segment, question.tool_call_id, number),
        run_id=run.id,
        pause_id=derive_pause_id(run.id, run.segment),
        segment=run.segment,
        tool_call_id=question.tool_call_id,
        tool_name=question.tool_name,
        tenant=run.tenant,
        app=run.app,
        status=FormStatus.WAITING,
        created_at=now,
        deadline=deadline,
        content_digest=content.digest,
        due_at=min(now + TELL_WITHIN, deadline),
    )
    return WholeForm(form=form, content=content, recipients=invited.recipients)


def make_content(
    asked: Mapping[str, Any],
    policy: HumanInputPolicy,
    origin: Origin,
    renderer: ContentRenderer,
) -> FormContent:
    """Return the content of a form: definition, text and HTML, each made once.

    Args:
        asked: Normalised ``AskHumanToolArgs``.
        policy: Of the run.
        origin: Who asks.
        renderer: Renders and sanitises.
    """
    variables = visible_variables(
        policy.variables, run_id=origin.run_id, title=origin.run_title, asked=asked
    )
    definition, warnings, given, shown = _define(asked, policy, variables)
    rendered = _render(definition, renderer)
    return FormContent(
        definition=definition,
        blocks=rendered.blocks,
        mail_html=rendered.mail_html,
        sanitiser_version=rendered.sanitiser_version,
        digest=definition_digest(definition),
        form_content=given,
        rendered_content=shown,
        mail=_authors_mail(policy, variables),
        asked_by=origin.asked_by,
        base_url=origin.base_url,
        run_title=origin.run_title,
        warnings=warnings,
        invoke_from=origin.invoke_from,
        display_in_ui=origin.invoke_from == DEBUGGER or has_webapp(policy),
        show_decider=policy.policy.show_decider,
    )


def _define(
    asked: Mapping[str, Any], policy: HumanInputPolicy, variables: Mapping[str, Any]
) -> tuple[FormDefinition, tuple[str, ...], str, str]:
    """Return definition, warnings, the text as it was written, and as it is shown."""
    if policy.form is None:
        definition = definition_of(asked)
        text = composed_content(definition)
        return definition, (), text, text
    made = node_form(policy.form, variables, question=asked["question"])
    return made.definition, made.warnings, policy.form.form_content, made.definition.content


def _render(definition: FormDefinition, renderer: ContentRenderer) -> RenderedContent:
    return renderer.render(definition.content, [one.name for one in definition.inputs])


def _authors_mail(policy: HumanInputPolicy, variables: Mapping[str, Any]) -> dict[str, Any]:
    for method in policy.enabled_methods:
        if isinstance(method, EmailMethod) and (method.config.subject or method.config.body):
            subject, body = method.config.subject, method.config.body
            return {
                "subject": subject,
                "body": body,
                "variables": mentioned(variables, subject, body),
            }
    return {}
