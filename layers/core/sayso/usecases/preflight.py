"""Would this code resume what waits? Looked at before a deployment, nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sayso.domain.errors import PermanentError
from sayso.domain.ids import RunId
from sayso.domain.transitions import RunStatus
from sayso.store.keys import DUE_SHARDS
from sayso.usecases.prepare import prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sayso.domain.run import Run
    from sayso.ports import AgentRunner
    from sayso.store.stores import Stores

_FOR_EVER = 2**53
_ALL = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A run that this code could not resume, and why."""

    run_id: RunId
    reason: str


def preflight(stores: Stores, agent: AgentRunner) -> tuple[int, list[Finding]]:
    """Load every pending snapshot with this code.

    Every paused run is in the due-index, so nothing is scanned.

    Returns:
        How many pending snapshots there are, and those that could not be resumed.
    """
    checked, findings = 0, []
    for run in _paused(stores):
        if run.snapshot is None:
            continue
        checked += 1
        try:
            request, pause = stores.requests.load(run)
            agent.check(prepare(run, request, pause, None, stores, lambda: float("inf")).work)
        except PermanentError as error:
            findings.append(Finding(run_id=run.id, reason=str(error)))
    return checked, findings


def _paused(stores: Stores) -> Iterator[Run]:
    for shard in range(DUE_SHARDS):
        for key in stores.table.due(shard, until=_FOR_EVER, limit=_ALL):
            kind, _, identity = key.pk.partition("#")
            run = stores.runs.get(RunId(identity)) if kind == "RUN" else None
            if run is not None and run.status is RunStatus.PAUSED:
                yield run
