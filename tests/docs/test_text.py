"""The docs are written as the docs say: a sentence a line, nothing of one machine or registry."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from docs.pages import OUR_PAGES, PAGES, ROOT, prose_of, text_of

if TYPE_CHECKING:
    from pathlib import Path

SENTENCE_END = re.compile(r"[^.][.!?] [A-Z]")
NOT_PROSE = ("|", "#", "<")


def _backwards(*words: str) -> tuple[str, ...]:
    return tuple(word[::-1] for word in words)


# Spelled backwards, so that this file does not hold what it looks for.
MACHINE_PATHS = _backwards("/toor/", "/emoh/", "/krow/", "/pmt/", "/sresU/")
REGISTRIES = _backwards("gro.ipyp", "detsohnohtyp", "/elpmis/", "lru-xedni", "sjmpn.yrtsiger")


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", OUR_PAGES, ids=_name)
def test_each_sentence_has_a_line_of_its_own(page: Path) -> None:
    prose = [line for line in prose_of(page).splitlines() if not line.startswith(NOT_PROSE)]
    lines = [re.sub(r"`[^`]+`", "code", line) for line in prose]

    assert [line for line in lines if SENTENCE_END.search(re.sub(r"^\d+\. ", "", line))] == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_no_page_names_a_machine_or_a_registry(page: Path) -> None:
    assert [word for word in (*MACHINE_PATHS, *REGISTRIES) if word in text_of(page)] == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_pages_end_with_one_line_end_and_have_no_loose_spaces(page: Path) -> None:
    text = text_of(page)

    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert [line for line in text.splitlines() if line != line.rstrip()] == []
