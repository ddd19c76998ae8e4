"""Deploys the real template to the emulator: packages to a bucket, then one CreateStack."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from sayso_local.bundles import function_zip, layer_zip
from sayso_local.cfn import JsonObject, read_template, resources_of_type
from sayso_local.errors import LocalStackError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mypy_boto3_cloudformation.type_defs import StackTypeDef

    from sayso_local.clients import Clients
    from sayso_local.places import Places

STACK_NAME = "sayso-local"
PACKAGES_BUCKET = "sayso-local-packages"
POLL_SECONDS = 0.03
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A stack that is there."""

    name: str
    template: JsonObject
    """What was deployed, with the packages' addresses in it."""
    outputs: Mapping[str, str]
    physical_ids: Mapping[str, str]
    """The name each resource got, by its logical id."""


def deploy(
    places: Places, clients: Clients, *, parameters: Mapping[str, str], copies: Path
) -> Deployment:
    """Create the stack and wait until it is complete.

    Raises:
        LocalStackError: A package is missing, or a resource could not be created; the message names
            the resource and the reason.
    """
    template = read_template(places.template)
    clients.s3.create_bucket(Bucket=PACKAGES_BUCKET)
    for name, properties in resources_of_type(template, "AWS::Serverless::Function").items():
        package = function_zip(places, str(properties["CodeUri"]))
        properties["CodeUri"] = _upload(clients, name, package)
    for name, properties in resources_of_type(template, "AWS::Serverless::LayerVersion").items():
        package = layer_zip(places, str(properties["ContentUri"]), copies=copies)
        properties["ContentUri"] = _upload(clients, name, package)
    _create(clients, template, parameters)
    stack = _wait(clients)
    resources = clients.cloudformation.describe_stack_resources(StackName=STACK_NAME)
    return Deployment(
        name=STACK_NAME,
        template=template,
        outputs={
            output["OutputKey"]: output["OutputValue"]
            for output in stack.get("Outputs", [])
            if "OutputKey" in output and "OutputValue" in output
        },
        physical_ids={
            resource["LogicalResourceId"]: resource["PhysicalResourceId"]
            for resource in resources["StackResources"]
            if "PhysicalResourceId" in resource
        },
    )


def _create(clients: Clients, template: JsonObject, parameters: Mapping[str, str]) -> None:
    """Begin to create the stack; what is refused at once becomes one line."""
    declared = template["Parameters"]
    assert isinstance(declared, dict)
    for name in parameters:
        if name not in declared:
            raise LocalStackError(f"the template has no parameter {name!r}")
    try:
        clients.cloudformation.create_stack(
            StackName=STACK_NAME,
            TemplateBody=json.dumps(template),
            Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
            Parameters=[
                {"ParameterKey": name, "ParameterValue": value}
                for name, value in parameters.items()
            ],
        )
    except ClientError as error:
        message = error.response["Error"]["Message"]
        raise LocalStackError(f"the stack was refused: {message}") from error


def _upload(clients: Clients, name: str, package: bytes) -> str:
    """Store one package; return its address."""
    key = f"{name}.zip"
    clients.s3.put_object(Bucket=PACKAGES_BUCKET, Key=key, Body=package)
    return f"s3://{PACKAGES_BUCKET}/{key}"


def _wait(clients: Clients) -> StackTypeDef:
    """Return the stack when it is complete, or raise the reason why it is not."""
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < give_up_at:
        (stack,) = clients.cloudformation.describe_stacks(StackName=STACK_NAME)["Stacks"]
        status = stack["StackStatus"]
        if status == "CREATE_COMPLETE":
            return stack
        if status.endswith(("_FAILED", "_COMPLETE")):
            raise LocalStackError(f"the stack was not created: {_first_failure(clients, stack)}")
        time.sleep(POLL_SECONDS)
    raise LocalStackError(f"the stack was not created in {PATIENCE_SECONDS:.0f} s")


def _first_failure(clients: Clients, stack: StackTypeDef) -> str:
    """Name the resource that failed first, and why; events come newest first."""
    events = clients.cloudformation.describe_stack_events(StackName=STACK_NAME)["StackEvents"]
    for event in reversed(events):
        if event.get("ResourceStatus", "").endswith("_FAILED"):
            reason = event.get("ResourceStatusReason", "no reason given")
            return f"{event.get('LogicalResourceId', '?')}: {reason}"
    return stack.get("StackStatusReason", stack["StackStatus"])
