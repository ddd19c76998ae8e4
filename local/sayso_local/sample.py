"""The sample run of `make run` and `make demo`: an agent that may not refund without a person."""

from __future__ import annotations

import json

from sayso_local.stack import APPROVER

QUESTION = {
    "title": "Refund HO-10482",
    "question": "Refund 1,240.00 EUR to Marta Oliveira?",
    "markdown": (
        "The parcel of order **HO-10482** was lost on the way.\n\n"
        "| | |\n|---|---|\n| Paid | 1,240.00 EUR |\n| Limit without a person | 200.00 EUR |\n\n"
        "The carrier has confirmed the loss; its own refund takes about three weeks."
    ),
    "fields": [
        {
            "type": "select",
            "name": "reason",
            "label": "Reason for the books",
            "required": True,
            "options": [
                {"value": "lost", "label": "Lost parcel"},
                {"value": "goodwill", "label": "Goodwill"},
            ],
        },
        {"type": "paragraph", "name": "comment", "label": "Comment", "required": True},
    ],
    "actions": [
        {"id": "approve", "label": "Approve refund", "style": "primary"},
        {"id": "refuse", "label": "Refuse", "style": "destructive"},
    ],
}
SCRIPT = [
    {"calls": [{"name": "ask_human", "args": QUESTION, "id": "call_1"}]},
    {"text": "The person has decided: {{results}}"},
]


def scripted_model() -> dict[str, object]:
    """A model that plays given turns."""
    return {
        "plugin_id": "sayso/scripted",
        "model_provider": "scripted",
        "model": "script",
        "credentials": {"script": json.dumps(SCRIPT)},
    }


def openai_model(base_url: str) -> dict[str, object]:
    """A model behind an OpenAI-compatible address."""
    return {
        "plugin_id": "sayso/openai",
        "model_provider": "openai",
        "model": "stub",
        "credentials": {"openai_api_key": "stub", "openai_api_base": base_url},
    }


def create_request(model: dict[str, object]) -> dict[str, object]:
    """The body of `POST /runs` for a managed run."""
    return {
        "composition": {
            "schema_version": 1,
            "layers": [
                {
                    "name": "prompt",
                    "type": "plain.prompt",
                    "config": {
                        "prefix": "You approve refunds only with a person's say-so.",
                        "user": "Refund order HO-10482, 1240 EUR.",
                    },
                },
                {
                    "name": "execution_context",
                    "type": "dify.execution_context",
                    "config": {
                        "tenant_id": "default",
                        "user_from": "account",
                        "agent_mode": "workflow_run",
                        "invoke_from": "service-api",
                    },
                },
                {"name": "history", "type": "pydantic_ai.history"},
                {"name": "ask_human", "type": "dify.ask_human", "config": {}},
                {
                    "name": "llm",
                    "type": "dify.plugin.llm",
                    "deps": {"execution_context": "execution_context"},
                    "config": model,
                },
            ],
        },
        "human_input": {
            "title": "Refund HO-10482",
            "asked_by": "Refund bot",
            "delivery_methods": [
                {
                    "type": "email",
                    "config": {
                        "recipients": {"items": [{"type": "external", "email": APPROVER}]},
                    },
                }
            ],
        },
    }
