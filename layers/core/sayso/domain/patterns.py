r"""Patterns of text fields, matched in time that grows with the text only.

``re`` backtracks: ``(a+)+b`` takes minutes on thirty letters, and whoever may define a form could
stop the page with it. Here a pattern becomes a small automaton that reads the text once, every
position in all its states together (Thompson 1968; https://swtch.com/~rsc/regexp/regexp1.html).
Cost is at most states x characters; both are bounded.

The grammar is the common part of what people write: characters, ``.``, classes such as
``[A-Z0-9_-]`` and ``\d \w \s`` (ASCII) with their opposites, groups, ``|``, ``* + ?`` and ``{m,n}``.
The whole text has to match, as with HTML's ``pattern``; ``^`` at the start and ``$`` at the end may
be written. Anything else (look-around, back references, flags) is refused when the form is made.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PATTERN_CHARS: Final = 200
MAX_STATES: Final = 500

_NOTHING: Final[frozenset[str]] = frozenset()


class PatternError(ValueError):
    """The pattern is not one of the grammar, or too large. Its author mends it."""


@dataclass(frozen=True, slots=True)
class CharSet:
    """The characters that one step takes."""

    members: frozenset[str] = _NOTHING
    ranges: tuple[tuple[str, str], ...] = ()
    excluded: tuple[frozenset[str], ...] = ()
    """Sets whose opposite belongs to this one (``\\D`` inside of a class)."""
    negated: bool = False

    def has(self, char: str) -> bool:
        """Tell whether a character belongs to the set."""
        inside = (
            char in self.members
            or any(low <= char <= high for low, high in self.ranges)
            or any(char not in one for one in self.excluded)
        )
        return inside is not self.negated


@dataclass(slots=True)
class Automaton:
    """States by number; each either takes a character or leads on without one."""

    takes: list[tuple[CharSet, int] | None] = field(default_factory=list)
    free: list[list[int]] = field(default_factory=list)
    start: int = 0
    end: int = 0

    def add(self) -> int:
        """Return a new state."""
        if len(self.takes) >= MAX_STATES:
            message = "pattern is too large; repeat less or write it shorter"
            raise PatternError(message)
        self.takes.append(None)
        self.free.append([])
        return len(self.takes) - 1

    def matches(self, text: str) -> bool:
        """Tell whether the whole text fits."""
        states = self._closed({self.start})
        for char in text:
            states = self._closed(
                {step[1] for one in states if (step := self.takes[one]) and step[0].has(char)}
            )
            if not states:
                return False
        return self.end in states

    def lengths(self, longest: int) -> Iterator[int]:
        """Yield the lengths, from 1 on, of which a text matches; shortest first."""
        states = self._closed({self.start})
        for length in range(1, longest + 1):
            states = self._closed({step[1] for one in states if (step := self.takes[one])})
            if not states:
                return
            if self.end in states:
                yield length

    def _closed(self, states: set[int]) -> set[int]:
        """Return the states with all that can be reached from them without a character."""
        waiting = list(states)
        while waiting:
            for one in self.free[waiting.pop()]:
                if one not in states:
                    states.add(one)
                    waiting.append(one)
        return states


def check_pattern(pattern: str, *, shortest: int = 0, longest: int) -> None:
    """Check that a pattern can be used, and that a text of an allowed length can match it.

    Raises:
        PatternError: It cannot; says why.
    """
    lengths = _compiled(pattern).lengths(longest)
    if not any(shortest <= length for length in lengths):
        message = f"pattern matches no text of {max(shortest, 1)} to {longest} characters"
        raise PatternError(message)


def matches(pattern: str, text: str) -> bool:
    """Tell whether a whole text fits a pattern that was checked before."""
    return _compiled(pattern).matches(text)


@functools.lru_cache(maxsize=64)
def _compiled(pattern: str) -> Automaton:
    # Imported here: most forms have no pattern, and the page function starts without the parser.
    from sayso.domain.pattern_parser import parse_pattern  # noqa: PLC0415

    if len(pattern) > MAX_PATTERN_CHARS:
        message = f"pattern has {len(pattern)} characters, at most {MAX_PATTERN_CHARS}"
        raise PatternError(message)
    return parse_pattern(pattern)
