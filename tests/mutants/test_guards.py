"""The list of guards fits the code, so that ``make mutants`` disables what it says."""

from __future__ import annotations

import ast

import pytest

from mutants.guards import GUARDS, Guard
from support.template import ROOT


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_each_guard_stands_once_in_the_code_and_leaves_valid_code_behind(guard: Guard) -> None:
    source = (ROOT / guard.path).read_text()

    assert source.count(guard.text) == 1
    ast.parse(source.replace(guard.text, guard.disabled))


def test_guards_have_names_of_their_own() -> None:
    assert len({guard.name for guard in GUARDS}) == len(GUARDS)
