"""Ask for the resume of the run that waits for a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.form import FormKind
from sayso.usecases.context import tell

if TYPE_CHECKING:
    from sayso.domain.form import Form
    from sayso.usecases.context import Context


def ask_to_resume(form: Form, context: Context) -> None:
    """Queue a resume of the form's run; a delivery test has none (human-input §11.2).

    A queue that is down loses nothing: the form stays due and the sweep asks again.
    """
    if form.kind is FormKind.RUNTIME:
        tell(context, lambda: context.queue.resume(form.run_id), run_id=form.run_id)
