"""Read the forms that a pause waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sayso.domain.form import AskedForm
    from sayso.domain.run import Pause
    from sayso.usecases.context import Context


def load_forms(pause: Pause | None, context: Context) -> list[AskedForm]:
    """Return the forms of a pause, in the order of its questions, in one call."""
    if pause is None or not pause.forms:
        return []
    return context.stores.forms.asked(list(pause.forms.values()))
