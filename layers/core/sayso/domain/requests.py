"""Rules about the create request: where credentials stand in it, which face it asks for."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

METADATA_POLICY = "sayso.human_input"
"""Member of ``metadata`` that carries a policy through an unmodified client (DESIGN decision 2)."""

_SECRET_MEMBER = "credentials"  # noqa: S105 - the name of a member, not a secret

Path = list[str | int]


def split_credentials(request: Mapping[str, Any]) -> tuple[dict[str, Any], list[list[Any]]]:
    """Return a copy without the members named ``credentials`` in layer configs, and those apart.

    A config may be a JSON text (dify-agent §6); such a one is opened.

    Returns:
        The plain request, and ``[path, value]`` pairs for ``join_credentials``.
    """
    plain: dict[str, Any] = json.loads(json.dumps(request))
    found: list[list[Any]] = []
    for number, layer in enumerate(plain["composition"]["layers"]):
        config = layer.get("config")
        if isinstance(config, str):
            config = _parsed(config)
            if config is None:
                continue
            layer["config"] = config
        for holder, path in _holders(config, ["composition", "layers", number, "config"]):
            if holder[_SECRET_MEMBER]:
                found.append([[*path, _SECRET_MEMBER], holder[_SECRET_MEMBER]])
                holder[_SECRET_MEMBER] = {}
    return plain, found


def join_credentials(request: dict[str, Any], credentials: list[list[Any]]) -> dict[str, Any]:
    """Return a copy with credentials back where ``split_credentials`` took them."""
    request = copy.deepcopy(request)
    for path, value in credentials:
        holder: Any = request
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value
    return request


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None  # the run fails later with the contract's text
    return value if isinstance(value, dict) else None


def _holders(value: Any, path: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """Yield every object that has a member named ``credentials``, outermost first."""
    if isinstance(value, dict):
        if _SECRET_MEMBER in value:
            yield value, path
        for name, member in value.items():
            if name != _SECRET_MEMBER:
                yield from _holders(member, [*path, name])
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _holders(member, [*path, index])
