"""The table of variables and the template know the same ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from sayso.settings import VARIABLES

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
OF_POWERTOOLS = "POWERTOOLS_"


class Loader(yaml.SafeLoader):
    """Reads CloudFormation's short forms (``!Ref``, ``!Sub``) as what they hold."""


def _any(loader: yaml.SafeLoader, _suffix: str, node: yaml.Node) -> Any:
    match node:
        case yaml.MappingNode():
            return loader.construct_mapping(node, deep=True)
        case yaml.SequenceNode():
            return loader.construct_sequence(node, deep=True)
        case _:
            return node.value


Loader.add_multi_constructor("!", _any)


@pytest.fixture(scope="module")
def given() -> set[str]:
    """Return the names of all variables that the template gives to functions."""
    template = yaml.load(TEMPLATE.read_text(), Loader)  # noqa: S506 - derives from SafeLoader
    parts = [template["Globals"]["Function"]]
    parts += [
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Serverless::Function"
    ]
    names = {name for part in parts for name in part["Environment"]["Variables"]}
    return {name for name in names if not name.startswith(OF_POWERTOOLS)}


def test_template_gives_only_variables_that_are_read(given: set[str]) -> None:
    assert given - {one.name for one in VARIABLES} == set()


def test_every_variable_is_given_to_some_function(given: set[str]) -> None:
    assert {one.name for one in VARIABLES} - given == set()
