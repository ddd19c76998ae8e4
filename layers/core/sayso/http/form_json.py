"""A form as JSON: one definition builder for all surfaces (human-input §7.2, §7.4 R)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from sayso.domain.form import ButtonStyle, ParagraphInput, SelectInput
from sayso.domain.placeholders import FIELD_PATTERN

if TYPE_CHECKING:
    from sayso.domain.form import Action, FormDefinition, FormInput, WholeForm

_STYLES = {ButtonStyle.DESTRUCTIVE: ButtonStyle.ACCENT}
"""The contract's buttons know no ``destructive`` (dify-agent §9.8)."""


def form_json(whole: WholeForm) -> dict[str, Any]:
    """Return what programs need to show a form and to answer it."""
    definition = whole.content.definition
    return {
        "form_content": form_content(definition),
        "inputs": [_input(one) for one in definition.inputs],
        "resolved_default_values": {
            one.name: one.default for one in definition.inputs if one.default is not None
        },
        "user_actions": [_action(one) for one in definition.actions],
        "expiration_time": int(whole.form.deadline.timestamp()),
    }


def form_content(definition: FormDefinition) -> str:
    """Return title, question, content and fields as one Markdown text (dify-agent §9.8).

    Fields stand as ``{{#$output.<name>#}}``; one that the content does not place follows at the
    end, behind its label.
    """
    placed = set(FIELD_PATTERN.findall(definition.content))
    title = definition.title and f"# {definition.title}"
    parts = [title, definition.question, definition.content]
    parts += [_labelled(one) for one in definition.inputs if one.name not in placed]
    return "\n\n".join(part for part in parts if part)


def _labelled(field: FormInput) -> str:
    mark = " *" if field.required else ""
    return f"{field.label}{mark}\n\n{{{{#$output.{field.name}#}}}}"


def _input(field: FormInput) -> dict[str, Any]:
    match field:
        case ParagraphInput():
            default = None if field.default is None else _constant(field.default)
            return {"type": "paragraph", "output_variable_name": field.name, "default": default}
        case SelectInput():
            options = _constant([option.value for option in field.options])
            return {
                "type": "select",
                "output_variable_name": field.name,
                "option_source": options,
            }
        case _:
            assert_never(field)


def _constant(value: object) -> dict[str, Any]:
    """Return a source with both of its branches, as the contract keeps them (human-input §3.2)."""
    return {"type": "constant", "selector": [], "value": value}


def _action(action: Action) -> dict[str, str]:
    style = _STYLES.get(action.style, action.style)
    return {"id": action.id, "title": action.label, "button_style": style.value}
