"""Pausing and resuming: the two transactions that span a run and its forms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sayso.domain.errors import ConditionFailedError
from sayso.domain.run import Lease
from sayso.domain.transitions import RunStatus, RunTrigger, advance_run
from sayso.ports import Equals, Missing, Put, Update, Write
from sayso.store.codec import to_ms
from sayso.store.form_history import form_puts
from sayso.store.keys import pause_key, run_key
from sayso.store.leases import NO_CANCEL, lease_attributes, still_held, stop_reason
from sayso.store.run_codec import pause_item

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from sayso.domain.form import Form, FormContent
    from sayso.domain.run import EventDraft, Pause, Run
    from sayso.store.commit import Committer
    from sayso.store.events import EventLog
    from sayso.store.runs import RunStore


class PauseStore:
    """Stops and restarts runs."""

    def __init__(self, committer: Committer, events: EventLog, runs: RunStore) -> None:
        """Take what writes, numbers events, and knows the run record."""
        self._committer = committer
        self._events = events
        self._runs = runs

    def pause(
        self,
        run: Run,
        pause: Pause,
        forms: Sequence[tuple[Form, FormContent]],
        events: Sequence[EventDraft],
        *,
        mails: int = 0,
        now: datetime,
        due_at: datetime,
    ) -> Run:
        """Commit a pause with its forms, contents, first audit entries and events, or nothing.

        ``mails`` is how many people are about to be mailed; it counts for the run's limit.

        Raises:
            CancelSeen: A cancel was asked for; write the end instead.
            LeaseLost: The run ended or has another owner.
        """
        ttl = self._runs.ttl(run)
        paused = replace(
            run,
            status=advance_run(run.status, RunTrigger.PAUSE),
            updated_at=now,
            last_event=run.last_event + len(events),
            questions=run.questions + len(forms),
            mails=run.mails + mails,
            pause_id=pause.id,
            snapshot=pause.snapshot,
            refusal=None,
            lease=None,
            tells=0,
            due_at=due_at,
        )
        when = (*still_held(run), NO_CANCEL)
        writes: list[Write] = [self._runs.update(paused, when)]
        writes.append(Put(item=pause_item(run, pause, ttl), when=(Missing("pk"),)))
        for form, content in forms:
            writes += form_puts(form, content, ttl)
        writes += self._events.puts(run, events, now, ttl)
        try:
            self._committer.transact(writes)
        except ConditionFailedError as error:
            raise stop_reason(run, error.items[0]) from error
        return paused

    def resume(
        self,
        run: Run,
        pause: Pause,
        events: Sequence[EventDraft],
        *,
        owner: str,
        now: datetime,
        lease: timedelta,
    ) -> Run:
        """Claim the resume of a pause: one worker gets the next segment and its lease (I2).

        What is said of it is written with it, so that no replay says it twice (I11).

        Raises:
            MovedOnError: The run is not paused at this pause any more.
        """
        resumed = replace(
            run,
            status=advance_run(run.status, RunTrigger.RESUME),
            updated_at=now,
            segment=run.segment + 1,
            epoch=run.epoch + 1,
            last_event=run.last_event + len(events),
            lease=Lease(owner=owner, until=now + lease),
            deaths=0,
            tells=0,
            refusal=None,
        )
        update = Update(
            key=run_key(run.id),
            set={
                "status": resumed.status,
                "updated_at": to_ms(now),
                "segment": resumed.segment,
                "epoch": resumed.epoch,
                "last_event": resumed.last_event,
                "deaths": 0,
                "tells": 0,
                **lease_attributes(run.id, owner, now + lease),
            },
            remove=("refusal",),
            when=(
                Equals("status", RunStatus.PAUSED),
                Equals("pause_id", pause.id),
                Equals("epoch", run.epoch),
            ),
        )
        once = Update(
            key=pause_key(run.id, pause.id),
            set={"resumed_at": to_ms(now)},
            when=(Missing("resumed_at"),),
        )
        said = self._events.puts(run, events, now, self._runs.ttl(run))
        self._runs.commit([update, once, *said], run)
        return resumed
