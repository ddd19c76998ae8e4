"""Worker processes that can be killed at any of their writes: a program.

It imports the product once, then reads orders, one JSON object a line, and lets a process of its
own, forked for it, carry each out: one invocation of one function, by the code that is deployed, with
its real adapters, on the emulator that the environment names. A worker with an order to die kills
itself by SIGKILL, right before or right after a write to the table; nothing of it runs any further,
no handler, no ``finally``.

Each order is answered by one line of JSON: ``killed``, and else what the function returned.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sayso import bootstrap
from sayso.aws.clients import Clients
from sayso.aws_wiring import AwsWiring
from sayso.settings import Settings
from sayso.system import SystemClock
from sayso_agent.layers.registry import BUILT_IN, FOR_TESTS, build_registry
from sayso_agent.models import Models
from sayso_agent.outgoing import Outgoing
from sayso_agent.runner import PydanticAgentRunner

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from typing import TextIO

    from pydantic_ai.models import Model

    from sayso.ports import Delete, Item, Key, Put, Table, Update, Write
    from sayso.usecases.context import Context
    from sayso_agent.layers.plugin_llm import DifyPluginLLMLayerConfig

CLIENTS = Clients()
"""Made before the forks, which is quicker; none has a connection then."""
LONG_SECONDS = 900.0
MILLISECONDS = 1000


@dataclass
class Fate:
    """How far this process may come."""

    kill_at: float = 0
    """2.5 is right before, 3 right after the third write; 0 is never."""
    writes: float = 0

    def half(self) -> None:
        """Come to the beginning or to the end of a write."""
        self.writes += 0.5
        if self.writes == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


class FatalTable:
    """A table whose writes may be the last thing this process does."""

    def __init__(self, table: Table, fate: Fate) -> None:
        self._table = table
        self._fate = fate

    def write(self, write: Put | Update | Delete, *, attempt: str) -> Item | None:
        """Carry out one write."""
        self._fate.half()
        item = self._table.write(write, attempt=attempt)
        self._fate.half()
        return item

    def transact(self, writes: Sequence[Write], *, attempt: str) -> None:
        """Carry out writes, all or none."""
        self._fate.half()
        self._table.transact(writes, attempt=attempt)
        self._fate.half()

    def put_many(self, items: Sequence[Item]) -> None:
        """Write items."""
        self._fate.half()
        self._table.put_many(items)
        self._fate.half()

    def delete_many(self, keys: Sequence[Key]) -> None:
        """Delete items."""
        self._fate.half()
        self._table.delete_many(keys)
        self._fate.half()

    def __getattr__(self, name: str) -> Any:
        """Read as the table does."""
        return getattr(self._table, name)


@dataclass(frozen=True)
class LaterClock:
    """The machine's clock, put forward."""

    by: timedelta

    def now(self) -> datetime:
        """Return the instant."""
        return SystemClock().now() + self.by


class FatalWiring(AwsWiring):
    """The ports on AWS, over a table that may kill and a clock that was put forward."""

    def __init__(self, settings: Settings, fate: Fate, clock: LaterClock) -> None:
        super().__init__(settings)
        self._clients = CLIENTS
        self._fate = fate
        self._clock = clock

    @cached_property
    def _table(self) -> Table:
        table: Table = FatalTable(super()._table, self._fate)
        return table

    @cached_property
    def context(self) -> Context:
        """What every use case is given."""
        return replace(super().context, clock=self._clock)


class CountedModels(Models):
    """Scripted models whose calls leave a line each in a file, like those of the tools for tests."""

    def __init__(self, effects: Path) -> None:
        super().__init__(
            outgoing=Outgoing(allow_internal=True), stored_credentials=lambda _: None, scripted=True
        )
        self._effects = effects

    @asynccontextmanager
    async def open(self, config: DifyPluginLLMLayerConfig) -> AsyncIterator[Model]:
        """Return the model of the config; its calls are told apart by the answers before them."""
        async with super().open(config) as model:
            assert isinstance(model, FunctionModel)
            speak = model.stream_function
            assert speak is not None

            def called(messages: list[ModelMessage], info: AgentInfo) -> Any:
                before = sum(isinstance(one, ModelResponse) for one in messages)
                with self._effects.open("a") as file:
                    file.write(f"model {before + 1}\n")
                return speak(messages, info)

            yield FunctionModel(stream_function=called, model_name=config.model)


@dataclass(frozen=True)
class Invocation:
    """What the platform tells a function about this invocation."""

    fate: Fate
    seconds: float
    seconds_per_write: float
    """Each write makes the time that is left shorter by this; the clock does not."""
    function_name: str = "worker"
    aws_request_id: str = "1"
    invoked_function_arn: str = field(default_factory=lambda: os.environ["SWEEP_FUNCTION_ARN"])

    def get_remaining_time_in_millis(self) -> int:
        """Return the time until the platform would stop this worker."""
        left = self.seconds - self.seconds_per_write * self.fate.writes
        return int(max(left, 0) * MILLISECONDS)


class Worker:
    """One process."""

    def __init__(self, order: Mapping[str, Any]) -> None:
        self._order = order
        self._fate = Fate(kill_at=order.get("kill_at", 0))
        settings = Settings.from_environment(os.environ)
        clock = LaterClock(timedelta(seconds=order.get("later_seconds", 0)))
        bootstrap.use(FatalWiring(settings, self._fate, clock))
        models = CountedModels(Path(order.get("effects", os.devnull)))
        registry = build_registry([*BUILT_IN, *FOR_TESTS])
        self._functions = {
            "create_run": bootstrap.create_run(),
            "resume": bootstrap.resume(PydanticAgentRunner(registry=registry, models=models)),
            "submit_form": bootstrap.submit_form(),
            "timeout_sweep": bootstrap.timeout_sweep(),
        }

    def work(self) -> dict[str, Any]:
        """Let the function handle the event; a raised error is told, as the platform tells it."""
        invocation = Invocation(
            fate=self._fate,
            seconds=self._order.get("seconds", LONG_SECONDS),
            seconds_per_write=self._order.get("seconds_per_write", 0),
        )
        function = self._functions[self._order["function"]]
        try:
            returned = function(self._order["event"], invocation)
        except Exception as error:  # noqa: BLE001 - as the platform does
            return {"error": type(error).__name__}
        return {"returned": returned, "writes": self._fate.writes}


def main() -> None:
    """Answer orders until there are no more."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what functions log is no answer
    get_ready()
    for line in sys.stdin:
        print(json.dumps(carry_out(json.loads(line))), file=answers, flush=True)


def get_ready() -> None:
    """Import and make what every worker needs, without a connection to anything."""
    import_module("sayso_agent.providers.scripted")
    CLIENTS.get("s3")
    CLIENTS.get("secretsmanager")
    Worker({})


def carry_out(order: Mapping[str, Any]) -> dict[str, Any]:
    """Carry an order out in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as answer:
            run_child(order, answer)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return {"killed": os.WTERMSIG(status) == signal.SIGKILL, "writes": order.get("kill_at", 0)}
    result: dict[str, Any] = json.loads(text)
    return {"killed": False, **result}


def run_child(order: Mapping[str, Any], answer: TextIO) -> None:
    """Be the worker, then end this process without going back into the program."""
    try:
        json.dump(Worker(order).work(), answer)
        answer.flush()
    finally:
        sys.stderr.flush()
        os._exit(0)


if __name__ == "__main__":
    main()
