"""The real clock and real randomness."""

from __future__ import annotations

import secrets
import uuid
from datetime import UTC, datetime

from sayso.domain.ids import RunId

_TOKEN_BYTES = 16


class SystemClock:
    """A ``Clock`` that tells the time of the machine."""

    def now(self) -> datetime:
        """Return the instant, aware UTC, whole milliseconds."""
        now = datetime.now(UTC)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)


class RandomIds:
    """An ``IdSource`` over the randomness of the operating system.

    Not over ``random``, whose state a snapshot of a Lambda function would multiply.
    """

    def run_id(self) -> RunId:
        """Return a new run id, a version 4 UUID."""
        return RunId(str(uuid.uuid4()))

    def token(self) -> str:
        """Return 128 random bits as 22 URL-safe characters."""
        return secrets.token_urlsafe(_TOKEN_BYTES)
