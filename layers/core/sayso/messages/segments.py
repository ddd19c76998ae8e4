"""Messages of the queues ``starts`` and ``wakes``: run, go on, or time out (DESIGN §5)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sayso.domain.errors import PermanentError
from sayso.domain.ids import FormId, RunId
from sayso.usecases.resume_run import resume_run
from sayso.usecases.run_segment import run_segment
from sayso.usecases.time_out import time_out_form

if TYPE_CHECKING:
    from sayso.usecases.run_segment import Workshop


def work(body: str, shop: Workshop) -> None:
    """Do what one message asks for.

    Raises:
        RetryableError: Infrastructure failed; the message is to come again.
        PermanentError: Not one of our messages; a person finds it among the dead letters.
    """
    match json.loads(body):
        case {"kind": "start", "run_id": str(run_id)}:
            run_segment(RunId(run_id), shop)
        case {"kind": "resume" | "continue", "run_id": str(run_id)}:
            resume_run(RunId(run_id), shop)
        case {"kind": "timeout", "form_id": str(form_id)}:
            time_out_form(FormId(form_id), shop.context)
        case _:
            message = "expected a message of kind start, resume, continue or timeout"
            raise PermanentError(message)
