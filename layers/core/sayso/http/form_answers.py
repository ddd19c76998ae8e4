"""Requests and answers of the form routes as models (human-input §7), for ``openapi.json``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from sayso.http.answers import Answer

ShortText = Annotated[str, Field(max_length=255)]


class Submission(Answer):
    """What a person decided."""

    inputs: dict[str, Any]
    """Name of the field → value; what fits depends on the form."""
    action: ShortText


class ServiceSubmission(Submission):
    """With the end user on whose behalf the caller answers."""

    user: Annotated[ShortText, Field(min_length=1)]


class Nothing(Answer):
    """``{}``."""


class FormError(Answer):
    """Why a form request was refused."""

    code: str
    message: str
    status: int
    hint: str | None = None


class ProblemPlace(Answer):
    """One mistake in a request."""

    place: str
    message: str


class ProblemDocument(Answer):
    """Why a request was refused (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str | None = None
    errors: list[ProblemPlace] = Field(default_factory=list)


class ValueSource(Answer):
    """A constant, or what a run variable held when the form was made."""

    type: Literal["constant", "variable"]
    selector: list[str]
    value: Any


class FormInput(Answer):
    """One field; which members it has depends on its type."""

    type: str
    output_variable_name: str
    default: Any = None
    option_source: ValueSource | None = None
    option_labels: dict[str, str] = Field(default_factory=dict)
    allowed_file_types: list[str] = Field(default_factory=list)
    allowed_file_extensions: list[str] = Field(default_factory=list)
    allowed_file_upload_methods: list[str] = Field(default_factory=list)
    number_limits: int | None = None
    label: str | None = None
    help: str | None = None
    required: bool = False
    placeholder: str | None = None
    pattern: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    minimum: float | str | None = None
    maximum: float | str | None = None
    earliest: str | None = None
    latest: str | None = None
    min_choices: int | None = None
    max_choices: int | None = None


class FormAction(Answer):
    """One button."""

    id: str
    title: str
    button_style: Literal["default", "primary", "accent", "ghost"]
    required_inputs: list[str] = Field(default_factory=list)


class FormJson(Answer):
    """A form that waits."""

    form_content: str
    inputs: list[FormInput]
    resolved_default_values: dict[str, str]
    user_actions: list[FormAction]
    expiration_time: int
    """Unix seconds."""


class ConsoleFormJson(FormJson):
    """The same for the console."""

    rendered_content: str
    default_values: dict[str, str]
    node_title: str
    display_in_ui: bool


class Site(Answer):
    """Branding of the public form."""

    title: str
    icon_type: str | None
    icon: str | None
    icon_background: str | None
    icon_url: str | None


class Branding(Answer):
    """What the reference lets a workspace change."""

    remove_webapp_brand: bool
    replace_webapp_logo: str | None


class SiteSettings(Answer):
    """Who shows the public form."""

    site: Site
    custom_config: Branding


class PublicFormJson(FormJson):
    """The same for whoever holds the link."""

    site: SiteSettings


class UploadToken(Answer):
    """What uploads carry as their bearer token."""

    upload_token: str
    expires_at: int
    """Unix seconds: the deadline of the form."""


class UploadedFile(Answer):
    """A file that was stored for a form."""

    id: str
    """The ``upload_file_id`` of a value."""
    name: str
    size: int
    """Bytes."""
    extension: str
    mime_type: str
    created_by: str | None
    created_at: int
    """Unix seconds."""


class RemoteFile(Answer):
    """Where a file is to be fetched."""

    url: Annotated[str, Field(max_length=2000)]


class FetchedFile(UploadedFile):
    """A file that was fetched and stored for a form."""

    url: str


class ManagedForm(Answer):
    """A form after an operator changed it."""

    form_id: str
    status: Literal["waiting", "submitted", "timeout", "expired", "cancelled", "undeliverable"]
    expiration_time: int
