"""The form of a policy with every kind of field that a person can fill in on the page."""

from __future__ import annotations

from typing import Any


def constant(value: Any) -> dict[str, Any]:
    """Return a source of a value."""
    return {"type": "constant", "value": value}


NAMES = ("who", "why", "mail", "map", "cost", "people", "day", "again", "by", "bring")
FORM: dict[str, Any] = {
    "title": "Site visit",
    "form_content": "# Site visit\n\n{{#ask.question#}}\n\n"
    + "\n\n".join(f"{{{{#$output.{name}#}}}}" for name in NAMES),
    "inputs": [
        {"type": "text", "output_variable_name": "who", "label": "Name", "required": True},
        {"type": "paragraph", "output_variable_name": "why", "label": "Reason"},
        {"type": "email", "output_variable_name": "mail", "label": "Mail address"},
        {"type": "url", "output_variable_name": "map", "label": "Map"},
        {"type": "number", "output_variable_name": "cost", "label": "Cost", "minimum": 0},
        {"type": "integer", "output_variable_name": "people", "label": "People"},
        {"type": "date", "output_variable_name": "day", "label": "Day", "required": True},
        {"type": "boolean", "output_variable_name": "again", "label": "Is it the first visit?"},
        {
            "type": "select",
            "output_variable_name": "by",
            "label": "Travel by",
            "option_source": constant(["train", "car"]),
            "option_labels": {"train": "Train", "car": "Car"},
        },
        {
            "type": "multi-select",
            "output_variable_name": "bring",
            "label": "Bring along",
            "option_source": constant(["boots", "helmet", "papers"]),
            "option_labels": {"boots": "Boots", "helmet": "Helmet", "papers": "Papers"},
        },
    ],
    "user_actions": [
        {"id": "go", "title": "Go", "button_style": "primary"},
        {"id": "stay", "title": "Stay"},
    ],
}
WRONG = {"Mail address": "nobody", "Map": "not an address", "Cost": "-1", "People": "some"}
"""Label of a field → what does not belong there."""
