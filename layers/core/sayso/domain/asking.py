"""Makes the form that people see from what the model asked (dify-agent §9.8).

The arguments were validated by the ask-human tool; unlike the reference we keep label,
placeholder, required, default and the labels of options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sayso.domain.form import (
    Action,
    ButtonStyle,
    FormDefinition,
    FormInput,
    Option,
    ParagraphInput,
    SelectInput,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_ACTION = Action(id="submit", label="Submit", style=ButtonStyle.PRIMARY)


def definition_of(args: Mapping[str, Any]) -> FormDefinition:
    """Return the definition for normalised ``AskHumanToolArgs``.

    What the model wrote is content and never a template: placeholders in it stay as they are.
    """
    return FormDefinition(
        title=args.get("title") or "",
        question=args["question"],
        content=args.get("markdown") or "",
        inputs=tuple(_input(field) for field in args["fields"]),
        actions=tuple(_action(one) for one in args["actions"]) or (DEFAULT_ACTION,),
        urgency=args.get("urgency", "normal"),
    )


def _input(field: Mapping[str, Any]) -> FormInput:
    name, label, required = field["name"], field["label"], field.get("required", False)
    if field["type"] == "select":
        options = tuple(Option(value=one["value"], label=one["label"]) for one in field["options"])
        return SelectInput(
            name=name,
            label=label,
            required=required,
            options=options,
            default=field.get("default"),
        )
    return ParagraphInput(
        name=name,
        label=label,
        required=required,
        placeholder=field.get("placeholder"),
        default=field.get("default"),
    )


def _action(action: Mapping[str, Any]) -> Action:
    style = ButtonStyle(action.get("style", ButtonStyle.DEFAULT))
    return Action(id=action["id"], label=action["label"], style=style)
