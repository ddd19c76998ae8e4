"""What each error is over HTTP: type, title and status (RFC 9457).

Routes of the contracts word their bodies in their own way (``errors``, ``form_errors``) and take
the status from here where the contract names none.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from sayso.domain import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

_TYPE: Final = "urn:problem-type:sayso:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One kind of error, as the catalogue knows it."""

    slug: str
    title: str
    status: int

    @property
    def type(self) -> str:
        """URI of the kind; a name, not an address (RFC 9457 §3.1.1)."""
        return _TYPE + self.slug


CATALOGUE: Final[Mapping[type[errors.AppError], Problem]] = MappingProxyType(
    {
        errors.CallerError: Problem(slug="bad-request", title="Bad request", status=400),
        errors.ValidationError: Problem(slug="invalid", title="Invalid input", status=422),
        errors.NotFoundError: Problem(slug="not-found", title="Not found", status=404),
        errors.UnknownLinkError: Problem(slug="unknown-link", title="Unknown link", status=404),
        errors.AuthenticationError: Problem(
            slug="unauthenticated", title="No valid API key", status=401
        ),
        errors.NotAllowedError: Problem(slug="not-allowed", title="Not allowed", status=403),
        errors.SurfaceMismatchError: Problem(
            slug="surface-mismatch", title="Answered elsewhere", status=403
        ),
        errors.DeliveryTestRefusedError: Problem(
            slug="delivery-test-refused", title="Test not sent", status=400
        ),
        errors.ConflictError: Problem(slug="conflict", title="Conflict", status=409),
        errors.MovedOnError: Problem(slug="moved-on", title="Try again", status=503),
        errors.IdempotencyMismatchError: Problem(
            slug="idempotency-mismatch", title="Idempotency key used before", status=422
        ),
        errors.RunFinishedError: Problem(slug="run-finished", title="Run finished", status=409),
        errors.FormClosedError: Problem(slug="form-closed", title="Form closed", status=412),
        errors.ContentChangedError: Problem(
            slug="content-changed", title="Content changed", status=409
        ),
        errors.TooManyRequestsError: Problem(
            slug="too-many-requests", title="Too many requests", status=429
        ),
        errors.RetryableError: Problem(slug="try-again", title="Try again", status=503),
        errors.PermanentError: Problem(slug="failure", title="Internal failure", status=500),
        errors.AppError: Problem(slug="failure", title="Internal failure", status=500),
    }
)
"""Class → problem. A class without an entry of its own has that of its nearest parent."""


def problem_of(error: errors.AppError) -> Problem:
    """Return the entry of an error's class."""
    return next(CATALOGUE[kind] for kind in type(error).__mro__ if kind in CATALOGUE)
