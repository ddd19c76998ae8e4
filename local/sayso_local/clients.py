"""Makes boto3 clients of the emulator, one a service, with its root user's key."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import boto3
import botocore.session
from botocore.config import Config

from sayso_local.emulator import ACCESS_KEY, REGION, SECRET_KEY

if TYPE_CHECKING:
    from mypy_boto3_apigatewayv2 import ApiGatewayV2Client
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sesv2 import SESV2Client

    from sayso_local.cfn import JsonObject


@dataclass(frozen=True)
class Clients:
    """The clients that deploy and mend a stack; each is made when first used."""

    endpoint_url: str

    @cached_property
    def _session(self) -> boto3.Session:
        # The person's own AWS set-up must not reach in: no variable and no file of theirs is read.
        variables = {
            "profile": (None, None, None, None),
            "config_file": (None, None, os.devnull, None),
            "credentials_file": (None, None, os.devnull, None),
        }
        return boto3.Session(
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            region_name=REGION,
            botocore_session=botocore.session.Session(session_vars=variables),
        )

    @property
    def _config(self) -> Config:
        return Config(
            proxies={}, retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}
        )

    @cached_property
    def apigatewayv2(self) -> ApiGatewayV2Client:
        """HTTP API."""
        return self._session.client(
            "apigatewayv2", endpoint_url=self.endpoint_url, config=self._config
        )

    @cached_property
    def cloudformation(self) -> CloudFormationClient:
        """Stacks."""
        return self._session.client(
            "cloudformation", endpoint_url=self.endpoint_url, config=self._config
        )

    @cached_property
    def dynamodb(self) -> DynamoDBClient:
        """The table."""
        return self._session.client("dynamodb", endpoint_url=self.endpoint_url, config=self._config)

    @cached_property
    def events(self) -> EventBridgeClient:
        """Rules."""
        return self._session.client("events", endpoint_url=self.endpoint_url, config=self._config)

    @cached_property
    def lambda_(self) -> LambdaClient:
        """Functions and event source mappings."""
        return self._session.client("lambda", endpoint_url=self.endpoint_url, config=self._config)

    def raw_event_source_mapping(self, uuid: str) -> JsonObject:
        """Return a mapping as the emulator sent it: botocore turns text into numbers on the way."""
        bodies: list[bytes] = []
        events = self.lambda_.meta.events
        events.register(
            "before-parse.lambda.GetEventSourceMapping",
            lambda response_dict, **_: bodies.append(response_dict["body"]),
            unique_id="raw",
        )
        self.lambda_.get_event_source_mapping(UUID=uuid)
        events.unregister("before-parse.lambda.GetEventSourceMapping", unique_id="raw")
        mapping: JsonObject = json.loads(bodies[0])
        return mapping

    @cached_property
    def s3(self) -> S3Client:
        """The bucket, and the one the packages go to."""
        return self._session.client("s3", endpoint_url=self.endpoint_url, config=self._config)

    @cached_property
    def secretsmanager(self) -> SecretsManagerClient:
        """Generated secrets."""
        return self._session.client(
            "secretsmanager", endpoint_url=self.endpoint_url, config=self._config
        )

    @cached_property
    def sesv2(self) -> SESV2Client:
        """Identities."""
        return self._session.client("sesv2", endpoint_url=self.endpoint_url, config=self._config)
