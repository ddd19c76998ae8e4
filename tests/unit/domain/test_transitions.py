"""The state tables: final states are final, every state is reachable, nothing else is allowed."""

from __future__ import annotations

from itertools import product

import pytest

from sayso.domain.errors import InvalidTransitionError
from sayso.domain.transitions import (
    FORM_TABLE,
    RUN_TABLE,
    FormStatus,
    FormTrigger,
    RunStatus,
    RunTrigger,
    advance_form,
    advance_run,
    form_sources,
    run_sources,
)


@pytest.mark.parametrize(("status", "trigger"), list(product(RunStatus, RunTrigger)))
def test_a_run_moves_exactly_as_its_table_says(status: RunStatus, trigger: RunTrigger) -> None:
    if (status, trigger) in RUN_TABLE:
        assert advance_run(status, trigger) is RUN_TABLE[status, trigger]
        assert status in run_sources(trigger)
    else:
        with pytest.raises(InvalidTransitionError):
            advance_run(status, trigger)


@pytest.mark.parametrize(("status", "trigger"), list(product(FormStatus, FormTrigger)))
def test_a_form_moves_exactly_as_its_table_says(status: FormStatus, trigger: FormTrigger) -> None:
    if (status, trigger) in FORM_TABLE:
        assert advance_form(status, trigger) is FORM_TABLE[status, trigger]
        assert status in form_sources(trigger)
    else:
        with pytest.raises(InvalidTransitionError):
            advance_form(status, trigger)


def test_only_running_and_paused_runs_can_move() -> None:
    assert {status for status in RunStatus if not status.is_final} == {
        RunStatus.RUNNING,
        RunStatus.PAUSED,
    }


def test_only_waiting_forms_can_move() -> None:
    assert {status for status in FormStatus if not status.is_final} == {FormStatus.WAITING}


def test_every_state_is_reached_from_the_first() -> None:
    assert {RunStatus.RUNNING, *RUN_TABLE.values()} == set(RunStatus)
    assert {FormStatus.WAITING, *FORM_TABLE.values()} == set(FormStatus)


def test_an_expired_form_never_resumes_a_run() -> None:
    assert {status for status in FormStatus if status.resumes_run} == {
        FormStatus.SUBMITTED,
        FormStatus.TIMEOUT,
        FormStatus.CANCELLED,
        FormStatus.UNDELIVERABLE,
    }
