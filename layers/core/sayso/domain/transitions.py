"""The state machines of runs and forms, as tables (DESIGN §4).

Nothing else sets a status: a store asks for the states a trigger may come from and puts them into
the condition of its write. Terminal states have no row, so nothing leads out of them.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

from sayso.domain.errors import InvalidTransitionError


class RunStatus(StrEnum):
    """State of a run."""

    RUNNING = "running"
    PAUSED = "paused"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"

    @property
    def is_final(self) -> bool:
        """Whether nothing can follow."""
        return not any(source is self for source, _ in RUN_TABLE)


class RunTrigger(StrEnum):
    """What may happen to a run."""

    PAUSE = "pause"
    RESUME = "resume"
    SUCCEED = "succeed"
    FAIL = "fail"
    CANCEL = "cancel"
    EXPIRE = "expire"


class FormStatus(StrEnum):
    """State of a form."""

    WAITING = "waiting"
    SUBMITTED = "submitted"
    TIMEOUT = "timeout"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    UNDELIVERABLE = "undeliverable"

    @property
    def is_final(self) -> bool:
        """Whether nothing can follow."""
        return not any(source is self for source, _ in FORM_TABLE)

    @property
    def resumes_run(self) -> bool:
        """Whether a form that ended like this has a result for the model (DESIGN §4)."""
        return self in _RESUMING_STATES


class FormTrigger(StrEnum):
    """What may happen to a form."""

    SUBMIT = "submit"
    TIME_OUT = "time_out"
    EXPIRE = "expire"
    CANCEL = "cancel"
    GIVE_UP = "give_up"


RUN_TABLE = MappingProxyType(
    {
        (RunStatus.RUNNING, RunTrigger.PAUSE): RunStatus.PAUSED,
        (RunStatus.RUNNING, RunTrigger.SUCCEED): RunStatus.SUCCEEDED,
        (RunStatus.RUNNING, RunTrigger.FAIL): RunStatus.FAILED,
        (RunStatus.RUNNING, RunTrigger.CANCEL): RunStatus.CANCELLED,
        (RunStatus.RUNNING, RunTrigger.EXPIRE): RunStatus.EXPIRED,
        (RunStatus.PAUSED, RunTrigger.RESUME): RunStatus.RUNNING,
        (RunStatus.PAUSED, RunTrigger.CANCEL): RunStatus.CANCELLED,
        (RunStatus.PAUSED, RunTrigger.EXPIRE): RunStatus.EXPIRED,
    }
)

FORM_TABLE = MappingProxyType(
    {
        (FormStatus.WAITING, FormTrigger.SUBMIT): FormStatus.SUBMITTED,
        (FormStatus.WAITING, FormTrigger.TIME_OUT): FormStatus.TIMEOUT,
        (FormStatus.WAITING, FormTrigger.EXPIRE): FormStatus.EXPIRED,
        (FormStatus.WAITING, FormTrigger.CANCEL): FormStatus.CANCELLED,
        (FormStatus.WAITING, FormTrigger.GIVE_UP): FormStatus.UNDELIVERABLE,
    }
)

_RESUMING_STATES = frozenset(
    {FormStatus.SUBMITTED, FormStatus.TIMEOUT, FormStatus.CANCELLED, FormStatus.UNDELIVERABLE}
)


def run_sources(trigger: RunTrigger) -> frozenset[RunStatus]:
    """Return the states from which ``trigger`` may happen to a run."""
    return frozenset(source for source, row in RUN_TABLE if row is trigger)


def form_sources(trigger: FormTrigger) -> frozenset[FormStatus]:
    """Return the states from which ``trigger`` may happen to a form."""
    return frozenset(source for source, row in FORM_TABLE if row is trigger)


def advance_run(status: RunStatus, trigger: RunTrigger) -> RunStatus:
    """Return the state that follows.

    Raises:
        InvalidTransitionError: The table has no such row.
    """
    try:
        return RUN_TABLE[status, trigger]
    except KeyError:
        allowed = sorted(row for source, row in RUN_TABLE if source is status)
        message = f"a run that is {status!s} cannot {trigger!s}; allowed: {allowed}"
        raise InvalidTransitionError(message) from None


def advance_form(status: FormStatus, trigger: FormTrigger) -> FormStatus:
    """Return the state that follows.

    Raises:
        InvalidTransitionError: The table has no such row.
    """
    try:
        return FORM_TABLE[status, trigger]
    except KeyError:
        allowed = sorted(row for source, row in FORM_TABLE if source is status)
        message = f"a form that is {status!s} cannot {trigger!s}; allowed: {allowed}"
        raise InvalidTransitionError(message) from None
