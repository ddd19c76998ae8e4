"""What agents ask and whom: create requests of scripted runs, and forms that are filled in."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from sayso_local import browser
from support.segments import CONTEXT, HISTORY, ask_human, calls, llm, prompt, request, text

if TYPE_CHECKING:
    from collections.abc import Sequence

Json = dict[str, Any]

WEBAPP: Json = {"type": "webapp"}
QUESTION: Json = {
    "title": "Refund HO-10482",
    "question": "Refund 1,240.00 EUR to Marta Oliveira?",
    "markdown": "The parcel was lost on the way. The limit without a person is **200 EUR**.",
    "fields": [
        {
            "type": "select",
            "name": "reason",
            "label": "Reason",
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
ACTIONS = ("approve", "refuse")
MODEL_KEY = "sk-of-these-tests"
ANSWER_SHOWN = text("The person has decided: {{results}}")


def questions(*call_ids: str) -> Json:
    """Return a turn that asks one question for each call id."""
    return calls(*[(one, "ask_human", QUESTION) for one in call_ids])


def scripted(turns: Sequence[Json], *extra_layers: Json, **members: Any) -> Json:
    """Return a create request whose model says these turns; without ``human_input`` a protocol run."""
    layers = [prompt(), HISTORY, CONTEXT, ask_human(), *extra_layers, llm(turns)]
    return request(*layers, **members)


def openai(base_url: str, **members: Any) -> Json:
    """Return a create request whose model is called over HTTP."""
    credentials = {"openai_api_key": MODEL_KEY, "openai_api_base": base_url}
    model = llm([], model_provider="openai", model="stub", credentials=credentials)
    return request(prompt(), HISTORY, CONTEXT, ask_human(), model, **members)


def asking(*call_ids: str, **policy: Any) -> Json:
    """Return a create request that asks whoever holds the API key, and ends with the answers."""
    turns = [questions(*call_ids or ("call_1",)), ANSWER_SHOWN]
    return scripted(turns, human_input=to_api(**policy))


def to_api(**policy: Any) -> Json:
    """Return a policy whose links stand in the events."""
    return {"title": "Refund", "delivery_methods": [WEBAPP], **policy}


def to_mail(*addresses: str, **policy: Any) -> Json:
    """Return a policy that asks people by mail."""
    items = [{"type": "external", "email": address} for address in addresses]
    method = {"type": "email", "config": {"recipients": {"items": items}}}
    return {"title": "Refund", "delivery_methods": [method], **policy}


def somebody() -> str:
    """Return a mail address that no other test uses."""
    return f"{secrets.token_hex(6)}@example.org"


def comment() -> str:
    """Return something to say that nobody said before."""
    return f"Fine with me, {secrets.token_hex(6)}"


def filled(page: str, action: str, comment: str, reason: str = "lost") -> dict[str, str]:
    """Return what a browser sends when a person has filled in a form and pressed a button."""
    form = browser.read_form(page)
    assert {"reason", "comment"} <= form.values.keys() | form.choices.keys()
    return form.values | {"reason": reason, "comment": comment, "action": action}
