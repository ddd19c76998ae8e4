"""Sayso's own snapshot of a paused run (DESIGN §3): how it is written, read and migrated.

One JSON document. It never holds credentials, instructions, prompts or live objects: those come
from the stored request, which it names by digest. A document of an older version is brought up
by migrations; one of an unknown version is refused, and the run stays paused for code that can
read it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_ai.conversation import Conversation, ConversationTypeAdapter

from sayso.domain.errors import SnapshotRefusedError
from sayso_agent.protocol import CompositorSessionSnapshot, LayerSessionSnapshot

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

SCHEMA_VERSION: Final = 1
CODE_VERSION: Final = "0.1.0"
"""Told to people who look at a snapshot; nothing is decided by it."""

Migrations = Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]]
"""Version → what makes a document of the next version of it."""

MIGRATIONS: Final[Migrations] = {}
"""Each version in it has a kept sample among the tests."""

_LAYERS = TypeAdapter(list[LayerSessionSnapshot])


@dataclass(frozen=True, slots=True, kw_only=True)
class PausedState:
    """What a paused run goes on from."""

    request_digest: str
    layers: Sequence[LayerSessionSnapshot]
    """States of all layers; the messages stand in the conversation, not in the history layer."""
    conversation: Conversation

    def session_snapshot(self) -> CompositorSessionSnapshot:
        """Return the layers in the form the compositor takes."""
        return CompositorSessionSnapshot(layers=list(self.layers))

    def pending_ids(self) -> set[str]:
        """Return the ids of the calls that wait for a result."""
        requests = self.conversation.deferred_tool_requests
        return {call.tool_call_id for call in requests.calls} if requests else set()

    def check_tools(self, offered: Collection[str]) -> None:
        """Tell whether the tools whose calls wait are still there.

        Raises:
            SnapshotRefusedError: One is gone, or has another name now.
        """
        requests = self.conversation.deferred_tool_requests
        calls = requests.calls if requests else []
        if gone := sorted({call.tool_name for call in calls} - set(offered)):
            message = f"the run waits for tools that this code does not offer: {', '.join(gone)}"
            raise SnapshotRefusedError(message)

    def check_answers(self, answers: Mapping[str, Any]) -> None:
        """Tell whether there is exactly one result for each waiting call.

        Raises:
            SnapshotRefusedError: A result is missing or too many.
        """
        if answers.keys() != self.pending_ids():
            message = (
                f"the run waits for results of {sorted(self.pending_ids())}, got those of"
                f" {sorted(answers)}"
            )
            raise SnapshotRefusedError(message)


def dump_paused(state: PausedState) -> bytes:
    """Return the document of a pause."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "code_version": CODE_VERSION,
        "request_digest": state.request_digest,
        "layers": [_without_messages(layer) for layer in state.layers],
        "conversation": ConversationTypeAdapter.dump_python(
            state.conversation,
            mode="json",
            exclude={"messages": {"__all__": {"instructions"}}},
        ),
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def load_paused(
    data: bytes, *, request_digest: str, migrations: Migrations = MIGRATIONS
) -> PausedState:
    """Read the document of a pause.

    Args:
        data: The document.
        request_digest: Of the request the run was created with.
        migrations: What brings older documents up.

    Raises:
        SnapshotRefusedError: This code cannot read it, or it belongs to another request.
    """
    document = _migrated(_parse(data), migrations)
    if document.get("request_digest") != request_digest:
        message = "the snapshot belongs to another request than the one that is stored"
        raise SnapshotRefusedError(message)
    try:
        return PausedState(
            request_digest=request_digest,
            layers=_LAYERS.validate_python(document.get("layers")),
            conversation=ConversationTypeAdapter.validate_python(document.get("conversation")),
        )
    except ValidationError as error:
        message = (
            f"the snapshot cannot be read: {error.error_count()} members do not fit, the first"
            f" at {'.'.join(str(part) for part in error.errors()[0]['loc'])!r}"
        )
        raise SnapshotRefusedError(message) from error


def _without_messages(layer: LayerSessionSnapshot) -> dict[str, Any]:
    """The conversation holds them already."""
    dumped = layer.model_dump(mode="json")
    dumped["runtime_state"].pop("messages", None)
    return dumped


def _parse(data: bytes) -> dict[str, Any]:
    try:
        document = json.loads(data)
    except ValueError as error:
        message = "the snapshot cannot be read: it is no JSON document"
        raise SnapshotRefusedError(message) from error
    if not isinstance(document, dict):
        message = "the snapshot cannot be read: it is no JSON object"
        raise SnapshotRefusedError(message)
    return document


def _migrated(document: dict[str, Any], migrations: Migrations) -> dict[str, Any]:
    while (version := document.get("schema_version")) != SCHEMA_VERSION:
        migrate = migrations.get(version) if isinstance(version, int) else None
        if migrate is None:
            message = (
                f"the snapshot has schema_version {version!r}, this code reads"
                f" {sorted([*migrations, SCHEMA_VERSION])}; resume the run with the code that"
                " paused it"
            )
            raise SnapshotRefusedError(message)
        document = migrate(document)
    return document
