"""Log lines hold what is on the list and nothing else."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from sayso import observability
from sayso.domain.errors import FormClosedError, PermanentError, ThrottledError
from sayso.observability import ALLOWED_KEYS, Metric, bind_request, count, log_event, log_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Lines = Callable[[], list[dict[str, Any]]]

SECRET = "cfo@example.org said no"


def raise_it(error: BaseException) -> None:
    raise error


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Lines]:
    """Return the lines logged so far, by a logger of this test."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"test-{uuid.uuid4()}")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Sayso")
    observability.logger.cache_clear()
    yield lambda: [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    observability.logger.cache_clear()


def test_event_and_its_facts_are_logged(lines: Lines) -> None:
    bind_request("submit_form", "request-1")
    log_event("form_submitted", form_id="f", status="submitted", duration_ms=12)

    (line,) = lines()

    assert (
        line.items()
        >= {
            "level": "INFO",
            "event": "form_submitted",
            "form_id": "f",
            "status": "submitted",
            "duration_ms": 12,
            "function": "submit_form",
            "request_id": "request-1",
        }.items()
    )
    assert line.keys() <= ALLOWED_KEYS


def test_fact_that_is_not_on_the_list_is_left_out_and_named(lines: Lines) -> None:
    log_event("form_submitted", answer=SECRET)  # type: ignore[call-arg]  # what is tested

    (line,) = lines()

    assert line["dropped"] == ["answer"]
    assert SECRET not in json.dumps(line)


def test_whoever_logs_the_list_holds(lines: Lines) -> None:
    try:
        raise_it(ValueError(SECRET))
    except ValueError:
        observability.logger().exception("broken", extra={"body": SECRET})

    (line,) = lines()

    assert line["event"] == "broken"
    assert line["dropped"] == ["body", "exception", "exception_name", "stack_trace"]
    assert SECRET not in json.dumps(line)


def test_long_text_is_cut(lines: Lines) -> None:
    log_event("x" * 1000, operation="y" * 1000)

    (line,) = lines()

    assert (len(line["event"]), len(line["operation"])) == (300, 300)


@pytest.mark.parametrize(
    ("error", "level", "text"),
    [
        (FormClosedError("f", "timeout"), "INFO", "FormClosedError: form 'f' is timeout, expected"),
        (ThrottledError("slow down"), "WARNING", "ThrottledError: slow down"),
        (PermanentError("broken"), "ERROR", "PermanentError: broken"),
        (ValueError(SECRET), "ERROR", "ValueError"),
        (KeyboardInterrupt(SECRET), "ERROR", "KeyboardInterrupt"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_failure_is_logged_by_who_acts_and_quotes_only_our_own_text(
    lines: Lines, error: BaseException, level: str, text: str
) -> None:
    try:
        raise_it(error)
    except BaseException as caught:  # noqa: BLE001 - every kind is tested
        log_failure("segment_failed", caught, run_id="r")

    (line,) = lines()

    assert line["level"] == level
    assert line["error"].startswith(text)
    assert line["where"].startswith("test_observability.py:")
    assert SECRET not in json.dumps(line)


def test_metric_is_one_line_of_embedded_format(lines: Lines) -> None:
    count(Metric.FAILURES, 2)

    (line,) = lines()

    assert line["Failures"] == [2.0]
    assert line["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Sayso"
    assert line["_aws"]["CloudWatchMetrics"][0]["Metrics"] == [
        {"Name": "Failures", "Unit": "Count"}
    ]
