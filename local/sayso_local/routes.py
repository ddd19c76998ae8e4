"""Gives the HTTP API its routes: the emulator ignores the OpenAPI `Body` that SAM makes of our events.

The routes are read from the transformed template, so they are exactly those AWS would build.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sayso_local.cfn import JsonObject, JsonValue, resources_of_type
from sayso_local.errors import LocalStackError

if TYPE_CHECKING:
    from sayso_local.clients import Clients
    from sayso_local.deploy import Deployment

INTEGRATION = "x-amazon-apigateway-integration"
ANY_METHOD = "x-amazon-apigateway-any-method"
DEFAULT_PATH = "$default"


def mend_routes(clients: Clients, deployment: Deployment) -> None:
    """Create every route of the transformed template, with its integration."""
    processed = clients.cloudformation.get_template(
        StackName=deployment.name, TemplateStage="Processed"
    )["TemplateBody"]
    # The client has decoded the body; the emulator sends JSON, though the stubs allow for YAML text.
    template = cast("JsonObject", processed)
    for name, properties in resources_of_type(template, "AWS::ApiGatewayV2::Api").items():
        api_id = deployment.physical_ids[name]
        if clients.apigatewayv2.get_routes(ApiId=api_id)["Items"]:
            raise LocalStackError("the emulator imports routes by itself now: remove routes.py")
        body = properties["Body"]
        assert isinstance(body, dict)
        for key, function in declared_routes(body).items():
            _create_route(clients, api_id, key=key, function_name=deployment.physical_ids[function])


def declared_routes(body: JsonObject) -> dict[str, str]:
    """Return the logical id of the function behind each route key of an OpenAPI body."""
    paths = body["paths"]
    assert isinstance(paths, dict)
    found: dict[str, str] = {}
    for path, operations in paths.items():
        assert isinstance(operations, dict)
        for method, operation in operations.items():
            found[_route_key(path, method)] = _function_of(operation)
    return found


def _route_key(path: str, method: str) -> str:
    """The route key of one operation, as API Gateway writes it."""
    if path == DEFAULT_PATH:
        return DEFAULT_PATH
    return f"{'ANY' if method == ANY_METHOD else method.upper()} {path}"


def _function_of(operation: JsonValue) -> str:
    """The logical id in `.../functions/${Name.Arn}/invocations`, SAM's integration address."""
    assert isinstance(operation, dict)
    integration = operation[INTEGRATION]
    assert isinstance(integration, dict)
    uri = integration["uri"]
    assert isinstance(uri, dict)
    return str(uri["Fn::Sub"]).partition("functions/${")[2].partition(".Arn}")[0]


def _create_route(clients: Clients, api_id: str, *, key: str, function_name: str) -> None:
    """Create one route and the integration it targets."""
    function = clients.lambda_.get_function(FunctionName=function_name)
    integration = clients.apigatewayv2.create_integration(
        ApiId=api_id,
        IntegrationType="AWS_PROXY",
        IntegrationUri=function["Configuration"]["FunctionArn"],
        PayloadFormatVersion="2.0",
    )
    clients.apigatewayv2.create_route(
        ApiId=api_id, RouteKey=key, Target=f"integrations/{integration['IntegrationId']}"
    )
