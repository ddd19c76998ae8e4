"""Pause a managed run: snapshot, forms, recipients; commit; then tell (DESIGN §5 Segment).

Order of side effects: what the commit refers to is written first, one transaction decides, and
only then is anybody told. A crash after the commit is healed by the sweep: the forms are due.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sayso.domain.ids import derive_pause_id
from sayso.domain.run import Audience, EventDraft, Pause, PauseReason
from sayso.domain.transitions import RunTrigger
from sayso.store.form_history import begun
from sayso.usecases.context import tell
from sayso.usecases.invite import invite, mails_of
from sayso.usecases.make_form import make_form
from sayso.usecases.segment_marks import segment_finished
from sayso.usecases.tell_people import Telling, tell_people
from sayso.usecases.time_out import LONGEST_DELAY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sayso.domain.form import WholeForm
    from sayso.domain.policy import HumanInputPolicy
    from sayso.domain.run import Run
    from sayso.domain.segment import Asked
    from sayso.ports import ContentRenderer
    from sayso.usecases.context import Context


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
    invited = invite(run, policy, len(asked.questions), asking.default_approvers, context)
    wholes = [
        make_form(
            run,
            question,
            number,
            policy,
            now,
            renderer=asking.renderer,
            invited=invited[number],
        )
        for number, question in enumerate(asked.questions)
    ]
    # From here on a form is what will be stored, so that it can be closed without reading it.
    wholes = [replace(whole, form=begun(whole.form)) for whole in wholes]
    for whole in wholes:
        context.stores.recipients.put(whole.form.id, whole.recipients, context.stores.runs.ttl(run))
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
    finished = segment_finished(run, RunTrigger.PAUSE, asked.usage)
    events = [*asked.events, finished, *_announcements(wholes, pause)]
    records = [(whole.form, whole.content) for whole in wholes]
    context.stores.pauses.pause(
        run, pause, records, events, mails=mails_of(invited), now=now, due_at=run.deadline
    )
    context.report("run_paused", run_id=run.id)
    _report_warnings(wholes, context)
    tell_people(wholes, asking)


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


def _report_warnings(wholes: Sequence[WholeForm], context: Context) -> None:
    for whole in wholes:
        if number := len(whole.content.warnings):
            context.report("unknown_variables", form_id=whole.form.id, count=number)
        if number := len(whole.content.unknown_members):
            context.report("unknown_members", form_id=whole.form.id, count=number)


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
