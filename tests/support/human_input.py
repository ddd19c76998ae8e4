"""Forms over HTTP in memory: node data, tokens by type of recipient, and the paths of surfaces."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sayso.domain.form import RecipientType
from sayso.domain.links import Link
from support.functions import APP, ASK, Functions, create_request

if TYPE_CHECKING:
    from sayso.domain.form import Form, WholeForm
    from sayso.domain.ids import RunId
    from support.functions import Answer

Json = dict[str, Any]

WEB, MAIL = RecipientType.STANDALONE_WEB_APP, RecipientType.EMAIL_EXTERNAL
MEMBER = RecipientType.EMAIL_MEMBER
CONSOLE, BACKSTAGE = RecipientType.CONSOLE, RecipientType.BACKSTAGE

WEBAPP: Json = {"type": "webapp", "id": "web"}
EMAIL: Json = {
    "type": "email",
    "id": "mail",
    "config": {"recipients": {"items": [{"type": "external", "email": "cfo@example.org"}]}},
}
APPROVE: Json = {"id": "approve", "title": "Approve", "button_style": "primary"}
REJECT: Json = {"id": "reject", "title": "Reject", "button_style": "ghost"}
NOTE: Json = {"type": "paragraph", "output_variable_name": "note", "default": None}
REASON: Json = {
    "type": "select",
    "output_variable_name": "reason",
    "option_source": {"type": "constant", "selector": [], "value": ["late", "damaged"]},
}


def node(*inputs: Json, actions: list[Json] | None = None, **members: Any) -> Json:
    """Return node data in which each input has its place."""
    places = "\n\n".join(f"{{{{#$output.{one['output_variable_name']}#}}}}" for one in inputs)
    given = {"form_content": f"Refund?\n\n{places}", "inputs": list(inputs)}
    return {**given, "user_actions": actions or [APPROVE, REJECT], **members}


@dataclass
class Forms:
    """One managed run and its forms, through real handlers in memory."""

    policy: Json = field(default_factory=dict)
    invoke_from: str = "service-api"
    functions: Functions = field(default_factory=Functions)
    user_id: str | None = None

    def __post_init__(self) -> None:
        answer = self.create()
        assert answer.status == 202, answer.body
        self.run_id: RunId = answer.json["run_id"]
        self.functions.settle()

    def create(self, **headers: str) -> Answer:
        """Send the create request."""
        policy = {"title": "Refund 17", "delivery_methods": [WEBAPP, EMAIL], **self.policy}
        request = create_request(ASK, human_input=policy)
        for layer in request["composition"]["layers"]:
            if layer["type"] == "dify.execution_context":
                layer["config"] |= {"invoke_from": self.invoke_from, "user_id": self.user_id}
        return self.functions.call("POST", "/runs", json_body=request, headers=headers)

    @property
    def whole(self) -> WholeForm:
        """The newest form."""
        return self.functions.form(self.run_id)

    @property
    def form(self) -> Form:
        """Its record."""
        return self.whole.form

    def token(self, kind: RecipientType = WEB) -> str:
        """Return the token of the first recipient of a type."""
        one = next(one for one in self.whole.recipients if one.type is kind)
        link = Link(form_id=self.form.id, recipient=one.number, revision=one.revision)
        return self.functions.wiring.links.sign(link)

    def types(self) -> list[RecipientType]:
        """Return the types of all recipients, in order."""
        return [one.type for one in self.whole.recipients]

    def get(self, surface: str = "service_api", kind: RecipientType = WEB, **call: Any) -> Answer:
        """Read the form on a surface."""
        return self.functions.call("GET", path(surface, self.token(kind)), **call)

    def post(
        self,
        inputs: Json,
        action: str = "approve",
        *,
        surface: str = "service_api",
        kind: RecipientType = WEB,
        user: str = "u-1",
        **call: Any,
    ) -> Answer:
        """Answer the form on a surface."""
        body = {"inputs": inputs, "action": action}
        if surface == "service_api":
            body["user"] = user
        target = path(surface, self.token(kind)) + (":submit" if surface == "openapi" else "")
        return self.functions.call("POST", target, json_body=body, **call)

    def page(self, *, kind: RecipientType = WEB, **fields: str) -> Answer:
        """Answer the form on its page."""
        return self.functions.post_form(self.token(kind), **fields)

    def manage(self, verb: str, body: Json | None = None, **call: Any) -> Answer:
        """Do something to the form as an operator."""
        target = f"/console/api/forms/{self.form.id}/{verb}"
        return self.functions.call("POST", target, json_body=body, **call)

    def result(self) -> Any:
        """Let the run go on and return what the model was told."""
        self.functions.settle()
        events = self.functions.call("GET", f"/runs/{self.run_id}/events").json["events"]
        (told,) = json.loads(events[-1]["data"]["output"])
        return told


def path(surface: str, token: str) -> str:
    """Return where a surface serves a form."""
    return {
        "public": f"/api/form/human_input/{token}",
        "page": f"/form/{token}",
        "service_api": f"/v1/form/human_input/{token}",
        "openapi": f"/openapi/v1/apps/{APP}/human-input-forms/{token}",
        "console": f"/console/api/form/human_input/{token}",
    }[surface]


def error(code: str, message: str, status: int) -> Json:
    """Return an error body of the contract (§7.1)."""
    return {"code": code, "message": message, "status": status}
