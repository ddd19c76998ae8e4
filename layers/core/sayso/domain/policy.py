"""The ``human_input`` member of a managed run: who is asked, how, until when (DESIGN §7).

The only source of recipients, texts and deadlines: the model never chooses them. Checked once
when the run is created; the stored request is read back through the same model.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from sayso.domain.form_node import FormNode
from sayso.domain.mail_addresses import is_mail_address
from sayso.domain.node_definition import node_form
from sayso.domain.run import MAX_TIMEOUT
from sayso.domain.variables import NOTHING_ASKED, RESERVED, visible_variables

MAX_RECIPIENTS = 50
DEFAULT_TIMEOUT_HOURS = 36

_UNITS = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
}

Title = Annotated[str, StringConstraints(max_length=200)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ExternalRecipient(_Strict):
    """Somebody who is known by address only."""

    type: Literal["external"]
    email: Annotated[str, StringConstraints(max_length=254)]

    @field_validator("email")
    @classmethod
    def _is_address(cls, value: str) -> str:
        text = value.strip()
        if text and not is_mail_address(text):
            message = "must be a mail address such as name@example.org"
            raise ValueError(message)
        return text


class MemberRecipient(_Strict):
    """Somebody of the tenant's directory; whoever is not in it is skipped (human-input §5)."""

    type: Literal["member"]
    reference_id: Annotated[str, StringConstraints(min_length=1, max_length=100)]

    @model_validator(mode="before")
    @classmethod
    def _read_alias(cls, value: Any) -> Any:
        return _with_alias(value, "reference_id", "user_id")


NamedRecipient = Annotated[MemberRecipient | ExternalRecipient, Field(discriminator="type")]


class EmailRecipients(_Strict):
    """Addressees of one e-mail method; blank addresses are skipped (human-input §5)."""

    include_bound_group: bool = False
    """Whether all active members of the tenant are asked."""
    items: Annotated[list[NamedRecipient], Field(max_length=MAX_RECIPIENTS)] = []

    @model_validator(mode="before")
    @classmethod
    def _read_alias(cls, value: Any) -> Any:
        return _with_alias(value, "include_bound_group", "whole_workspace")


def _with_alias(value: Any, name: str, alias: str) -> Any:
    """Return members with an alias under its new name; that one counts where both are (§4.1)."""
    if not isinstance(value, dict) or alias not in value:
        return value
    return {name: value[alias]} | {key: one for key, one in value.items() if key != alias}


class EmailConfig(_Strict):
    """Recipients and, if wanted, the author's own subject and body."""

    recipients: EmailRecipients = EmailRecipients()
    subject: Annotated[str, StringConstraints(max_length=500)] = ""
    body: Annotated[str, StringConstraints(max_length=20_000)] = ""
    debug_mode: bool = False
    """In a debugger run only who debugs is mailed, and nobody when that is no member."""


class WebappMethod(_Strict):
    """Whoever holds the API key can answer, through the JSON routes or the link in the events."""

    type: Literal["webapp"]
    enabled: bool = True
    id: Annotated[str, StringConstraints(max_length=100)] | None = None
    config: dict[str, Any] = {}


class EmailMethod(_Strict):
    """A mail to each recipient."""

    type: Literal["email"]
    enabled: bool = True
    id: Annotated[str, StringConstraints(max_length=100)] | None = None
    config: EmailConfig = EmailConfig()


DeliveryMethod = Annotated[WebappMethod | EmailMethod, Field(discriminator="type")]

_OF_THE_NODE = ("timeout", "timeout_unit", "delivery_methods")
"""Members that the reference keeps in the node: taken from there when the policy has none."""


class Conduct(_Strict):
    """How a question is handled beside whom, what and until when; others are refused."""

    show_decider: bool = True
    """Whether those who come too late are told who decided."""


class HumanInputPolicy(_Strict):
    """All members of ``human_input`` that are built so far; others are refused."""

    title: Title = ""
    asked_by: Annotated[str, StringConstraints(max_length=80)] = ""
    """Name of the agent towards people; empty: the app of the API key."""
    variables: dict[str, Any] = {}
    delivery_methods: Annotated[list[DeliveryMethod], Field(max_length=10)] | None = None
    timeout: Annotated[int, Field(ge=1)] = DEFAULT_TIMEOUT_HOURS
    timeout_unit: Literal["second", "minute", "hour", "day"] = "hour"
    not_before: AwareDatetime | None = None
    run_timeout_seconds: Annotated[int, Field(ge=0)] | None = None
    """None: the stack's default; 0: the longest."""
    form: FormNode | None = None
    """What people are asked, whatever the model writes; None: what the model writes."""
    policy: Conduct = Conduct()

    @model_validator(mode="before")
    @classmethod
    def _take_from_the_node(cls, value: Any) -> Any:
        if not isinstance(value, dict) or not isinstance(value.get("form"), dict):
            return value
        moved = {name: value["form"][name] for name in _OF_THE_NODE if name in value["form"]}
        if twice := sorted(moved.keys() & value.keys()):
            message = f"given in human_input and in its form: {', '.join(twice)}"
            raise ValueError(message)
        form = {name: one for name, one in value["form"].items() if name not in moved}
        return {**value, **moved, "form": form}

    @model_validator(mode="after")
    def _can_be_answered(self) -> HumanInputPolicy:
        if taken := sorted(RESERVED & self.variables.keys()):
            message = f"variables cannot be named {' or '.join(taken)}: these names are ours"
            raise ValueError(message)
        if self.form is not None:
            known = visible_variables(
                self.variables, run_id="", title=self.title, asked=NOTHING_ASKED
            )
            node_form(self.form, known)
        return self

    @model_validator(mode="after")
    def _in_bounds(self) -> HumanInputPolicy:
        if self.timeout > MAX_TIMEOUT // _UNITS[self.timeout_unit]:
            message = "timeout must be at most 366 days"
            raise ValueError(message)
        if (self.run_timeout_seconds or 0) > MAX_TIMEOUT // _UNITS["second"]:
            message = "run_timeout_seconds must be at most 31622400 (366 days)"
            raise ValueError(message)
        if self.delivery_methods is not None and not self.enabled_methods:
            message = "delivery_methods must hold an enabled method; leave it out for the default"
            raise ValueError(message)
        if self.recipient_count > MAX_RECIPIENTS:
            message = f"delivery_methods must name at most {MAX_RECIPIENTS} recipients in all"
            raise ValueError(message)
        return self

    @property
    def recipient_count(self) -> int:
        """How many recipients the methods that are used name."""
        return sum(
            len(method.config.recipients.items) if isinstance(method, EmailMethod) else 1
            for method in self.enabled_methods
        )

    @property
    def email_recipients(self) -> list[EmailRecipients]:
        """Whom the methods that are used mail."""
        methods = self.enabled_methods
        return [one.config.recipients for one in methods if isinstance(one, EmailMethod)]

    @property
    def enabled_methods(self) -> list[WebappMethod | EmailMethod]:
        """The methods that are used."""
        return [method for method in self.delivery_methods or [] if method.enabled]

    def form_deadline(self, now: datetime) -> datetime:
        """Return the instant until which an answer to a form made now is taken."""
        return now + self.timeout * _UNITS[self.timeout_unit]

    def run_deadline(self, now: datetime, default: timedelta) -> datetime:
        """Return the instant at which a run made now is expired."""
        if self.run_timeout_seconds is None:
            return now + (default or MAX_TIMEOUT)
        return now + (timedelta(seconds=self.run_timeout_seconds) or MAX_TIMEOUT)
