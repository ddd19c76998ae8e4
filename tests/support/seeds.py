"""Runs in all the states that the sample events of ``events/`` speak of; ids are always the same."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from support.functions import ASK, SAY, WEBAPP_AND_MAIL, Functions

if TYPE_CHECKING:
    from sayso.domain.ids import RunId


@dataclass(frozen=True, kw_only=True)
class Seeds:
    """The functions and their runs. No message is left in any queue."""

    functions: Functions
    asked: RunId
    """Waits for its people, who have their mails."""
    new: RunId
    """Was created; nobody has worked on it."""
    answered: RunId
    """Its form was answered by the mailed person; nobody has resumed it."""
    late: RunId
    """Its form's deadline has passed; nobody has noticed."""
    waits: RunId
    """Waits for its ``not_before``, which has come."""
    unmailed: RunId
    """Waits for people whose mails are not sent yet."""


def seeded() -> Seeds:
    """Return functions with one run of each kind, two minutes after they were made."""
    functions = Functions()
    asked = functions.paused_run()
    answered = functions.paused_run()
    functions.post_form(functions.token(answered), action="approve", reason="late")
    late = functions.paused_run(timeout=1, timeout_unit="minute")
    waits = functions.create(
        SAY, human_input={**WEBAPP_AND_MAIL, "not_before": "2026-01-05T09:01:00Z"}
    )
    functions.deliver(functions.wiring.queue.pop_due()[-1])
    functions.wiring.queue.drop()
    unmailed = functions.create(ASK, human_input=WEBAPP_AND_MAIL)
    functions.deliver(functions.wiring.queue.pop_due()[-1])
    new = functions.create(SAY)
    functions.wiring.queue.drop()
    functions.clock.advance(timedelta(minutes=2))
    return Seeds(
        functions=functions,
        asked=asked,
        new=new,
        answered=answered,
        late=late,
        waits=waits,
        unmailed=unmailed,
    )
