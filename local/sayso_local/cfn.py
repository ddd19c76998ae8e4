"""Reads a CloudFormation template: YAML whose short tags (`!Ref`, `!GetAtt`) become their long forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import yaml

if TYPE_CHECKING:
    from pathlib import Path

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]
JsonObject = dict[str, JsonValue]


class _TemplateLoader(yaml.SafeLoader):
    """A safe loader that knows the tags of CloudFormation and reads dates as text."""


def _construct(loader: yaml.SafeLoader, tag: str, node: yaml.Node) -> JsonObject:
    """Turn `!Tag value` into `{"Fn::Tag": value}`, as CloudFormation's reference describes."""
    value: JsonValue
    if isinstance(node, yaml.ScalarNode):
        value = str(loader.construct_scalar(node))
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)
        # Keys of a template are text.
        value = cast("JsonObject", loader.construct_mapping(node, deep=True))
    if tag == "GetAtt" and isinstance(value, str):
        value = list(value.split(".", 1))
    return {tag if tag in {"Ref", "Condition"} else f"Fn::{tag}": value}


def _plain_text(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> str:
    """Keep a scalar as it is written."""
    return str(loader.construct_scalar(node))


_TemplateLoader.add_multi_constructor("!", _construct)
# `2012-10-17` is the name of a policy language, not a day.
_TemplateLoader.add_constructor("tag:yaml.org,2002:timestamp", _plain_text)


def read_template(path: Path) -> JsonObject:
    """Return the template as plain JSON data."""
    # The loader is a SafeLoader; the rule looks at the function's name only.
    loaded = yaml.load(path.read_text(), Loader=_TemplateLoader)  # noqa: S506
    assert isinstance(loaded, dict)
    return loaded


def resources_of_type(template: JsonObject, *types: str) -> dict[str, JsonObject]:
    """Return the properties of all resources of these types, by logical id."""
    found: dict[str, JsonObject] = {}
    resources = template["Resources"]
    assert isinstance(resources, dict)
    for name, resource in resources.items():
        assert isinstance(resource, dict)
        if resource["Type"] in types:
            properties = resource.setdefault("Properties", {})
            assert isinstance(properties, dict)
            found[name] = properties
    return found
