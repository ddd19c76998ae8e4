"""Settings say clearly what is missing or malformed, and when."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sayso.settings import VARIABLES, Settings, SettingsError

FULL = {
    "TABLE_NAME": "table",
    "BUCKET_NAME": "bucket",
    "STARTS_QUEUE_URL": "https://starts",
    "WAKES_QUEUE_URL": "https://wakes",
    "DELIVERIES_QUEUE_URL": "https://deliveries",
    "SCHEDULE_GROUP": "group",
    "SCHEDULE_ROLE_ARN": "role",
    "SWEEP_FUNCTION_ARN": "sweep",
    "TOKEN_KEY_SECRET_ARN": "token keys",
    "API_KEY_SECRET_ARN": "api key",
    "MODEL_SECRET_ARN": "models",
    "PUBLIC_BASE_URL": "https://sayso.example.org/",
    "SENDER_ADDRESS": "sayso@example.org",
    "DEFAULT_APPROVERS": "a@example.org, ,b@example.org,",
    "REPLY_TO": "help@example.org",
    "CONFIGURATION_SET": "mails",
    "CREDENTIAL_KEY_ARN": "kms",
    "LEASE_SECONDS": "20",
    "SCRIPTED_MODEL": "true",
    "ALLOW_INTERNAL_ADDRESSES": "true",
    "RETENTION_SECONDS": "60",
    "RUN_TIMEOUT_SECONDS": "120",
    "MAX_ACTIVE_SECONDS": "90",
    "FORM_RATE_LIMIT": "7",
}
NEEDED = [one.name for one in VARIABLES if one.default is None]


def test_every_variable_is_read() -> None:
    settings = Settings.from_environment(FULL)

    assert settings.table_name == "table"
    assert settings.bucket_name == "bucket"
    assert settings.schedule_group == "group"
    assert settings.schedule_role_arn == "role"
    assert settings.sweep_function_arn == "sweep"
    assert settings.token_key_secret_arn == "token keys"
    assert settings.api_key_secret_arn == "api key"
    assert settings.queue_url("starts") == "https://starts"
    assert settings.queue_url("wakes") == "https://wakes"
    assert settings.queue_url("deliveries") == "https://deliveries"
    assert settings == Settings(
        values=settings.values,
        model_secret_arn="models",
        public_base_url="https://sayso.example.org",
        sender_address="sayso@example.org",
        default_approvers=("a@example.org", "b@example.org"),
        reply_to="help@example.org",
        configuration_set="mails",
        credential_key_arn="kms",
        lease=timedelta(seconds=20),
        scripted_model=True,
        allow_internal_addresses=True,
        retention=timedelta(minutes=1),
        run_timeout=timedelta(minutes=2),
        max_active=timedelta(seconds=90),
        form_rate_limit=7,
    )


def test_table_of_variables_is_complete_and_has_no_doubles() -> None:
    names = [one.name for one in VARIABLES]

    assert sorted(names) == sorted(FULL)


def test_empty_environment_has_the_documented_defaults() -> None:
    settings = Settings.from_environment({})

    assert settings == Settings(values=settings.values)


def test_empty_value_means_the_default() -> None:
    empty = Settings.from_environment(dict.fromkeys(FULL, ""))

    assert empty == Settings.from_environment({})


@pytest.mark.parametrize("name", NEEDED)
def test_missing_variable_is_named_when_it_is_needed(name: str) -> None:
    settings = Settings.from_environment({**FULL, name: ""})

    with pytest.raises(SettingsError, match=f"environment variable {name} is not set"):
        settings.needed(name)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LEASE_SECONDS", "soon"),
        ("LEASE_SECONDS", "0"),
        ("LEASE_SECONDS", "-1"),
        ("RETENTION_SECONDS", "1.5"),
        ("RUN_TIMEOUT_SECONDS", "²"),
        ("FORM_RATE_LIMIT", " 3"),
        ("SCRIPTED_MODEL", "yes"),
        ("ALLOW_INTERNAL_ADDRESSES", "True"),
    ],
)
def test_malformed_variable_is_named_with_what_was_expected(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} is '{value}', expected"):
        Settings.from_environment({name: value})
