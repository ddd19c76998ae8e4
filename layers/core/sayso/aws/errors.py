"""Turns what botocore raises into errors of the domain.

Unknown codes count as "not now": a wrong permission or a missing queue is mended by an operator,
and until then the message waits in its queue instead of ending a run. Texts hold the operation and
the code only; the service's own text, which may quote values, is in the cause.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from sayso.domain.errors import AppError, PermanentError, ServiceUnavailableError, ThrottledError

if TYPE_CHECKING:
    from collections.abc import Iterator

_THROTTLED = frozenset(
    {
        "ConditionalRequestConflict",
        "LimitExceededException",
        "OverLimit",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)
_REFUSED = frozenset(
    {
        "BatchRequestTooLong",
        "EntityTooLarge",
        "IdempotentParameterMismatchException",
        "InvalidArgument",
        "InvalidMessageContents",
        "InvalidParameterValue",
        "ItemCollectionSizeLimitExceededException",
        "KeyTooLongError",
        "SerializationException",
        "ValidationException",
    }
)
"""Codes for requests that no repetition makes right."""


def code_of(error: ClientError) -> str:
    """Return the service's error code without the namespace that SQS puts before it."""
    return error.response.get("Error", {}).get("Code", "").rpartition(".")[2]


def to_domain(error: ClientError | BotoCoreError) -> AppError:
    """Return the domain's error for one of botocore; raise it ``from`` the original."""
    if isinstance(error, ParamValidationError):
        return PermanentError("a request to AWS was malformed")
    if not isinstance(error, ClientError):
        return ServiceUnavailableError(f"no answer from AWS: {type(error).__name__}")
    code = code_of(error)
    message = f"{error.operation_name} was answered {code!r}"
    if code in _THROTTLED:
        return ThrottledError(message)
    if code in _REFUSED:
        return PermanentError(message)
    return ServiceUnavailableError(message)


@contextmanager
def translated() -> Iterator[None]:
    """Let only errors of the domain out of the body."""
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        raise to_domain(error) from error
