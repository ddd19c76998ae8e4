"""Decide whom the forms of a pause ask, within the limits of a form and of a run (DESIGN §3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from sayso.domain.form import DeliveryState
from sayso.domain.recipients import Invited, recipients_of
from sayso.usecases.find_people import find_people

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sayso.domain.policy import HumanInputPolicy
    from sayso.domain.run import Run
    from sayso.usecases.context import Context

MAX_MAILS_PER_RUN: Final = 200
"""People that one run may mail, each once a question (DESIGN §3 Limits)."""


def invite(
    run: Run,
    policy: HumanInputPolicy,
    questions: int,
    default_approvers: tuple[str, ...],
    context: Context,
) -> list[Invited]:
    """Return whom each question of a pause asks.

    A question whose mails would go beyond the run's limit sends none of them: whom it can't reach
    otherwise either is told to the model as ``unavailable``.
    """
    people = find_people(policy, run.tenant, context.stores.members, acting=run.acting_user)
    invited = recipients_of(policy, default_approvers, invoke_from=run.invoke_from, people=people)
    if invited.left_out:
        context.report("recipients_left_out", run_id=run.id, count=invited.left_out)
    mails = mails_of([invited])
    affordable = (MAX_MAILS_PER_RUN - run.mails) // mails if mails else questions
    if affordable >= questions:
        return [invited] * questions
    context.report("mails_over_limit", run_id=run.id, count=(questions - affordable) * mails)
    return [invited] * affordable + [_unmailed(invited)] * (questions - affordable)


def mails_of(invited: Sequence[Invited]) -> int:
    """Return how many people are mailed."""
    states = [one.state for each in invited for one in each.recipients]
    return states.count(DeliveryState.QUEUED)


def _unmailed(invited: Invited) -> Invited:
    failed = DeliveryState.FAILED
    return replace(
        invited,
        recipients=tuple(
            replace(one, state=failed) if one.state is DeliveryState.QUEUED else one
            for one in invited.recipients
        ),
    )
