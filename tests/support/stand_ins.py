"""Stand-in functions for tests of the local stack itself: each does what its event tells it to.

They are written into a folder with the real template, and deployed instead of the product's functions.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from support.template import FUNCTIONS, ROOT

if TYPE_CHECKING:
    from pathlib import Path

HANDLER = '''
import json
import os
import sys
import urllib.parse

import boto3


def handler(event, context):
    """Do what the event, or the query of an HTTP event, tells."""
    order = event
    if "requestContext" in event:
        query = urllib.parse.parse_qs(event["rawQueryString"])
        order = {name: json.loads(values[0]) for name, values in query.items()}
    if "print" in order:
        print(order["print"])
    if "fail" in order:
        raise RuntimeError(order["fail"])
    if "status" in order:
        return {"statusCode": order["status"], "body": order.get("body", "")}
    if "call" in order:
        return call(**order["call"])
    if "import" in order:
        return importable(order["import"])
    if "Records" in event or "schedule" in event:
        print("received", json.dumps(event))
        return {"batchItemFailures": []}
    told = {"event": event, "environment": dict(os.environ), "version": sys.version_info[:2]}
    return {"statusCode": 200, "headers": {"x-stand-in": "yes"}, "cookies": ["a=1", "b=2"], "body": json.dumps(told)}


def call(service, operation, arguments):
    """Make an AWS call; return the error code, or nothing."""
    client = boto3.client(service)
    try:
        getattr(client, operation)(**arguments)
    except client.exceptions.ClientError as error:
        return error.response["Error"]["Code"]
    return None


def importable(name):
    """Where a package comes from, or nothing."""
    try:
        return __import__(name).__file__
    except ImportError:
        return None
'''


def write_stand_ins(folder: Path) -> Path:
    """Fill a folder that `running_stack` can take as its source."""
    shutil.copy(ROOT / "template.yaml", folder)
    for properties in FUNCTIONS.values():
        function = folder / str(properties["CodeUri"])
        function.mkdir(parents=True)
        (function / "app.py").write_text(HANDLER)
    for package in ("core/sayso", "agent/sayso_agent"):
        layer = folder / "layers" / package
        layer.mkdir(parents=True)
        (layer / "__init__.py").write_text("")
    return folder
