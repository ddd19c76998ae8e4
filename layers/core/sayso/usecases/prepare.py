"""Gather what the agent needs for a segment: request, snapshot, answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sayso.domain.ask_result import ask_result
from sayso.domain.run import Face
from sayso.domain.segment import SegmentWork

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sayso.domain.form import AskedForm
    from sayso.domain.run import Pause, Run
    from sayso.store.requests import StoredRequest
    from sayso.store.stores import Stores

MAX_QUESTIONS_PER_TURN = 10
"""Questions in one model turn (DESIGN §3 Limits)."""
MAX_QUESTIONS_PER_RUN = 20
"""Questions a run may ask (DESIGN §3 Limits)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What lies ready for a segment."""

    work: SegmentWork
    """With the request as it is stored, without credentials."""
    request: StoredRequest

    def policy(self) -> Mapping[str, Any]:
        """Return the ``human_input`` of the request, empty in a protocol run."""
        own: Mapping[str, Any] = self.request.plain.get("human_input") or {}
        return own

    def unlocked(self, run: Run, stores: Stores) -> SegmentWork:
        """Return the work of the claimed run, credentials put back in their places.

        Raises:
            PermanentError: The credentials cannot be opened.
        """
        request = stores.requests.unlock(run, self.request)
        return replace(self.work, request=request, segment=run.segment)


def prepare(
    run: Run,
    request: StoredRequest,
    pause: Pause | None,
    asked: Sequence[AskedForm] | None,
    stores: Stores,
    remaining_seconds: Callable[[], float],
) -> Prepared:
    """Return what the agent gets.

    Args:
        run: The run.
        request: Its request.
        pause: The pause it goes on from.
        asked: Its forms, all ended; None when the answers are not to be looked at.
        stores: Where the snapshot is.
        remaining_seconds: Time until the platform stops this worker.

    Raises:
        PermanentError: The snapshot is gone or corrupt.
    """
    snapshot = None
    if pause is not None and pause.snapshot is not None:
        snapshot = stores.documents.get(pause.snapshot)
    work = SegmentWork(
        run_id=run.id,
        tenant=run.tenant,
        app=run.app,
        face=run.face,
        segment=run.segment,
        request=request.plain,
        request_digest=request.digest,
        snapshot=snapshot,
        answers=None if snapshot is None or asked is None else _answers(pause, asked),
        max_questions=1 if run.face is Face.PROTOCOL else MAX_QUESTIONS_PER_TURN,
        questions_left=max(0, MAX_QUESTIONS_PER_RUN - run.questions),
        remaining_seconds=remaining_seconds,
    )
    return Prepared(work=work, request=request)


def _answers(pause: Pause | None, asked: Sequence[AskedForm]) -> Mapping[str, Any]:
    by_id = {one.form.id: one for one in asked}
    calls = pause.forms.items() if pause else ()
    return {
        call: ask_result(by_id[form_id].form, by_id[form_id].content) for call, form_id in calls
    }
