"""Pause a managed run: snapshot, forms, recipients; commit; then tell (DESIGN §5 Segment).

Order of side effects: what the commit refers to is written first, one transaction decides, and
only then is anybody told. A crash after the commit is healed by the sweep: the forms are due.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sayso.domain.asking import definition_of
from sayso.domain.form import Form, FormContent, WholeForm
from sayso.domain.ids import derive_form_id, derive_pause_id
from sayso.domain.recipients import recipients_of
from sayso.domain.run import Audience, EventDraft, Pause, PauseReason
from sayso.domain.transitions import FormStatus
from sayso.store.form_codec import definition_digest
from sayso.usecases.context import tell
from sayso.usecases.tell_people import Telling, tell_people
from sayso.usecases.time_out import LONGEST_DELAY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sayso.domain.policy import HumanInputPolicy
    from sayso.domain.run import Run
    from sayso.domain.segment import Asked, Question
    from sayso.ports import ContentRenderer

TELL_WITHIN = timedelta(seconds=60)
"""A pause that was not told after this time is told by the sweep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking(Telling):
    """What asking people needs."""

    renderer: ContentRenderer
    default_approvers: tuple[str, ...]


def pause_for_people(run: Run, asked: Asked, asking: Asking, policy: HumanInputPolicy) -> None:
    """Commit a pause with one form for each question, then tell everybody.

    Raises:
        SegmentStop: The run is to be cancelled, or another worker has it.
    """
    context = asking.context
    now = context.clock.now()
    wholes = [
        _make_form(run, question, number, policy, asking, now)
        for number, question in enumerate(asked.questions)
    ]
    for whole in wholes:
        context.stores.forms.put_recipients(
            whole.form.id, whole.recipients, context.stores.runs.ttl(run)
        )
    snapshot = context.stores.documents.put(
        run.tenant, run.id, f"snapshots/{run.segment}", asked.snapshot
    )
    pause = Pause(
        id=derive_pause_id(run.id, run.segment),
        reason=PauseReason.HUMAN_INPUT_REQUIRED,
        created_at=now,
        snapshot=snapshot,
        forms={whole.form.tool_call_id: whole.form.id for whole in wholes},
    )
    events = [*asked.events, *_announcements(wholes, pause)]
    records = [(whole.form, whole.content) for whole in wholes]
    context.stores.pauses.pause(run, pause, records, events, now=now, due_at=run.deadline)
    context.report("run_paused", run_id=run.id)
    tell_people(run, wholes, asking)


def pause_until(run: Run, instant: datetime, asking: Asking) -> None:
    """Commit a pause that ends by itself (``not_before``), then set its timer.

    Raises:
        SegmentStop: The run is to be cancelled, or another worker has it.
    """
    context = asking.context
    now = context.clock.now()
    pause = Pause(
        id=derive_pause_id(run.id, run.segment),
        reason=PauseReason.SCHEDULED_PAUSE,
        created_at=now,
        snapshot=None,
    )
    paused = EventDraft(
        type="run_paused",
        data={"reasons": [{"TYPE": PauseReason.SCHEDULED_PAUSE, "message": f"until {instant}"}]},
        audience=Audience.MANAGED,
    )
    due_at = min(instant, run.deadline)
    context.stores.pauses.pause(run, pause, [], [paused], now=now, due_at=due_at)
    wait = instant - now
    if wait <= LONGEST_DELAY:
        tell(context, lambda: context.queue.continue_(run.id, delay=wait), run_id=run.id)
    else:
        name, message = f"wait-{run.id}", {"kind": "resume", "run_id": run.id}
        tell(context, lambda: asking.timers.at(name, instant, message), run_id=run.id)


def _make_form(
    run: Run,
    question: Question,
    number: int,
    policy: HumanInputPolicy,
    asking: Asking,
    now: datetime,
) -> WholeForm:
    definition = definition_of(question.args)
    digest = definition_digest(definition)
    rendered = asking.renderer.render(definition.content, [one.name for one in definition.inputs])
    content = FormContent(
        definition=definition,
        blocks=rendered.blocks,
        mail_html=rendered.mail_html,
        sanitiser_version=rendered.sanitiser_version,
        digest=digest,
        mail=_authors_mail(policy),
        asked_by=run.asked_by,
        base_url=run.base_url,
        run_title=run.title,
    )
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
        content_digest=digest,
        due_at=min(now + TELL_WITHIN, deadline),
    )
    recipients = recipients_of(policy, asking.default_approvers)
    return WholeForm(form=form, content=content, recipients=recipients)


def _authors_mail(policy: HumanInputPolicy) -> dict[str, Any]:
    for method in policy.enabled_methods:
        if method.type == "email" and (method.config.subject or method.config.body):
            return {
                "subject": method.config.subject,
                "body": method.config.body,
                "variables": policy.variables,
            }
    return {}


def _announcements(wholes: Sequence[WholeForm], pause: Pause) -> list[EventDraft]:
    """Return the events that only readers of managed events see (human-input §14.1, 14.2).

    Links are never stored: the reader adds them where its surface may show them.
    """
    required = [
        EventDraft(
            type="human_input_required",
            data={"form_id": whole.form.id, "tool_call_id": whole.form.tool_call_id},
            audience=Audience.MANAGED,
        )
        for whole in wholes
    ]
    reasons = [{"TYPE": pause.reason, "form_id": whole.form.id} for whole in wholes]
    paused = EventDraft(type="run_paused", data={"reasons": reasons}, audience=Audience.MANAGED)
    return [*required, paused]
