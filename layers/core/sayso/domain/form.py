"""One question to people: definition, record, recipients, decision.

Dataclasses, not pydantic: the page function reads these and must start fast. Definitions are
validated once, where they come in; here they are trusted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sayso.domain.fields import FormInput
    from sayso.domain.ids import AppId, FormId, PauseId, RunId, TenantId
    from sayso.domain.transitions import FormStatus
    from sayso.domain.uploads import Upload


class ButtonStyle(StrEnum):
    """Looks of a button; the union of both contracts' words."""

    DEFAULT = "default"
    PRIMARY = "primary"
    ACCENT = "accent"
    GHOST = "ghost"
    DESTRUCTIVE = "destructive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A button: what a person can decide."""

    id: str
    label: str
    style: ButtonStyle = ButtonStyle.DEFAULT
    requires: tuple[str, ...] | None = None
    """Names of the fields that this action needs; None: those that say so themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlBlock:
    """A stretch of Markdown, rendered and sanitised when the form was made."""

    html: str
    kind: Literal["html"] = "html"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldBlock:
    """The place of a field in the content."""

    name: str
    kind: Literal["field"] = "field"


ContentBlock = HtmlBlock | FieldBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class FormDefinition:
    """What is asked, independent of the surface that shows it."""

    title: str
    """Heading of the question, may be empty."""
    question: str
    content: str
    """Markdown that people read before they decide, variables already substituted; fields may
    stand in it as ``{{#$output.<name>#}}``."""
    inputs: tuple[FormInput, ...]
    actions: tuple[Action, ...]
    urgency: Literal["normal", "high"] = "normal"

    def action(self, action_id: str) -> Action | None:
        """Return the action of that id, if there is one."""
        return next((action for action in self.actions if action.id == action_id), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormContent:
    """Definition and what was rendered from it."""

    definition: FormDefinition
    blocks: tuple[ContentBlock, ...]
    mail_html: str
    """The content under the mail's narrower allow-list."""
    sanitiser_version: int
    digest: str
    """SHA-256 over the definition; what a decision says it has seen (I5)."""
    form_content: str = ""
    """The text as its author wrote it, variables and all."""
    rendered_content: str = ""
    """The same with variables substituted, composed once for every JSON surface: fields stand in it
    as ``{{#$output.<name>#}}`` (human-input §3.5, §7.4 R)."""
    mail: Mapping[str, Any] = field(default_factory=dict)
    """Subject and body of the author, empty for our own template."""
    asked_by: str = ""
    base_url: str = ""
    run_title: str = ""
    warnings: tuple[str, ...] = ()
    """Variables that were asked for and unknown; they were replaced by nothing (§3.4 R)."""
    unknown_members: tuple[str, ...] = ()
    """Ids in the policy that are no active member of the tenant; nobody was asked for them."""
    invoke_from: str = ""
    """What started the run; picks the surface on which its readers answer (§6.3)."""
    display_in_ui: bool = False
    show_decider: bool = True
    """Whether others than who decided are told who it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who decided, as far as the surface can know."""

    recipient: int | None
    """Number of the recipient whose link was used."""
    proven_by: Literal["link", "api_key"]
    name: str = ""
    """Shown to others; a person's name or a masked address."""
    user: str | None = None
    """The end user that a service caller names, or the id of the key that was used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The accepted submission."""

    action_id: str
    action_label: str
    values: Mapping[str, Any]
    actor: Actor
    decided_at: datetime


class FormKind(StrEnum):
    """What a form is for (human-input §2.1)."""

    RUNTIME = "runtime"
    DELIVERY_TEST = "delivery_test"
    """Shows how a delivery looks; decides nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The record of one question."""

    id: FormId
    run_id: RunId
    """Empty for a delivery test, which belongs to no run."""
    pause_id: PauseId
    segment: int
    tool_call_id: str
    tool_name: str
    tenant: TenantId
    app: AppId
    status: FormStatus
    created_at: datetime
    deadline: datetime
    content_digest: str
    decision: Decision | None = None
    ended_at: datetime | None = None
    end_note: str | None = None
    """Why it ended without a decision, for people."""
    audits: int = 0
    audit_digest: str = ""
    """Digest of the last audit entry; the next one names it."""
    tells: int = 0
    due_at: datetime | None = None
    kind: FormKind = FormKind.RUNTIME

    @property
    def resumes_run(self) -> bool:
        """Whether a run waits for how this form ended."""
        return self.kind is FormKind.RUNTIME and self.status.resumes_run


class RecipientType(StrEnum):
    """Kinds of recipients (human-input §2.3)."""

    EMAIL_MEMBER = "email_member"
    EMAIL_EXTERNAL = "email_external"
    STANDALONE_WEB_APP = "standalone_web_app"
    CONSOLE = "console"
    BACKSTAGE = "backstage"


class DeliveryState(StrEnum):
    """How far a mail to one recipient got."""

    NONE = "none"
    """Nothing to send: the recipient is reached through an API."""
    QUEUED = "queued"
    SENDING = "sending"
    SENT = "sent"
    BOUNCED = "bounced"
    COMPLAINED = "complained"
    FAILED = "failed"
    REVOKED = "revoked"
    """The mailed link was taken back."""

    @property
    def may_reach(self) -> bool:
        """Whether the recipient has or may still get the link."""
        return self in _REACHING_STATES


_REACHING_STATES = frozenset(
    {
        DeliveryState.NONE,
        DeliveryState.QUEUED,
        DeliveryState.SENDING,
        DeliveryState.SENT,
        DeliveryState.COMPLAINED,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """A person, or an API caller, who may answer."""

    number: int
    """From 1, within the form; part of the link."""
    type: RecipientType
    revision: int = 1
    """Part of the link; a new one revokes the old link."""
    address: str = ""
    """Mail address; empty for those reached through an API."""
    name: str = ""
    """Of a member; empty for whoever is known by an address only."""
    member: str = ""
    """Id of a member."""
    time_zone: str = ""
    """IANA name of the zone in which this recipient is shown instants; empty: the stack's."""
    state: DeliveryState = DeliveryState.NONE
    attempts: int = 0
    claimed_at: datetime | None = None
    message_id: str = ""

    @property
    def may_be_reached(self) -> bool:
        """Whether the question can get to this recipient.

        Every form has a backstage recipient, whom nobody tells: it does not make a form that
        reaches nobody one that reaches somebody.
        """
        return self.type is not RecipientType.BACKSTAGE and self.state.may_reach


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedForm:
    """A form with its content."""

    form: Form
    content: FormContent


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeForm(AskedForm):
    """A form with its content and recipients, read together."""

    recipients: tuple[Recipient, ...]
    uploads: Mapping[str, Upload] = field(default_factory=dict)
    """Files that were sent for this form, by id."""

    def recipient(self, number: int) -> Recipient | None:
        """Return the recipient of that number, if there is one."""
        return next((one for one in self.recipients if one.number == number), None)
