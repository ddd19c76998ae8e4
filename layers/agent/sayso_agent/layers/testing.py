"""``test.tools``: three function tools with visible effects, for tests and the local stack.

Registered only where asked for. Each call appends one line to a file when the config names one,
which is how a test sees whether a call took effect, and how often.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from pydantic_ai import RunContext, Tool

from sayso_agent.deps import RunDeps, idempotency_key
from sayso_agent.layers.base import Layer, LayerModel

if TYPE_CHECKING:
    from collections.abc import Sequence


class TestToolsLayerConfig(LayerModel):
    """Where effects are noted and how long a call takes."""

    __test__ = False

    effects_file: str | None = None
    seconds: Annotated[float, Field(ge=0, le=600)] = 0


class TestToolsLayer(Layer[TestToolsLayerConfig]):
    """``look_up`` and ``change`` may be called again after a crash, ``pay_once`` never."""

    __test__ = False

    type_id = "test.tools"
    config_type = TestToolsLayerConfig

    def tools(self) -> Sequence[Tool[RunDeps]]:
        """Return the three tools."""
        return [
            Tool(self._look_up, name="look_up", takes_ctx=True),
            Tool(self._change, name="change", takes_ctx=True),
            Tool(
                self._pay_once,
                name="pay_once",
                takes_ctx=True,
                metadata={"sayso": {"retry": "never"}},
            ),
        ]

    async def _look_up(self, ctx: RunContext[RunDeps], what: str) -> str:
        """Look something up."""
        await self._take_effect(ctx, f"look_up {what}")
        return f"{what} is fine"

    async def _change(self, ctx: RunContext[RunDeps], what: str) -> dict[str, str]:
        """Change something."""
        await self._take_effect(ctx, f"change {what}")
        return {"changed": what, "key": idempotency_key(ctx)}

    async def _pay_once(self, ctx: RunContext[RunDeps], amount: int) -> str:
        """Pay an amount; never repeated when it is unknown whether it happened."""
        await self._take_effect(ctx, f"pay_once {amount}")
        return f"paid {amount}"

    async def _take_effect(self, ctx: RunContext[RunDeps], effect: str) -> None:
        if self.config.effects_file:
            line = f"{effect} {idempotency_key(ctx)}\n"
            await asyncio.to_thread(_append, Path(self.config.effects_file), line)
        await asyncio.sleep(self.config.seconds)


def _append(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(line)
