"""Makes the form that people see from what the model asked (dify-agent §9.8).

The arguments were validated by the ask-human tool; unlike the reference we keep label,
placeholder, required, default and the labels of options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sayso.domain.fields import INPUT_TYPES, Option
from sayso.domain.form import Action, ButtonStyle, FormDefinition
from sayso.domain.placeholders import FIELD_PATTERN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.fields import FormInput

DEFAULT_ACTION: Final = Action(id="submit", label="Submit", style=ButtonStyle.PRIMARY)


def definition_of(args: Mapping[str, Any]) -> FormDefinition:
    """Return the definition for normalised ``AskHumanToolArgs``.

    What the model wrote is content and never a template: placeholders in it stay as they are.
    """
    return FormDefinition(
        title=args.get("title") or "",
        question=args["question"],
        content=args.get("markdown") or "",
        inputs=tuple(input_of(field) for field in args["fields"]),
        actions=tuple(_action(one) for one in args["actions"]) or (DEFAULT_ACTION,),
        urgency=args.get("urgency", "normal"),
    )


def composed_content(definition: FormDefinition) -> str:
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


def input_of(field: Mapping[str, Any]) -> FormInput:
    """Return a field; the tool's names for its members are those of our classes."""
    members = {name: value for name, value in field.items() if name not in {"type", "max_files"}}
    if "options" in members:
        members["options"] = tuple(Option(**one) for one in field["options"])
    if isinstance(members.get("default"), list):
        members["default"] = tuple(members["default"])
    if field["type"] == "file-list":
        members["max_files"] = field.get("max_files") or 0
    return INPUT_TYPES[field["type"]](**members)


def _action(action: Mapping[str, Any]) -> Action:
    style = ButtonStyle(action.get("style", ButtonStyle.DEFAULT))
    return Action(id=action["id"], label=action["label"], style=style)
