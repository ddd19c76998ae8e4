"""Turns the text of a pattern into its automaton; see ``patterns`` for grammar and reasons."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Final, NamedTuple

from sayso.domain.patterns import Automaton, CharSet, PatternError

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEPTH: Final = 20
_SETS: Final = {
    "d": frozenset(string.digits),
    "w": frozenset(string.ascii_letters + string.digits + "_"),
    "s": frozenset(" \t\n\r\f\v"),
}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}
_SPECIAL: Final = frozenset("\\^$.|?*+()[]{}/-")
_ANY: Final = CharSet(members=frozenset("\n\r"), negated=True)
_SAMPLE: Final = "".join(map(chr, range(0x250))) + "\U0010fffd"
"""A class that has none of these, nor the first of its ranges, counts as empty."""
_MAX_COUNT_DIGITS: Final = 3
_QUANTIFIERS: Final = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class _Part(NamedTuple):
    """A piece of the automaton: where it starts and where it ends."""

    start: int
    end: int


def parse_pattern(pattern: str) -> Automaton:
    """Return the automaton of a pattern.

    Raises:
        PatternError: With the place of what is not understood.
    """
    text = pattern.removeprefix("^")
    if text.endswith("$") and not text.endswith("\\$"):
        text = text[:-1]
    parser = _Parser(text)
    build = parser.alternatives(0)
    if parser.place < len(text):
        raise parser.refusal(f"unexpected {text[parser.place]!r}")
    parser.automaton.start, parser.automaton.end = build()
    return parser.automaton


class _Parser:
    """Reads a pattern from left to right; one method a rule of the grammar."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.automaton = Automaton()

    def refusal(self, reason: str) -> PatternError:
        """Return the error that names the place."""
        return PatternError(f"pattern is not understood at character {self.place + 1}: {reason}")

    def _peek(self) -> str:
        return self.text[self.place : self.place + 1]

    def _next(self) -> str:
        char = self._peek()
        if not char:
            raise self.refusal("it ends too early")
        self.place += 1
        return char

    def alternatives(self, depth: int) -> Callable[[], _Part]:
        """Read sequences with ``|`` between them."""
        if depth > MAX_DEPTH:
            raise self.refusal("groups are nested too deep")
        branches = [self._sequence(depth)]
        while self._peek() == "|":
            self.place += 1
            branches.append(self._sequence(depth))
        return branches[0] if len(branches) == 1 else lambda: self._either(branches)

    def _sequence(self, depth: int) -> Callable[[], _Part]:
        parts: list[Callable[[], _Part]] = []
        while self._peek() not in {"", "|", ")"}:
            parts.append(self._repeated(depth))
        return lambda: self._row([build() for build in parts])

    def _repeated(self, depth: int) -> Callable[[], _Part]:
        build = self._atom(depth)
        bounds = self._bounds()
        if bounds is None:
            return build
        if self._peek() in {"*", "+", "?", "{"}:
            raise self.refusal("a repetition of a repetition")
        least, most = bounds
        return lambda: self._times(build, least, most)

    def _bounds(self) -> tuple[int, int | None] | None:
        char = self._peek()
        if char in _QUANTIFIERS:
            self.place += 1
            return _QUANTIFIERS[char]
        if char != "{":
            return None
        end = self.text.find("}", self.place)
        low, comma, high = self.text[self.place + 1 : end].partition(",")
        if end < 0 or not _is_count(low) or (high and not _is_count(high)):
            raise self.refusal("expected {m}, {m,} or {m,n}")
        least = int(low)
        most = None if comma and not high else int(high or low)
        if most is not None and most < least:
            raise self.refusal("the bounds are in the wrong order")
        self.place = end + 1
        return least, most

    def _atom(self, depth: int) -> Callable[[], _Part]:
        char = self._next()
        match char:
            case "(":
                return self._group(depth)
            case "[":
                chars = self._class()
            case ".":
                chars = _ANY
            case "\\":
                chars = self._escaped()
            case "*" | "+" | "?" | "{" | "}" | "]" | "^" | "$":
                self.place -= 1
                raise self.refusal(f"unexpected {char!r}")
            case _:
                chars = CharSet(members=frozenset(char))
        return lambda: self._step(chars)

    def _group(self, depth: int) -> Callable[[], _Part]:
        if self.text.startswith("?:", self.place):
            self.place += 2
        elif self._peek() == "?":
            raise self.refusal("only plain groups are allowed")
        build = self.alternatives(depth + 1)
        if self._next() != ")":
            raise self.refusal("expected ')'")
        return build

    def _escaped(self) -> CharSet:
        char = self._next()
        if char.lower() in _SETS:
            return CharSet(members=_SETS[char.lower()], negated=char.isupper())
        return CharSet(members=frozenset(self._literal(char)))

    def _literal(self, char: str) -> str:
        if char in _ESCAPES:
            return _ESCAPES[char]
        if char not in _SPECIAL:
            raise self.refusal(f"unknown escape of {char!r}")
        return char

    def _class(self) -> CharSet:
        negated = self._peek() == "^"
        self.place += negated
        members: set[str] = set()
        ranges: list[tuple[str, str]] = []
        excluded: list[frozenset[str]] = []
        while (char := self._next()) != "]":
            if char == "\\" and self._peek().lower() in _SETS and self._peek():
                name = self._next()
                if name.isupper():
                    excluded.append(_SETS[name.lower()])
                else:
                    members |= _SETS[name]
                continue
            low = self._literal(self._next()) if char == "\\" else char
            if self._peek() == "-" and self.text[self.place + 1 : self.place + 2] not in {"", "]"}:
                self.place += 1
                end = self._next()
                high = self._literal(self._next()) if end == "\\" else end
                if high < low:
                    raise self.refusal(f"the range {low}-{high} is in the wrong order")
                ranges.append((low, high))
            else:
                members.add(low)
        chars = CharSet(frozenset(members), tuple(ranges), tuple(excluded), negated)
        if not any(map(chars.has, (*_SAMPLE, *(low for low, _ in ranges)))):
            raise self.refusal("the class holds no character")
        return chars

    def _step(self, chars: CharSet) -> _Part:
        start, end = self.automaton.add(), self.automaton.add()
        self.automaton.takes[start] = (chars, end)
        return _Part(start, end)

    def _row(self, parts: list[_Part]) -> _Part:
        start = end = self.automaton.add()
        for part in parts:
            self.automaton.free[end].append(part.start)
            end = part.end
        return _Part(start, end)

    def _either(self, branches: list[Callable[[], _Part]]) -> _Part:
        start, end = self.automaton.add(), self.automaton.add()
        for build in branches:
            part = build()
            self.automaton.free[start].append(part.start)
            self.automaton.free[part.end].append(end)
        return _Part(start, end)

    def _times(self, build: Callable[[], _Part], least: int, most: int | None) -> _Part:
        """Return so many copies in a row, the optional ones each with a way past the rest."""
        parts = [build() for _ in range(least)]
        start, end = self._row(parts)
        if most is None:
            loop = build()
            self.automaton.free[end].append(loop.start)
            self.automaton.free[loop.end].append(end)
            return _Part(start, end)
        last = self.automaton.add()
        for _ in range(most - least):
            self.automaton.free[end].append(last)
            part = build()
            self.automaton.free[end].append(part.start)
            end = part.end
        self.automaton.free[end].append(last)
        return _Part(start, last)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MAX_COUNT_DIGITS
