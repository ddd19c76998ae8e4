"""The scheduled pass that expires, repairs and tells again (DESIGN §5 Sweep).

Goes through the due-index shard by shard. Each record is changed by its own conditional write,
so overlapping passes are harmless, and one record's failure does not stop the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sayso.domain.errors import AppError
from sayso.domain.ids import FormId, RunId
from sayso.store.codec import to_ms
from sayso.store.keys import DUE_SHARDS
from sayso.usecases.sweep_form import look_at_form
from sayso.usecases.sweep_run import look_at_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sayso.ports import Key
    from sayso.usecases.tell_people import Telling

PAGE = 100
"""Records of one query."""


@dataclass(slots=True)
class Swept:
    """What one pass did."""

    seen: int = 0
    failed: int = 0
    complete: bool = True
    """Whether the pass got through all shards before its time was over."""
    failures: list[str] = field(default_factory=list)
    """Names of the error classes."""


def sweep(telling: Telling, *, has_time: Callable[[], bool], first_shard: int) -> Swept:
    """Look at every record that is due.

    Args:
        telling: What telling people again needs.
        has_time: Tells whether another record may be taken up; the next pass goes on.
        first_shard: Where to start; random, so that no shard is always the last.
    """
    swept = Swept()
    until = to_ms(telling.context.clock.now())
    for offset in range(DUE_SHARDS):
        shard = (first_shard + offset) % DUE_SHARDS
        for key in _due(shard, until, telling):
            if not has_time():
                swept.complete = False
                return swept
            swept.seen += 1
            _look_at(key, telling, swept)
    return swept


def _due(shard: int, until: int, telling: Telling) -> Iterator[Key]:
    """Yield what is due in a shard, page by page: a backlog does not wait for the next minute.

    Whoever takes a key moves its record out of the index before asking for the next one. What comes
    again all the same, since the index lags or the record failed, ends the shard for this pass.
    """
    seen: set[Key] = set()
    while page := telling.context.stores.table.due(shard, until=until, limit=PAGE):
        fresh = [key for key in page if key not in seen]
        seen.update(fresh)
        yield from fresh
        if len(page) < PAGE or not fresh:
            return


def _look_at(key: Key, telling: Telling, swept: Swept) -> None:
    try:
        kind, _, identity = key.pk.partition("#")
        if kind == "RUN":
            look_at_run(RunId(identity), telling)
        elif kind == "FORM":
            look_at_form(FormId(identity), telling)
    except AppError as error:
        swept.failed += 1
        swept.failures.append(type(error).__name__)
        telling.context.report("sweep_failed", error=type(error).__name__)
