"""A clock that stands still and ids that count: the same test, the same values."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from itertools import count

from sayso.domain.ids import RunId

_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
_NAMESPACE = uuid.UUID("0a9b8c7d-0000-4000-8000-000000000000")


class FixedClock:
    """A ``Clock`` that moves only when told to."""

    def __init__(self, start: datetime = _START) -> None:
        """Stand at an aware instant; by default a Monday morning."""
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        """Return the instant, cut to whole milliseconds as the port promises."""
        return self._now.replace(microsecond=self._now.microsecond // 1000 * 1000)

    def advance(self, by: timedelta) -> datetime:
        """Move on and return the new instant."""
        self._now += by
        return self.now()

    def set(self, instant: datetime) -> None:
        """Move to an aware instant, also backwards, as real clocks do."""
        self._now = instant.astimezone(UTC)


class SequenceIds:
    """An ``IdSource`` whose ids follow from their number; safe for threads."""

    def __init__(self, prefix: str = "token") -> None:
        """Start at 1; different prefixes give different ids."""
        self._prefix = prefix
        self._runs = count(1)
        self._tokens = count(1)

    def run_id(self) -> RunId:
        """Return the next run id, a UUID."""
        return RunId(str(uuid.uuid5(_NAMESPACE, f"{self._prefix}/{next(self._runs)}")))

    def token(self) -> str:
        """Return the next token, such as ``token-1``."""
        return f"{self._prefix}-{next(self._tokens)}"
