"""The outermost frame of functions that nobody waits for: queues and schedules.

What goes wrong is logged here, by class and place. What leaves is an error without a cause, since
the platform writes the text of whatever leaves into the log (I10).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)

from sayso.domain.errors import AppError, RetryableError
from sayso.observability import Metric, bind_request, count, log_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

    Handler = Callable[[Mapping[str, Any], Any], Any]


class InvocationFailedError(AppError):
    """This invocation did not do its work; the platform is to repeat it or set it aside."""


def failsafe(serve: Handler) -> Handler:
    """Return a Lambda handler that logs what goes wrong and lets nothing of it out."""

    def handler(event: Mapping[str, Any], context: Any) -> Any:
        bind_request(context.function_name, context.aws_request_id)
        try:
            return serve(event, context)
        except InvocationFailedError:
            raise  # each message was reported where it failed
        except Exception as error:  # noqa: BLE001 - the outermost frame
            failed = _report(error)
        raise InvocationFailedError(failed)

    return handler


def process_batch(
    event: Mapping[str, Any], context: Any, handle: Callable[[str], None]
) -> dict[str, Any]:
    """Handle each message of a batch by itself and return those that are to come again."""

    def handle_record(record: SQSRecord) -> None:
        try:
            handle(record.body)
        except Exception as error:
            _report(error)
            raise

    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    return dict(
        process_partial_response(
            event=dict(event), record_handler=handle_record, processor=processor, context=context
        )
    )


def fail_if_any(answer: Mapping[str, Any]) -> None:
    """Let the invocation fail when a message failed, for queues read one message at a time.

    Raises:
        InvocationFailedError: The message is to come again.
    """
    if answer["batchItemFailures"]:
        raise InvocationFailedError("the message is to come again")


def _report(error: Exception) -> str:
    """Log and count an error; return the name of its class."""
    log_failure("invocation_failed", error)
    count(Metric.RETRIES if isinstance(error, RetryableError) else Metric.FAILURES)
    return type(error).__name__
