"""Mends what the emulator ignores of our template, through the public API of each service.

Each fix-up first asserts that the emulator still needs it and raises otherwise: an emulator that has
learned something is noticed, and the fix-up goes. Never run against AWS, where none is needed.
"""

from __future__ import annotations

import json
import secrets
import string
from typing import TYPE_CHECKING

from sayso_local.cfn import JsonObject, resources_of_type
from sayso_local.errors import LocalStackError
from sayso_local.routes import mend_routes

if TYPE_CHECKING:
    from sayso_local.clients import Clients
    from sayso_local.deploy import Deployment


def mend(clients: Clients, deployment: Deployment) -> None:
    """Apply all fix-ups to a stack that was just created."""
    mend_routes(clients, deployment)
    _mend_time_to_live(clients, deployment)
    _mend_lifecycle(clients, deployment)
    _mend_bucket_policy(clients, deployment)
    _mend_secrets(clients, deployment)
    _mend_concurrency(clients, deployment)


def still_needed(needed: bool, fixup: str) -> None:
    """Raise when the emulator does by itself what `fixup` is there for."""
    if not needed:
        raise LocalStackError(f"the emulator no longer needs the fix-up {fixup!r}: remove it")


def _mend_time_to_live(clients: Clients, deployment: Deployment) -> None:
    """Turn on the table's expiry: the emulator drops `TimeToLiveSpecification`."""
    for name, properties in resources_of_type(deployment.template, "AWS::DynamoDB::Table").items():
        table = deployment.physical_ids[name]
        found = clients.dynamodb.describe_time_to_live(TableName=table)
        status = found["TimeToLiveDescription"]["TimeToLiveStatus"]
        still_needed(status == "DISABLED", "time to live")
        wanted = properties["TimeToLiveSpecification"]
        assert isinstance(wanted, dict)
        clients.dynamodb.update_time_to_live(
            TableName=table,
            TimeToLiveSpecification={
                "AttributeName": str(wanted["AttributeName"]),
                "Enabled": bool(wanted["Enabled"]),
            },
        )


def _mend_lifecycle(clients: Clients, deployment: Deployment) -> None:
    """Give the bucket its expiry rule: the emulator drops `LifecycleConfiguration`."""
    for name, properties in resources_of_type(deployment.template, "AWS::S3::Bucket").items():
        bucket = deployment.physical_ids[name]
        still_needed(not _has_lifecycle(clients, bucket), "bucket lifecycle")
        configuration = properties["LifecycleConfiguration"]
        assert isinstance(configuration, dict)
        rules = configuration["Rules"]
        assert isinstance(rules, list)
        for rule in rules:
            assert isinstance(rule, dict)
            days = rule["ExpirationInDays"]
            assert isinstance(days, int)
            clients.s3.put_bucket_lifecycle_configuration(
                Bucket=bucket,
                LifecycleConfiguration={
                    "Rules": [
                        {
                            "ID": str(rule["Id"]),
                            "Status": "Enabled",
                            "Filter": {"Prefix": ""},
                            "Expiration": {"Days": days},
                        }
                    ]
                },
            )


def _has_lifecycle(clients: Clients, bucket: str) -> bool:
    """Whether the bucket has any lifecycle rule."""
    try:
        clients.s3.get_bucket_lifecycle_configuration(Bucket=bucket)
    except clients.s3.exceptions.ClientError as error:
        if error.response["Error"]["Code"] == "NoSuchLifecycleConfiguration":
            return False
        raise
    return True


def _mend_bucket_policy(clients: Clients, deployment: Deployment) -> None:
    """Take off the rule that wants TLS: the emulator enforces it, and loopback has none."""
    for name in resources_of_type(deployment.template, "AWS::S3::BucketPolicy"):
        bucket = deployment.physical_ids[name].removesuffix("-policy")
        policy = clients.s3.get_bucket_policy(Bucket=bucket)["Policy"]
        still_needed("aws:SecureTransport" in policy, "bucket policy without TLS")
        clients.s3.delete_bucket_policy(Bucket=bucket)


def _mend_concurrency(clients: Clients, deployment: Deployment) -> None:
    """Store `MaximumConcurrency` again as a number: as text, which a parameter is, it stops the poller."""
    texts = 0
    for name, properties in resources_of_type(
        deployment.template, "AWS::Lambda::EventSourceMapping"
    ).items():
        mapping = deployment.physical_ids[name]
        scaling = properties["ScalingConfig"]
        assert isinstance(scaling, dict)
        if isinstance(scaling["MaximumConcurrency"], int):
            continue
        found = clients.raw_event_source_mapping(mapping)["ScalingConfig"]
        assert isinstance(found, dict)
        texts += isinstance(found["MaximumConcurrency"], str)
        clients.lambda_.update_event_source_mapping(
            UUID=mapping,
            ScalingConfig={"MaximumConcurrency": int(str(found["MaximumConcurrency"]))},
        )
    still_needed(texts > 0, "maximum concurrency as a number")


def _mend_secrets(clients: Clients, deployment: Deployment) -> None:
    """Generate secrets again without punctuation: the emulator ignores `ExcludePunctuation`.

    A key with quotes and brackets could not be pasted into a command or a header.
    """
    punctuated = 0
    for name, properties in resources_of_type(
        deployment.template, "AWS::SecretsManager::Secret"
    ).items():
        wanted = properties["GenerateSecretString"]
        assert isinstance(wanted, dict)
        secret = deployment.physical_ids[name]
        value: JsonObject = json.loads(
            clients.secretsmanager.get_secret_value(SecretId=secret)["SecretString"]
        )
        key = str(wanted["GenerateStringKey"])
        punctuated += not str(value[key]).isalnum()
        length = wanted["PasswordLength"]
        assert isinstance(length, int)
        value[key] = _password(length)
        clients.secretsmanager.put_secret_value(SecretId=secret, SecretString=json.dumps(value))
    still_needed(punctuated > 0, "secrets without punctuation")


def _password(length: int) -> str:
    """Return letters and digits."""
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(length))
