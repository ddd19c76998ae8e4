"""The checks find what is broken: each is shown a stack in which somebody broke just that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from crash.callers import Told
from crash.cases import play
from crash.checks import other_tenants_key
from crash.deployment import API_KEY
from crash.scenarios import SCENARIOS
from sayso.ports import Key
from sayso.store.codec import to_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import StringIO

    from crash.scenarios import Play
    from crash.stack import Stack
    from sayso.ports import Item

    Break = Callable[[Play, StringIO], None]


def item(stack: Stack, sk: str) -> Item:
    """Return the one item whose sort key starts so; of several, the last."""
    found = [one for key, one in stack.cloud.table.snapshot().items() if key.sk.startswith(sk)]
    return max(found, key=lambda one: str(one["sk"]))


def change(stack: Stack, sk: str, **attributes: Any) -> None:
    changed = {**item(stack, sk), **attributes}
    kept = {name: value for name, value in changed.items() if value is not None}
    stack.cloud.table.put_many([kept])


def remove(stack: Stack, sk: str) -> None:
    gone = item(stack, sk)
    stack.cloud.table.delete_many([Key(gone["pk"], gone["sk"])])


def told(show: Play, **members: Any) -> None:
    """Let one more submission have been answered."""
    last = [one for one in show.callers.history if one.what == "submit"][-1]
    show.callers.history.append(replace(last, **members))


def _other_answer(show: Play, _: StringIO) -> None:
    told(show, said=("refuse", "no"), outcome="ok")


def _forgotten_answer(show: Play, _: StringIO) -> None:
    remove(show.stack, "AUDIT#000002")
    change(show.stack, "FORM", decision=None, status="timeout", audits=1)


def _refused_though_it_stands(show: Play, _: StringIO) -> None:
    told(show, outcome="fail", status=409)


def _resumed_twice(show: Play, _: StringIO) -> None:
    change(show.stack, "RUN", segment=3)


def _ran_again(show: Play, _: StringIO) -> None:
    show.stack.agent.recorded["run:1:m1"] = 2


def _decided_by_nobody(show: Play, _: StringIO) -> None:
    show.callers.history[:] = [
        replace(one, said=("refuse", "")) if one.what == "submit" else one
        for one in show.callers.history
    ]


def _shown_something_else(show: Play, _: StringIO) -> None:
    form = next(one.target for one in show.callers.history if one.what == "open")
    opened = Told(what="open", target=form, said=("other",), outcome="ok", status=200)
    show.callers.history.append(opened)


def _decided_too_late(show: Play, _: StringIO) -> None:
    change(show.stack, "FORM", deadline=1)


def _never_ended(show: Play, _: StringIO) -> None:
    change(show.stack, "RUN", status="running")


def _ended_too_late(show: Play, _: StringIO) -> None:
    change(show.stack, "RUN", deadline=1)


def _other_snapshot(show: Play, _: StringIO) -> None:
    seen = show.stack.agent.seen
    seen.append(replace(seen[-1], snapshot=b"{}"))


def _changed_audit(show: Play, _: StringIO) -> None:
    facts = {"action": "refuse", "shown": item(show.stack, "FORM")["content_digest"]}
    change(show.stack, "AUDIT#000002", facts=to_json(facts))


def _logged_key(_: Play, output: StringIO) -> None:
    output.write(API_KEY)


def _lost_event(show: Play, _: StringIO) -> None:
    remove(show.stack, "EVENT#000000000002")


def _other_end(show: Play, _: StringIO) -> None:
    change(show.stack, "RUN", status="cancelled")


def _one_run_too_many(show: Play, _: StringIO) -> None:
    items = show.stack.cloud.table.snapshot().values()
    copies = [
        {**one, "pk": "RUN#00000000-0000-4000-8000-000000000000"}
        for one in items
        if str(one["pk"]).startswith("RUN#")
    ]
    show.stack.cloud.table.put_many(copies)


def _same_tenant(show: Play, _: StringIO) -> None:
    show.stack.cloud.table.put_many([{**other_tenants_key(), "tenant": "acme"}])


BROKEN: list[tuple[str, Break]] = [
    ("I1", _other_answer),
    ("I3", _forgotten_answer),
    ("I13", _refused_though_it_stands),
    ("I2", _resumed_twice),
    ("I2", _ran_again),
    ("I4", _decided_by_nobody),
    ("I5", _shown_something_else),
    ("I6", _decided_too_late),
    ("I7", _never_ended),
    ("I7", _ended_too_late),
    ("I8", _other_snapshot),
    ("I9", _changed_audit),
    ("I10", _logged_key),
    ("I11", _lost_event),
    ("I11", _other_end),
    ("I12", _same_tenant),
    ("I13", _one_run_too_many),
]


@pytest.mark.parametrize(
    ("invariant", "broken"), BROKEN, ids=[how.__name__.strip("_") for _, how in BROKEN]
)
def test_what_is_broken_is_found(invariant: str, broken: Break) -> None:
    result = play("managed", SCENARIOS["managed"], {}, demands=False, at_rest=broken)

    assert invariant in {violation.partition(":")[0] for violation in result.violations}
