"""What a page shows: small frozen values, free of the domain and of every library.

Strings are untrusted unless they are ``RenderedHtml``; templates escape them. ``from_domain`` makes
these values from records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime

    from sayso.rendering.safe import RenderedHtml


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionView:
    """One choice of a select."""

    value: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParagraphView:
    """A field for free text."""

    name: str
    label: str
    required: bool = False
    initial: str = ""
    hint: str = ""
    kind: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectView:
    """A field for one of several options."""

    name: str
    label: str
    options: tuple[OptionView, ...]
    required: bool = False
    initial: str = ""
    hint: str = ""
    kind: Literal["select"] = "select"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineView:
    """A field on one line: text, number, date, address."""

    name: str
    label: str
    type: Literal["text", "email", "url", "date"] = "text"
    """Of the control. Numbers are texts: number controls change their value by scrolling."""
    keyboard: Literal["", "decimal", "numeric"] = ""
    """Which keyboard a telephone shows."""
    required: bool = False
    initial: str = ""
    hint: str = ""
    kind: Literal["line"] = "line"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoicesView:
    """A field whose options are all in sight: boxes to tick, or a pair of yes and no."""

    name: str
    label: str
    options: tuple[OptionView, ...]
    type: Literal["checkbox", "radio"]
    required: bool = False
    initial: str | tuple[str, ...] = ()
    hint: str = ""
    kind: Literal["choices"] = "choices"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileView:
    """A field for files."""

    name: str
    label: str
    required: bool = False
    initial: str = ""
    hint: str = ""
    takes_uploads: bool = True
    """False: only addresses of the web, which programs send."""
    is_list: bool = False
    accept: str = ""
    """Endings that the browser offers first; empty: any."""
    kind: Literal["file"] = "file"


FieldView = ParagraphView | SelectView | LineView | ChoicesView | FileView
"""A further kind is a class here and ``templates/fields/<kind>.html``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextView:
    """A stretch of what the agent wrote."""

    html: RenderedHtml
    kind: Literal["text"] = "text"


PartView = TextView | FieldView


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionView:
    """A button."""

    id: str
    label: str
    style: Literal["primary", "default", "accent", "ghost", "destructive"] = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskView:
    """The question and who asks: the head of every page that a valid link opens."""

    question: str
    asker: str
    reference: str
    """Short, not secret; may be read out on the telephone."""
    more: str = ""
    """One line below the question."""
    workspace: str = ""
    """Who runs the agent; shown beside our sign."""
    zone: str = "UTC"
    """IANA name of the reader's zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormView:
    """An open question."""

    ask: AskView
    deadline: datetime
    now: datetime
    actions: tuple[ActionView, ...]
    """At least one, in the order wanted; the page puts destructive ones last."""
    parts: tuple[PartView, ...] = ()
    silence: str = ""
    """What happens if nobody answers; empty: a general sentence."""
    started_by: str = ""
    recipient: str = ""
    """Who may answer by this link."""
    removed: int = 0
    """Invisible characters taken out of what the agent wrote; said, so that people may wonder."""
    form_nonce: str | None = None
    """Sent back with the answer; None: no such input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueView:
    """One value that a person gave, for reading."""

    label: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionView:
    """What was decided."""

    action: str
    """Label of the button."""
    at: datetime
    by: str = ""
    """Empty when the policy does not say who decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptView:
    """The page behind an accepted answer, for the person who gave it."""

    ask: AskView
    decision: DecisionView
    values: tuple[ValueView, ...] = ()
    digest: str = ""
    """SHA-256 of what was shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedView:
    """An answer that came too late, given back and not stored."""

    action: str
    values: tuple[ValueView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredView:
    """Somebody else was first."""

    ask: AskView
    decision: DecisionView
    typed: TypedView | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredView:
    """The time to answer is over."""

    ask: AskView
    deadline: datetime
    consequence: str = ""
    """What happened instead; empty: a general sentence."""
    typed: TypedView | None = None
    typed_at: datetime | None = None
    """When the late answer came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelledView:
    """The run was stopped, or the question was taken back."""

    ask: AskView
    at: datetime | None = None
    note: str = ""
    """Why, in the words of the one who stopped it."""
    typed: TypedView | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UndeliverableView:
    """The question is handled elsewhere, since nobody could be reached by mail."""

    ask: AskView
    typed: TypedView | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimitedView:
    """Too many requests from one network; knows nothing of the form."""

    now: datetime
    retry_at: datetime
