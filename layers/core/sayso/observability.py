"""Logs and metrics: one line an event, only keys from a list, never what people wrote.

The list is enforced where a line is written, so that nothing else gets out, whoever logs: no
bodies, answers, tokens, addresses, prompts or environment (I10). The text of an exception that is
not ours may quote such values, so only its class and place are logged.
"""

from __future__ import annotations

import logging
import traceback
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from aws_lambda_powertools.logging import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from sayso.domain.errors import AppError, CallerError, RetryableError

if TYPE_CHECKING:
    from types import TracebackType


class Facts(TypedDict, total=False):
    """What a log line may say besides its event."""

    run_id: str
    form_id: str
    pause_id: str
    tenant: str
    app: str
    recipient: int
    """A number, never an address."""
    status: str
    kind: str
    segment: int
    operation: str
    attempt: int
    count: int
    shard: int
    duration_ms: int
    message_id: str
    route: str
    """Route key, never the path: that may hold a token."""
    status_code: int
    code: str


_ADDED_KEYS = frozenset(
    {
        "level",
        "event",
        "timestamp",
        "service",
        "function",
        "request_id",
        "xray_trace_id",
        "error",
        "where",
    }
)
ALLOWED_KEYS = frozenset(Facts.__annotations__) | _ADDED_KEYS
"""All keys that a log line can have; others are left out and named in ``dropped``."""

_MAX_TEXT_CHARS = 300
_FRAMES = 3


class _Formatter(LambdaPowertoolsFormatter):
    """Writes the allowed keys only."""

    def serialize(self, log: dict[str, Any]) -> str:  # type: ignore[override]
        """Return the line; the message of the record is the event."""
        event = log.pop("message", "")
        log = {"level": log.pop("level", ""), "event": event, **log}
        line = {name: _short(value) for name, value in log.items() if name in ALLOWED_KEYS}
        if dropped := sorted(log.keys() - ALLOWED_KEYS - {"location"}):
            line["dropped"] = dropped
        return super().serialize(line)


def _short(value: Any) -> Any:
    return value[:_MAX_TEXT_CHARS] if isinstance(value, str) else value


@cache
def logger() -> Logger:
    """Return the logger of this process; level and service come from Powertools' variables."""
    _silence_libraries()
    return Logger(logger_formatter=_Formatter(use_rfc3339=True, utc=True))


def _silence_libraries() -> None:
    """Let only our own logger speak: lines of libraries hold addresses, and may hold anything.

    Lambda sets the root logger to INFO, at which HTTP clients log every URL they call. Whatever
    matters to us comes as an exception.
    """
    logging.getLogger().setLevel(logging.CRITICAL)


def bind_request(function: str, request_id: str) -> None:
    """Let the lines that follow say which function and request they belong to.

    In place of Powertools' decorator, which logs whole events when an environment variable asks.
    """
    logger().append_keys(function=function, request_id=request_id)


def log_event(event: str, **facts: Unpack[Facts]) -> None:
    """Log that something happened."""
    logger().info(event, extra=dict(facts))


def log_failure(event: str, error: BaseException, **facts: Unpack[Facts]) -> None:
    """Log that something failed: a caller's mistake as info, what time mends as warning."""
    match error:
        case CallerError():
            log = logger().info
        case RetryableError():
            log = logger().warning
        case _:
            log = logger().error
    place = _place_of(error.__traceback__)
    log(event, extra={**facts, "error": _describe(error), "where": place})


def _describe(error: BaseException) -> str:
    name = type(error).__name__
    # Our own texts hold nothing secret (STYLE 6); those of others may quote anything.
    return f"{name}: {error}" if isinstance(error, AppError) else name


def _place_of(trace: TracebackType | None) -> str:
    frames = traceback.extract_tb(trace)[-_FRAMES:]
    names = (f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames)
    return " > ".join(names)


class Metric(StrEnum):
    """What is counted. Each has an alarm in the template or a line in the docs on operating."""

    FAILURES = "Failures"
    """Permanent errors: a person must look."""
    RETRIES = "Retries"
    """Errors that time mends."""
    UNDELIVERABLE_FORMS = "UndeliverableForms"
    LIMITS_REACHED = "LimitsReached"


def count(metric: Metric, number: int = 1) -> None:
    """Add to a metric, as one line in CloudWatch's embedded metric format."""
    with single_metric(name=metric, unit=MetricUnit.Count, value=number):
        pass
