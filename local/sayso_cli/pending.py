"""``sayso preflight``: loads every pending snapshot of a stack with the code of this checkout."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sayso.aws.credentials import PlainVault
from sayso.aws.objects import S3ObjectStore
from sayso.aws.table import DynamoTable
from sayso.store.stores import open_stores
from sayso.system import RandomIds
from sayso.usecases.preflight import preflight
from sayso_agent.runner import build_runner

if TYPE_CHECKING:
    from sayso.usecases.preflight import Finding
    from sayso_cli.stack import Stack


def check_pending(stack: Stack) -> tuple[int, list[Finding]]:
    """Return how many snapshots are pending, and those that this code could not resume."""
    stores = open_stores(
        DynamoTable(stack.client("dynamodb"), stack.output("TableName")),
        S3ObjectStore(stack.client("s3"), stack.output("BucketName")),
        RandomIds(),
        PlainVault(),
        retention=timedelta(0),
    )
    runner = build_runner(
        scripted=True, allow_internal=False, stored_credentials=lambda _: None, test_layers=True
    )
    return preflight(stores, runner)
