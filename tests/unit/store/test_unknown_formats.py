"""What other code has stored is refused readably, and stops nobody else (DESIGN §3, I8)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.errors import PermanentError
from sayso.domain.transitions import RunStatus
from sayso.ports import Update
from sayso.store.keys import content_key, form_key, recipient_key, run_key, shard_of
from support.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso.domain.ids import FormId, RunId
    from sayso.ports import Key

WEBAPP: dict[str, Any] = {"delivery_methods": [{"type": "webapp"}]}


def change(world: World, key: Key, **attributes: Any) -> None:
    world.table.write(Update(key=key, set=attributes), attempt="newer code")


def two_runs_of_one_shard(world: World) -> tuple[RunId, RunId]:
    first = world.create(WEBAPP)
    while True:
        second = world.create(WEBAPP)
        if shard_of(second) == shard_of(first):
            return first, second


def test_a_run_of_unknown_format_does_not_stop_the_sweep() -> None:
    world = World()
    unknown, known = two_runs_of_one_shard(world)
    world.queue.drop()
    change(world, run_key(unknown), status="hibernating", due_at=1)

    world.pass_time(timedelta(minutes=3))

    assert world.run(known).status is RunStatus.PAUSED
    assert ("sweep_failed", {"error": "PermanentError"}) in world.reports


@pytest.mark.parametrize(
    ("key", "attribute"),
    [
        (form_key, "status"),
        (content_key, "document"),
        (lambda form_id: recipient_key(form_id, 1), "state"),
    ],
    ids=["form", "content", "recipient"],
)
def test_a_form_of_unknown_format_is_refused_with_its_key(
    key: Callable[[FormId], Key], attribute: str
) -> None:
    world = World()
    run_id = world.create(WEBAPP)
    world.settle()
    form_id = world.forms(run_id)[0].id
    change(world, key(form_id), **{attribute: "of newer code"})

    with pytest.raises(PermanentError, match=form_id):
        world.context.stores.forms.whole(form_id)


def test_a_pause_of_unknown_format_is_refused_with_its_key() -> None:
    world = World()
    run_id = world.create(WEBAPP)
    world.settle()
    pause = world.context.stores.runs.pauses(run_id)[0]
    item = world.table.query(f"RUN#{run_id}", prefix="PAUSE#")[0]
    assert item["sk"] == f"PAUSE#{pause.id}"
    world.table.put_many([{**item, "reason": "of newer code"}])

    with pytest.raises(PermanentError, match=pause.id):
        world.context.stores.runs.pauses(run_id)
