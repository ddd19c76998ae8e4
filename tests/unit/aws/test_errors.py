"""Each error of AWS becomes one of the domain that says who acts next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    ReadTimeoutError,
)

from sayso.aws.errors import code_of, to_domain, translated
from sayso.domain.errors import AppError, PermanentError, ServiceUnavailableError, ThrottledError

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError

SECRET = "what a service quotes"


def client_error(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": SECRET}}, "PutItem")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("ProvisionedThroughputExceededException", ThrottledError),
        ("ThrottlingException", ThrottledError),
        ("TransactionConflictException", ThrottledError),
        ("TransactionInProgressException", ThrottledError),
        ("SlowDown", ThrottledError),
        ("ValidationException", PermanentError),
        ("IdempotentParameterMismatchException", PermanentError),
        ("InternalServerError", ServiceUnavailableError),
        ("AccessDeniedException", ServiceUnavailableError),
        ("ResourceNotFoundException", ServiceUnavailableError),
        ("AWS.SimpleQueueService.NonExistentQueue", ServiceUnavailableError),
        ("", ServiceUnavailableError),
    ],
)
def test_code_of_a_service_says_who_acts(code: str, kind: type[AppError]) -> None:
    assert type(to_domain(client_error(code))) is kind


@pytest.mark.parametrize(
    "error",
    [
        ReadTimeoutError(endpoint_url="x"),
        ConnectTimeoutError(endpoint_url="x"),
        EndpointConnectionError(endpoint_url="x"),
        NoCredentialsError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_missing_answer_is_for_time_to_mend(error: BotoCoreError) -> None:
    assert type(to_domain(error)) is ServiceUnavailableError


def test_malformed_request_is_permanent() -> None:
    assert type(to_domain(ParamValidationError(report=SECRET))) is PermanentError


def test_text_names_operation_and_code_and_quotes_nothing() -> None:
    error = client_error("ValidationException")

    assert str(to_domain(error)) == "PutItem was answered 'ValidationException'"


def test_original_is_kept_as_the_cause() -> None:
    original = client_error("SlowDown")

    with pytest.raises(ThrottledError) as failure, translated():
        raise original

    assert failure.value.__cause__ is original


def test_code_loses_its_namespace() -> None:
    assert code_of(client_error("AWS.SimpleQueueService.QueueDoesNotExist")) == "QueueDoesNotExist"
