"""What a function is told by its environment, as one value.

Each function gets only the variables it needs. One that has no default is looked at when it is
first used, so that a missing one breaks its function with one clear error and no other. Plain
dataclass: the page function reads this and must start fast.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

from sayso.domain.errors import AppError

if TYPE_CHECKING:
    from collections.abc import Mapping

QueueName = Literal["starts", "wakes", "deliveries"]


class SettingsError(AppError):
    """A variable of the environment is missing or malformed. Whoever deployed acts."""


class Variable(NamedTuple):
    """One variable of the environment, as documented."""

    name: str
    meaning: str
    default: str | None
    """Text that is taken when it is not set; None: whoever uses it needs it."""


VARIABLES = (
    Variable("TABLE_NAME", "the table", None),
    Variable("BUCKET_NAME", "the bucket of snapshots and large data", None),
    Variable("STARTS_QUEUE_URL", "queue of new runs", None),
    Variable("WAKES_QUEUE_URL", "queue of answered, timed-out and continued runs", None),
    Variable("DELIVERIES_QUEUE_URL", "queue of mails to send", None),
    Variable("SCHEDULE_GROUP", "group of the one-time schedules", None),
    Variable("SCHEDULE_ROLE_ARN", "role with which a schedule calls the sweep", None),
    Variable("SWEEP_FUNCTION_ARN", "the function that schedules call", None),
    Variable("TOKEN_KEY_SECRET_ARN", "secret with the keys of form links", None),
    Variable("API_KEY_SECRET_ARN", "secret with the first API key", None),
    Variable("MODEL_SECRET_ARN", "secret with credentials of model providers; empty: none", ""),
    Variable("PUBLIC_BASE_URL", "base of form links; empty: the address of the request", ""),
    Variable("SENDER_ADDRESS", "sender of mails; empty: no mail is sent", ""),
    Variable("DEFAULT_APPROVERS", "comma-separated addresses of who is asked by default", ""),
    Variable("REPLY_TO", "where answers to mails go; empty: to the sender", ""),
    Variable("CONFIGURATION_SET", "SES configuration set of mails; empty: none", ""),
    Variable("CREDENTIAL_KEY_ARN", "KMS key of request credentials; empty: none", ""),
    Variable("LEASE_SECONDS", "how long a worker may hold a run without a sign of life", "45"),
    Variable("SCRIPTED_MODEL", "whether requests may bring a scripted model", "false"),
    Variable("ALLOW_INTERNAL_ADDRESSES", "whether calls may reach private addresses", "false"),
    Variable("RETENTION_SECONDS", "how long an ended run can be read", "259200"),
    Variable("RUN_TIMEOUT_SECONDS", "how long a run may last by default", "604800"),
    Variable("MAX_ACTIVE_SECONDS", "how long a run may be worked on, waiting not counted", "3600"),
    Variable("FORM_RATE_LIMIT", "requests of one address to one limiter in 60 seconds", "30"),
)
"""All variables; the template and the docs are compared with this table."""

_DEFAULTS = {one.name: one.default for one in VARIABLES if one.default is not None}


class _Needed:
    """A variable without a default: its value, or the error, when it is read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, settings: Settings, owner: type[Settings]) -> str:
        return settings.needed(self._name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The environment of one function."""

    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables without a default, by name, as far as they are set."""
    model_secret_arn: str = ""
    public_base_url: str = ""
    """No trailing slash."""
    sender_address: str = ""
    default_approvers: tuple[str, ...] = ()
    reply_to: str = ""
    configuration_set: str = ""
    credential_key_arn: str = ""
    lease: timedelta = timedelta(seconds=45)
    scripted_model: bool = False
    allow_internal_addresses: bool = False
    retention: timedelta = timedelta(days=3)
    run_timeout: timedelta = timedelta(days=7)
    max_active: timedelta = timedelta(hours=1)
    form_rate_limit: int = 30

    table_name = _Needed("TABLE_NAME")
    bucket_name = _Needed("BUCKET_NAME")
    schedule_group = _Needed("SCHEDULE_GROUP")
    schedule_role_arn = _Needed("SCHEDULE_ROLE_ARN")
    sweep_function_arn = _Needed("SWEEP_FUNCTION_ARN")
    token_key_secret_arn = _Needed("TOKEN_KEY_SECRET_ARN")
    api_key_secret_arn = _Needed("API_KEY_SECRET_ARN")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read the variables of ``VARIABLES``; others are none of our business.

        Raises:
            SettingsError: One is malformed.
        """
        text = {name: environment.get(name) or default for name, default in _DEFAULTS.items()}
        approvers = (address.strip() for address in text["DEFAULT_APPROVERS"].split(","))
        return cls(
            values={one.name: environment.get(one.name, "") for one in VARIABLES},
            model_secret_arn=text["MODEL_SECRET_ARN"],
            public_base_url=text["PUBLIC_BASE_URL"].rstrip("/"),
            sender_address=text["SENDER_ADDRESS"],
            default_approvers=tuple(address for address in approvers if address),
            reply_to=text["REPLY_TO"],
            configuration_set=text["CONFIGURATION_SET"],
            credential_key_arn=text["CREDENTIAL_KEY_ARN"],
            lease=timedelta(seconds=_number("LEASE_SECONDS", text)),
            scripted_model=_flag("SCRIPTED_MODEL", text),
            allow_internal_addresses=_flag("ALLOW_INTERNAL_ADDRESSES", text),
            retention=timedelta(seconds=_number("RETENTION_SECONDS", text)),
            run_timeout=timedelta(seconds=_number("RUN_TIMEOUT_SECONDS", text)),
            max_active=timedelta(seconds=_number("MAX_ACTIVE_SECONDS", text)),
            form_rate_limit=_number("FORM_RATE_LIMIT", text),
        )

    def queue_url(self, queue: QueueName) -> str:
        """Return the URL of a queue.

        Raises:
            SettingsError: This function was not given that queue.
        """
        return self.needed(f"{queue.upper()}_QUEUE_URL")

    def needed(self, name: str) -> str:
        """Return the value of a variable that has no default.

        Raises:
            SettingsError: It is missing or empty.
        """
        value = self.values.get(name)
        if not value:
            message = f"the environment variable {name} is not set, and this function needs it"
            raise SettingsError(message)
        return value


def _number(name: str, text: Mapping[str, str]) -> int:
    value = text[name]
    if not (value.isascii() and value.isdigit() and int(value)):
        message = f"the environment variable {name} is {value!r}, expected a whole number above 0"
        raise SettingsError(message)
    return int(value)


def _flag(name: str, text: Mapping[str, str]) -> bool:
    value = text[name]
    if value not in {"true", "false"}:
        message = f"the environment variable {name} is {value!r}, expected true or false"
        raise SettingsError(message)
    return value == "true"
