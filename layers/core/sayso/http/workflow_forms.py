"""What workflow events say of a form, read when they are sent (human-input §14.1 to §14.4).

Tokens are made here and never stored; answers are taken from the form itself. Live, rebuilt and
replayed streams all come through here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sayso.domain.placeholders import fill_fields
from sayso.domain.transitions import FormStatus
from sayso.http.form_json import action_json, input_json, raw_defaults
from sayso.http.workflow_frames import Said
from sayso.usecases.read_workflow import read_form
from sayso.usecases.show_question import show_way

if TYPE_CHECKING:
    from datetime import datetime

    from sayso.domain.access import Surface
    from sayso.domain.form import Decision, WholeForm
    from sayso.domain.ids import FormId
    from sayso.domain.run import Run
    from sayso.ports import Links
    from sayso.usecases.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedNode:
    """The node of one form."""

    form_id: FormId
    ordinal: int
    """Which question of the run it is, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeForms:
    """The forms of one run for one reader."""

    run: Run
    surface: Surface | None
    """Whose tokens the reader may see; None: anybody's (§6.3)."""
    context: Context
    links: Links

    def started(self, node: AskedNode, at: datetime) -> Said | None:
        """Return ``node_started``."""
        if (whole := self._whole(node)) is None:
            return None
        return Said("node_started", {"data": {**_node(whole, node), "created_at": _seconds(at)}})

    def asked(self, node: AskedNode) -> Said | None:
        """Return ``human_input_required`` (§14.1)."""
        whole = self._whole(node)
        return (
            None
            if whole is None
            else Said("human_input_required", {"data": self._ask(whole, node)})
        )

    def reasons(self, nodes: list[AskedNode]) -> list[dict[str, Any]]:
        """Return the reasons of a pause; a form that is gone is left out (§14.2)."""
        found = [(self._whole(node), node) for node in nodes]
        return [
            {"TYPE": "human_input_required", **self._ask(whole, node)}
            for whole, node in found
            if whole is not None
        ]

    def closed(self, node: AskedNode) -> Said | None:
        """Return how a form ended (§14.3, §14.4).

        Whatever closed it without an answer is told as its timeout, as the form routes do (DESIGN
        §4): clients of the contract would keep its buttons otherwise.
        """
        if (whole := self._whole(node)) is None:
            return None
        shared = {"form_id": whole.form.id, **_named(whole, node)}
        if (decision := whole.form.decision) is not None:
            data = shared | _filled(whole, decision)
            return Said("human_input_form_filled", {"data": data})
        late = {
            "expiration_time": _seconds(whole.form.deadline),
            "status": whole.form.status.value,
        }
        return Said("human_input_form_timeout", {"data": shared | late})

    def finished(self, node: AskedNode) -> Said | None:
        """Return ``node_finished``: a form that nobody answered is no failure (§3.6)."""
        if (whole := self._whole(node)) is None:
            return None
        form = whole.form
        ended = form.ended_at or (form.decision.decided_at if form.decision else form.deadline)
        data = {
            **_node(whole, node),
            "status": "succeeded",
            "error": None,
            "elapsed_time": (ended - form.created_at).total_seconds(),
            "created_at": _seconds(form.created_at),
            "finished_at": _seconds(ended),
        }
        return Said("node_finished", {"data": data})

    def late_node(self, nodes: list[AskedNode]) -> str | None:
        """Return the node at which a run's time was over: the first whose form expired (§12)."""
        found = [(self._whole(node), node) for node in nodes]
        late = (
            _named(whole, node)["node_id"]
            for whole, node in found
            if whole is not None and whole.form.status is FormStatus.EXPIRED
        )
        return next(late, None)

    def _whole(self, node: AskedNode) -> WholeForm | None:
        return read_form(node.form_id, self.run, self.context)

    def _ask(self, whole: WholeForm, node: AskedNode) -> dict[str, Any]:
        way = show_way(whole, self.surface, self.links)
        definition = whole.content.definition
        return {
            "form_id": whole.form.id,
            **_named(whole, node),
            "form_content": whole.content.rendered_content,
            "inputs": [input_json(one) for one in definition.inputs],
            "actions": [action_json(one) for one in definition.actions],
            "display_in_ui": whole.content.display_in_ui,
            "form_token": way.token,
            "approval_channels": list(way.approval_channels),
            "resolved_default_values": raw_defaults(whole),
            "expiration_time": _seconds(whole.form.deadline),
        }


def _named(whole: WholeForm, node: AskedNode) -> dict[str, str]:
    definition = whole.content.definition
    return {
        "node_id": f"{whole.form.tool_name}-{node.ordinal}",
        "node_title": definition.title or definition.question,
    }


def _node(whole: WholeForm, node: AskedNode) -> dict[str, Any]:
    named = _named(whole, node)
    return {
        "id": whole.form.id,
        "node_id": named["node_id"],
        "node_type": "human-input",
        "title": named["node_title"],
    }


def _filled(whole: WholeForm, decision: Decision) -> dict[str, Any]:
    """Return the answer, and who gave it where others may know that."""
    kinds = {one.name: one.kind for one in whole.content.definition.inputs}
    actor = decision.actor
    shown = {"name": actor.name, "user": actor.user, "proven_by": actor.proven_by}
    return {
        "rendered_content": fill_fields(
            whole.content.rendered_content, decision.values, kinds=kinds
        ),
        "action_id": decision.action_id,
        "action_text": decision.action_label,
        "submitted_data": dict(decision.values),
        "actor": shown if whole.content.show_decider else None,
    }


def _seconds(instant: datetime) -> int:
    return int(instant.timestamp())
