"""Makes the clients of AWS services, each once, when it is first needed.

One session serves all: a client of ``botocore.session`` costs 0.85 of one of ``boto3`` in CPU
time, a second one of the same session a tenth of the first. There is no endpoint here: botocore
reads ``AWS_ENDPOINT_URL`` itself, which is how the local stack takes its place.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, overload

import botocore.session
from botocore.config import Config

if TYPE_CHECKING:
    from botocore.client import BaseClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sesv2 import SESV2Client
    from mypy_boto3_sqs import SQSClient

Service = Literal["dynamodb", "kms", "s3", "scheduler", "secretsmanager", "sesv2", "sqs"]

_CONNECT_SECONDS = 1
_READ_SECONDS = 5
_TRIES = 3
_CONFIG = Config(
    connect_timeout=_CONNECT_SECONDS,
    read_timeout=_READ_SECONDS,
    retries={"mode": "standard", "total_max_attempts": _TRIES},
    # A new connection reads the CA file again, tens of milliseconds of CPU: keep the old one.
    tcp_keepalive=True,
)
"""Three tries of 5 s end before the 29 s of ``read_run``. Functions of 10 s are stopped by Lambda
when a service hangs twice; the attempt id then tells what landed."""


class Clients:
    """The clients of one process. Safe for threads."""

    def __init__(self, region: str | None = None) -> None:
        """Make nothing yet.

        Args:
            region: None: botocore's own choice, ``AWS_REGION`` in Lambda.
        """
        self._region = region
        self._session: botocore.session.Session | None = None
        self._made: dict[str, BaseClient] = {}
        # create_client is not safe for threads (boto3 guide, "multithreading").
        self._lock = Lock()

    @overload
    def get(self, service: Literal["dynamodb"]) -> DynamoDBClient: ...
    @overload
    def get(self, service: Literal["s3"]) -> S3Client: ...
    @overload
    def get(self, service: Literal["sqs"]) -> SQSClient: ...
    @overload
    def get(self, service: Literal["sesv2"]) -> SESV2Client: ...
    @overload
    def get(self, service: Literal["scheduler"]) -> EventBridgeSchedulerClient: ...
    @overload
    def get(self, service: Literal["secretsmanager"]) -> SecretsManagerClient: ...
    @overload
    def get(self, service: Literal["kms"]) -> Any: ...
    def get(self, service: Service) -> Any:
        """Return the client of a service, made at the first call."""
        with self._lock:
            if service not in self._made:
                self._session = self._session or botocore.session.get_session()
                self._made[service] = self._session.create_client(
                    service, region_name=self._region, config=_CONFIG
                )
            return self._made[service]
