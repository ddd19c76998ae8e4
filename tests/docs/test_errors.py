"""Error texts on the page about troubles are texts that the code has."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

import pytest

from docs.pages import DOCS, ROOT, code_spans_of, prose_of

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = DOCS / "troubleshooting.md"
SOURCES = ("layers", "local", "functions")
OF_OTHERS = {
    "Extra inputs are not permitted",
    "validation error for",
    "SSE stream reconnect attempts exhausted",
    "has no authentication. Is this okay?",
    "Unable to import module 'app'",
    "Field required",
    "String should match pattern",
    "Tool call results were provided, but",
    "Cannot provide a new user prompt when the message history contains unprocessed tool calls.",
    "The next request would exceed the request_limit of",
    "Tool call results need to be provided for all deferred tool calls",
}
"""Texts of pydantic, pydantic-ai, the upstream client, SAM and Lambda."""
VARYING = re.compile(r"…|\d+|'[^']*'|%[sd(]")
MIN_CHARS = 8


def _texts() -> list[str]:
    """Return the error texts of the page: what stands in the first column of its tables."""
    rows = [line for line in prose_of(PAGE).splitlines() if line.startswith("|")]
    spans = [span for row in rows for span in code_spans_of(row.split("|")[1])]
    return [span.strip('"') for span in spans if " " in span]


@cache
def _known() -> str:
    """Return all texts of the sources, one a line; what varies in them is left out."""
    texts = [text for folder in SOURCES for text in _texts_in(folder)]
    return "\n".join([*texts, (ROOT / ".ci" / "find-python").read_text()])


def _texts_in(folder: str) -> Iterator[str]:
    for path in (ROOT / folder).glob("**/*.py"):
        tree = ast.parse(path.read_text())
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if id(node) in docstrings:
                continue
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                parts = [one.value for one in node.values if isinstance(one, ast.Constant)]
                yield from (str(part) for part in parts)


@pytest.mark.parametrize("text", [one for one in _texts() if one not in OF_OTHERS])
def test_error_text_is_one_of_ours(text: str) -> None:
    pieces = [piece.strip() for piece in VARYING.split(text)]

    telling = [piece for piece in pieces if len(piece) >= MIN_CHARS]
    assert telling
    assert [piece for piece in telling if not _is_known(piece)] == []


def _is_known(piece: str) -> bool:
    """Tell whether a piece stands in the sources, as a whole or put together of two parts."""
    cuts = range(MIN_CHARS, len(piece) - MIN_CHARS + 1)
    return piece in _known() or any(
        piece[:cut].strip() in _known() and piece[cut:] in _known() for cut in cuts
    )


def test_texts_of_others_are_still_on_the_page() -> None:
    assert set(_texts()) >= OF_OTHERS
