"""The stream of a workflow as one complete body, for live and for coming readers (human-input §15).

The gateway does not stream: a reader is held while there may be news, then gets all of it at once
(DESIGN §7). Nothing but reading happens here: closing a stream never touches a run (B5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sayso.http.response import MAX_RESPONSE_BYTES, size_of
from sayso.http.sse import PAUSED_RETRY_MS, QUERY_SECONDS, may_wait
from sayso.http.workflow_forms import NodeForms
from sayso.http.workflow_frames import BEFORE_ALL, PING, Cursor, Frame, frame_text
from sayso.http.workflow_view import WorkflowView
from sayso.usecases.read_workflow import read_log

if TYPE_CHECKING:
    from sayso.domain.access import Surface
    from sayso.http.sse import Patience
    from sayso.ports import Links
    from sayso.usecases.context import Context
    from sayso.usecases.read_workflow import Workflow

PAUSED_HOLD_SECONDS: Final = 5.0
"""How long one who wants to stay is held while people think (DESIGN §7)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a reader asks for."""

    after: Cursor | None
    """What it has seen last; None: nothing yet."""
    snapshot: bool
    """Begin with where the run stands."""
    continue_on_pause: bool
    """Stay although the run is paused."""


class WorkflowReader:
    """The events of one run for one reader."""

    def __init__(
        self, workflow: Workflow, surface: Surface | None, context: Context, links: Links
    ) -> None:
        """Take the run, whose tokens the reader may see, and where things are read."""
        forms = NodeForms(run=workflow.run, surface=surface, context=context, links=links)
        self._workflow = workflow
        self._context = context
        self._view = WorkflowView(workflow, forms)

    def stream(self, wanted: Wanted, patience: Patience) -> str:
        """Return the body: what the reader wants, once there is nothing more to wait for."""
        view = self._view
        self._read_on()
        if wanted.after is None and not wanted.snapshot and view.is_finished:
            return self._body(view.frames[-1:], [])
        before: list[Frame] = []
        known = wanted.after or BEFORE_ALL
        if known > view.frames[-1].cursor or (wanted.after is None and wanted.snapshot):
            before, known = view.snapshot(), view.frames[-1].cursor
        self._hold(wanted, patience)
        news = [frame for frame in view.frames if frame.cursor > known]
        if not news and not before:
            before = self._standing()
        return self._body(before, news)

    def _read_on(self) -> None:
        for event in read_log(self._workflow.run, self._view.last, self._context):
            self._view.take(event)

    def _hold(self, wanted: Wanted, patience: Patience) -> None:
        """Wait until the run ends, or stops and the reader does not want to stay."""
        waited = paused = 0.0
        longest = PAUSED_HOLD_SECONDS if wanted.continue_on_pause else 0.0
        while not self._view.is_finished and may_wait(waited, patience):
            if self._view.is_paused and paused >= longest:
                return
            paused = paused + QUERY_SECONDS if self._view.is_paused else 0.0
            patience.sleep(QUERY_SECONDS)
            waited += QUERY_SECONDS
            self._read_on()

    def _standing(self) -> list[Frame]:
        """Return what a reader is told that knows everything: where a run stands that is at rest.

        A run that is finished says so once more, so that no client comes back for ever (§15).
        """
        if self._view.is_finished:
            return self._view.frames[-1:]
        return self._view.snapshot() if self._view.is_paused else []

    def _body(self, before: list[Frame], news: list[Frame]) -> str:
        """Return ping, snapshot and news, the news up to the size of a response.

        Frames of a snapshot leave the reader's place where it was, up to the last one: a reader
        that is cut off in between must not go on behind what it has not seen.
        """
        texts = [text for frame in before[:-1] if (text := self._text(frame, None))]
        if before:
            texts += [self._text(before[-1], before[-1].cursor)]
        size, is_full = sum(size_of(text) for text in texts), False
        for frame in news:
            text = self._text(frame, frame.cursor)
            size += size_of(text)
            if is_full := bool(texts) and size > MAX_RESPONSE_BYTES:
                break
            texts.append(text)
        rests = self._view.is_paused and not is_full
        retry = f"retry: {PAUSED_RETRY_MS}\n\n" if rests else ""
        return retry + PING + "".join(texts)

    def _text(self, frame: Frame, cursor: Cursor | None) -> str:
        said = frame.build()
        if said is None:
            return ""
        workflow = self._workflow
        wire: dict[str, Any] = {
            "event": said.event,
            "task_id": workflow.task_id,
            "workflow_run_id": workflow.run.id,
        }
        if workflow.conversation_id:
            wire["conversation_id"] = workflow.conversation_id
            wire["message_id"] = workflow.run.id
            wire["created_at"] = int(workflow.run.created_at.timestamp())
        return frame_text(said.event, wire | dict(said.members), cursor)
