"""Every error of ours, named by who acts next.

``CallerError``: the caller mends the request. ``RetryableError``: time mends it.
``PermanentError``: a person must look. Adapters turn service codes into these; nothing else
crosses a port. Messages never hold a token, key, answer or address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import timedelta


class AppError(Exception):
    """Root of all errors of Sayso."""


class CallerError(AppError):
    """The caller can mend this: a 4xx answer, logged at info."""


class ValidationError(CallerError):
    """What was sent does not fit; ``issues`` lists place and reason. The caller acts."""

    def __init__(self, message: str, issues: Sequence[FieldIssue] = ()) -> None:
        """Keep the issues beside the message."""
        super().__init__(message)
        self.issues = tuple(issues)


class FieldIssue:
    """One reason why one member was refused.

    ``field`` is the name of the form field or member, empty when the whole is meant.
    """

    __slots__ = ("code", "field", "message")

    def __init__(self, field: str, code: str, message: str) -> None:
        """Name the field, the machine-readable code and the text for people."""
        self.field = field
        self.code = code
        self.message = message

    def __repr__(self) -> str:
        """Show all three parts; none of them holds what was entered."""
        return f"FieldIssue({self.field!r}, {self.code!r}, {self.message!r})"


class DeliveryTestRefusedError(CallerError):
    """A test of a delivery cannot be sent; the text is the contract's. The caller acts."""


class NotFoundError(CallerError):
    """The thing does not exist, or not for this caller. The caller acts."""


class UnknownLinkError(NotFoundError):
    """A form token that is forged, cut, revoked, or of a form that is gone."""


class AuthenticationError(CallerError):
    """No valid API key came along (401); ``detail`` is the contract's text."""

    def __init__(self, detail: str) -> None:
        """Keep the text that the contract (dify-agent §3) prescribes."""
        super().__init__(detail)
        self.detail = detail


class NotAllowedError(CallerError):
    """The key is valid, its role may not do this (403). An administrator acts."""


class SurfaceMismatchError(NotAllowedError):
    """The link belongs to a recipient who answers elsewhere, and this surface says so (403)."""


class ConflictError(CallerError):
    """The record is in a state that does not allow this. The caller looks at it anew."""


class MovedOnError(ConflictError):
    """A record changed between reading and writing. Whoever reads it again may succeed."""


class IdempotencyMismatchError(ConflictError):
    """An idempotency key came again with another request. The caller takes a new key."""

    def __init__(self) -> None:
        """Say so without the key, which may be anything."""
        super().__init__("the idempotency key was used for another request in the last 24 hours")


class RunFinishedError(ConflictError):
    """A cancel came after the run's end; ``status`` says which."""

    def __init__(self, status: str) -> None:
        """Word it as the contract does (dify-agent §1)."""
        super().__init__(f"run already finished with status {status!r}")
        self.status = status


class FormClosedError(ConflictError):
    """A submission came when the form was no longer waiting; ``status`` says why."""

    def __init__(self, form_id: str, status: str) -> None:
        """Name the form and the state it is in."""
        super().__init__(f"form {form_id!r} is {status}, expected waiting")
        self.form_id = form_id
        self.status = status


class ContentChangedError(ConflictError):
    """The form's content is not what the person was shown. The person looks again."""


class TooManyRequestsError(CallerError):
    """An address or form was used too often; ``retry_after`` says when to come back."""

    def __init__(self, retry_after: timedelta) -> None:
        """Keep the time after which the next request counts as the first."""
        super().__init__(f"too many requests, try again in {retry_after.total_seconds():.0f} s")
        self.retry_after = retry_after


class RetryableError(AppError):
    """Time mends this: the message returns to its queue, HTTP answers 503."""


class ThrottledError(RetryableError):
    """The service asked us to slow down. Retried with jitter."""


class ServiceUnavailableError(RetryableError):
    """The service failed or its answer was lost. Retried with the same attempt id."""


class ModelUnavailableError(RetryableError):
    """The model provider failed in a way that may pass."""


class MailNotAcceptedError(RetryableError):
    """The mail service did not take the mail just now."""


class PermanentError(AppError):
    """A person must look: the run fails with a reason, the message is acknowledged."""


class InvalidTransitionError(PermanentError):
    """A state change that the table does not hold was asked for. A developer acts."""


class SnapshotCorruptError(PermanentError):
    """A stored snapshot is missing or its bytes do not match their digest. An operator acts."""


class SnapshotRefusedError(PermanentError):
    """This code cannot resume the run (unknown version, renamed tool, missing layer type).

    The answer is not consumed and the run stays paused; code that can resume it still may.
    """


class MailRefusedError(PermanentError):
    """The mail service refuses this mail for good (bad address, unverified sender)."""


class ConditionFailedError(AppError):
    """A conditional write met another state than expected.

    ``items`` holds what stood there, one entry a write, None where nothing stood or where that
    write was not the reason. Stores turn this into a domain error; it never leaves them.
    """

    def __init__(self, items: Sequence[Mapping[str, Any] | None]) -> None:
        """Keep the old items in the order of the writes."""
        super().__init__("a conditional write met another state than expected")
        self.items = tuple(items)

    @property
    def first(self) -> Mapping[str, Any] | None:
        """The first old item that came back, if any."""
        return next((item for item in self.items if item is not None), None)
