"""A form as JSON: one definition builder for all surfaces (human-input §7.2, §7.4 R).

Fields of the reference's kinds look exactly as in the contract; what else we know of them stands in
the text. Our own kinds name their bounds as the request does that defines them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sayso.domain.fields import (
    BooleanInput,
    DateInput,
    FileInput,
    FileListInput,
    IntegerInput,
    MultiSelectInput,
    NumberInput,
    ParagraphInput,
    SelectInput,
    TextField,
)
from sayso.domain.form import ButtonStyle
from sayso.domain.placeholders import as_text

if TYPE_CHECKING:
    from sayso.domain.fields import FormInput, VariableSource
    from sayso.domain.form import Action, WholeForm

_STYLES = {ButtonStyle.DESTRUCTIVE: ButtonStyle.ACCENT}
"""The contract's buttons know no ``destructive`` (dify-agent §9.8)."""


def form_json(whole: WholeForm) -> dict[str, Any]:
    """Return what programs need to show a form and to answer it."""
    definition = whole.content.definition
    return {
        "form_content": whole.content.rendered_content,
        "inputs": [input_json(one) for one in definition.inputs],
        "resolved_default_values": default_values(whole),
        "user_actions": [action_json(one) for one in definition.actions],
        "expiration_time": int(whole.form.deadline.timestamp()),
    }


def console_json(whole: WholeForm) -> dict[str, Any]:
    """Return the same for the console, with what it is shown besides (§7.5)."""
    definition = whole.content.definition
    return {
        **form_json(whole),
        "rendered_content": whole.content.rendered_content,
        "default_values": default_values(whole),
        "node_title": definition.title or definition.question,
        "display_in_ui": whole.content.display_in_ui,
    }


def public_json(whole: WholeForm) -> dict[str, Any]:
    """Return the same for the public form, with the branding of its site (§7.2)."""
    site = {
        "title": whole.content.asked_by,
        "icon_type": None,
        "icon": None,
        "icon_background": None,
        "icon_url": None,
    }
    custom = {"remove_webapp_brand": False, "replace_webapp_logo": None}
    return {**form_json(whole), "site": {"site": site, "custom_config": custom}}


def default_values(whole: WholeForm) -> dict[str, str]:
    """Return initial values by field, always as text (§7.2)."""
    return {name: as_text(value) for name, value in raw_defaults(whole).items()}


def raw_defaults(whole: WholeForm) -> dict[str, Any]:
    """Return initial values by field as the JSON that they are (§14.1)."""
    inputs = whole.content.definition.inputs
    defaults = {one.name: getattr(one, "default", None) for one in inputs}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in defaults.items()
        if value not in (None, ())
    }


def input_json(field: FormInput) -> dict[str, Any]:
    """Return one input."""
    base = {"type": field.kind, "output_variable_name": field.name}
    if isinstance(field, ParagraphInput):
        return base | {"default": _default(field.default, field.source)}
    if isinstance(field, SelectInput):
        return base | {"option_source": _options(field)}
    if isinstance(field, FileInput | FileListInput):
        return base | _file_limits(field)
    return base | _own_members(field)


def _own_members(field: FormInput) -> dict[str, Any]:
    """Return all there is to say about a field of a kind that only we have."""
    members: dict[str, Any] = {"label": field.label, "help": field.help, "required": field.required}
    match field:
        case TextField():
            members |= {
                "default": _default(field.default, field.source),
                "placeholder": field.placeholder,
                "min_length": field.min_chars,
                "max_length": field.max_chars,
                "pattern": field.pattern,
            }
        case NumberInput() | IntegerInput():
            members |= {"minimum": field.minimum, "maximum": field.maximum}
            members["default"] = field.default
        case BooleanInput():
            members["default"] = field.default
        case DateInput():
            members |= {"earliest": field.earliest, "latest": field.latest}
            members["default"] = field.default
        case MultiSelectInput():
            members |= {
                "option_source": _options(field),
                "option_labels": {one.value: one.label for one in field.options},
                "default": list(field.default),
                "min_choices": field.min_choices,
                "max_choices": field.max_choices,
            }
    return members


def _default(default: str | None, source: VariableSource | None) -> dict[str, Any] | None:
    """Return a source with both of its branches, as the contract keeps them (§3.2)."""
    if source is not None:
        return {"type": "variable", "selector": list(source.selector), "value": source.value}
    return None if default is None else {"type": "constant", "selector": [], "value": default}


def _options(field: SelectInput | MultiSelectInput) -> dict[str, Any]:
    """Return the options, resolved; their type stays what it was (§3.5)."""
    values = [option.value for option in field.options]
    if field.source is None:
        return {"type": "constant", "selector": [], "value": values}
    return {"type": "variable", "selector": list(field.source.selector), "value": values}


def _file_limits(field: FileInput | FileListInput) -> dict[str, Any]:
    limits = {
        "allowed_file_types": list(field.limits.types),
        "allowed_file_extensions": list(field.limits.extensions),
        "allowed_file_upload_methods": list(field.limits.methods),
    }
    several = {"number_limits": field.max_files} if isinstance(field, FileListInput) else {}
    return limits | several


def action_json(action: Action) -> dict[str, Any]:
    """Return one button; the inputs that it needs only where it says so itself."""
    style = _STYLES.get(action.style, action.style)
    shown = {"id": action.id, "title": action.label, "button_style": style.value}
    if action.requires is None:
        return shown
    return shown | {"required_inputs": list(action.requires)}
