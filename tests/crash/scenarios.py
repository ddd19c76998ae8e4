"""What people and programs do with a stack, while nothing or anything goes wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from crash.agent import scripted_request
from crash.callers import Callers, form_of
from crash.deployment import APPROVER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crash.stack import Stack
    from sayso.domain.ids import RunId

MAIL: dict[str, Any] = {
    "type": "email",
    "config": {"recipients": {"items": [{"type": "external", "email": APPROVER}]}},
}
WEBAPP: dict[str, Any] = {"type": "webapp"}
POLICY: dict[str, Any] = {
    "delivery_methods": [MAIL],
    "timeout": 40,
    "timeout_unit": "minute",
    "run_timeout_seconds": 7200,
}
SUCCEEDED = frozenset({"succeeded"})
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


@dataclass
class Play:
    """A scenario while it is played."""

    scenario: Scenario
    stack: Stack
    callers: Callers
    known: list[RunId] = field(default_factory=list)
    """Runs whose creators were told of them."""

    def request(self) -> dict[str, Any]:
        """Return the create request of the scenario."""
        request = scripted_request(self.scenario.segments, **self.scenario.script)
        if self.scenario.policy is not None:
            request["human_input"] = dict(self.scenario.policy)
        return request


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One story."""

    name: str
    segments: list[list[str]]
    policy: Mapping[str, Any] | None = field(default_factory=lambda: POLICY)
    """``human_input`` of the create request; None: a protocol run."""
    script: Mapping[str, Any] = field(default_factory=dict)
    cast: Callable[[Play], None]
    """Lets those who act join."""
    rival: Callable[[Play], None] = lambda _: None
    """What may get in between."""
    ends: frozenset[str] = SUCCEEDED
    """Statuses in which a run ends right, whatever single thing went wrong."""
    answers: int = 0
    """So many answers are accepted at least, whatever single thing went wrong."""
    repeat: int = 1
    """How often each message is handled."""


def _create(play: Play, then: Callable[[RunId], None] = lambda _: None) -> None:
    def known(run_id: RunId) -> None:
        play.known.append(run_id)
        then(run_id)

    key = "" if play.scenario.policy is None else "one-run"
    play.stack.join(play.callers.creator(play.request(), known, key))


def _one_person(play: Play) -> None:
    _create(play)
    play.stack.join(play.callers.person())


def _hasty_person(play: Play) -> None:
    _create(play)
    play.stack.join(play.callers.person(after=timedelta(), clicks=2))


def _protocol(play: Play) -> None:
    """A program asks the person itself and starts a second run with the answer."""

    def answer_it(run_id: RunId) -> None:
        play.stack.join(play.callers.reader(run_id, MINUTE))
        resumed = scripted_request([["model m2", "finish"]])
        resumed["deferred_tool_results"] = {"calls": {"call_0": {"status": "submitted"}}}
        play.stack.join(_later(play, resumed))

    _create(play, answer_it)


def _later(play: Play, request: dict[str, Any]) -> Any:
    yield 2 * MINUTE
    yield from play.callers.creator(request, play.known.append)


def _last_second(play: Play) -> None:
    """Somebody answers one second before the deadline, which is five minutes after the question."""
    _create(play)
    play.stack.join(play.callers.person(after=timedelta(minutes=5) - SECOND))


def time_runs_out(play: Play) -> None:
    play.stack.pass_time(2 * SECOND)


def _with_canceller(play: Play) -> None:
    def cancel_it(run_id: RunId) -> None:
        play.stack.join(play.callers.canceller(run_id, after=timedelta(seconds=90)))

    _create(play, cancel_it)
    play.stack.join(play.callers.person())


def cancel_now(play: Play) -> None:
    for run_id in play.known:
        play.callers.cancel(run_id)


