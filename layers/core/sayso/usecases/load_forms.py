"""Read the forms that a pause waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sayso.domain.form import WholeForm
    from sayso.domain.run import Pause
    from sayso.usecases.context import Context


def load_forms(pause: Pause | None, context: Context) -> list[WholeForm]:
    """Return the forms of a pause, in the order of its questions."""
    ids = pause.forms.values() if pause else ()
    found = [context.stores.forms.whole(form_id) for form_id in ids]
    return [whole for whole in found if whole is not None]
