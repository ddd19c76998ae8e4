"""An event loop whose time jumps to the next timer instead of waiting for it."""

from __future__ import annotations

import asyncio
import selectors
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine


class _Selector(selectors.SelectSelector):
    """Waits for nothing that has an end; the loop asks it how long to wait, until a timer is due."""

    skipped = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if not timeout:
            return super().select(timeout)
        if not (ready := super().select(0)):
            self.skipped += timeout
        return ready


class SkippingLoop(asyncio.SelectorEventLoop):
    """Nothing happens while time is skipped: threads have to be waited for by other means."""

    def __init__(self) -> None:
        self._skipping = _Selector()
        super().__init__(self._skipping)

    def time(self) -> float:
        """Return the loop's own time."""
        return super().time() + self._skipping.skipped


def run_skipping(main: Coroutine[Any, Any, Any]) -> tuple[Any, float]:
    """Run to the end; return the result and the seconds that were skipped."""
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, SkippingLoop)
        return runner.run(main), loop._skipping.skipped