def colleague_refuses(play: Play) -> None:
    """Somebody else with the same link says no."""
    for token in play.callers.tokens():
        if form_of(token) and (digest := play.callers.open(token)):
            play.callers.submit(token, digest, "refuse", "no-that-no-log-may-hold")


def _slow_pair(play: Play) -> None:
    """One person answers; some questions wait much longer than others."""
    _create(play)
    play.stack.join(play.callers.person(after=timedelta(minutes=4)))


def _early_canceller(play: Play) -> None:
    def cancel_it(run_id: RunId) -> None:
        play.stack.join(play.callers.canceller(run_id, after=20 * SECOND))

    _create(play, cancel_it)


def _nobody(play: Play) -> None:
    _create(play)


def sweep_now(play: Play) -> None:
    play.stack.tick()


ASK = [["model m1", "ask 1"], ["model m2", "finish"]]
SCENARIOS = {
    one.name: one
    for one in (
        Scenario(
            name="protocol",
            segments=[["model m1", "ask 1"]],
            policy=None,
            cast=_protocol,
            rival=cancel_now,
            ends=frozenset({"succeeded", "cancelled"}),
        ),
        Scenario(
            name="managed",
            segments=ASK,
            cast=_one_person,
            rival=colleague_refuses,
            answers=1,
        ),
        Scenario(
            name="three_forms",
            segments=[["model m1", "ask 3"], ["model m2", "finish"]],
            cast=_hasty_person,
            rival=colleague_refuses,
            answers=3,
        ),
        Scenario(
            name="timeout",
            segments=ASK,
            policy={**POLICY, "timeout": 5},
            cast=_last_second,
            rival=time_runs_out,
        ),
        Scenario(
            name="cancel",
            segments=ASK,
            cast=_with_canceller,
            rival=cancel_now,
            ends=frozenset({"succeeded", "cancelled"}),
        ),
        Scenario(
            name="two_asks",
            segments=[["model m1", "ask 1"], ["model m2", "ask 1"], ["model m3", "finish"]],
            cast=_one_person,
            rival=colleague_refuses,
            answers=2,
        ),
        Scenario(
            name="tool_then_ask",
            segments=[["model m1", "tool t1", "ask 1"], ["model m2", "tool t2", "finish"]],
            cast=_one_person,
            rival=cancel_now,
            ends=frozenset({"succeeded", "cancelled"}),
        ),
        Scenario(
            name="repause",
            segments=[["model m1", "ask 2"], ["ask 2"], ["model m3", "finish"]],
            cast=_slow_pair,
            rival=sweep_now,
            answers=4,
        ),
        Scenario(
            name="global_deadline",
            segments=[["model m1", "ask 2"], ["finish"]],
            policy={**POLICY, "run_timeout_seconds": 600, "timeout": 30},
            cast=_nobody,
            rival=sweep_now,
            ends=frozenset({"expired"}),
        ),
        Scenario(
            name="long_work",
            segments=[["model m1 30", "ask 1"], ["model m2 60", "model m3 120", "finish"]],
            policy={**POLICY, "run_timeout_seconds": 240},
            cast=_one_person,
            rival=sweep_now,
            # Told late, it is resumed at its deadline: it was answered in time.
            ends=frozenset({"expired", "succeeded"}),
        ),
        Scenario(
            name="cancel_at_work",
            segments=[["model m1 60", "finish"]],
            policy=None,
            cast=_early_canceller,
            rival=cancel_now,
            ends=frozenset({"cancelled"}),
        ),
        Scenario(
            name="duplicates",
            segments=[["model m1", "tool t1", "ask 2"], ["model m2", "finish"]],
            cast=_hasty_person,
            rival=colleague_refuses,
            answers=2,
            repeat=2,
        ),
        Scenario(
            name="slice",
            segments=[["model m1", "model m2", "tool t1", "model m3", "ask 1"], ["finish"]],
            script={"slice": 2},
            cast=_one_person,
            rival=sweep_now,
            answers=1,
        ),
    )
}
