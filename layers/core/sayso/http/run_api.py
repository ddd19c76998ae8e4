"""The resolver of the run API: key check, error bodies and encoding around its routes.

Routing is Powertools'. Checked in the contract's order: the key, then the run, then query and
body (dify-agent §18.16, 18.18).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from sayso.domain.errors import AppError, NotFoundError
from sayso.domain.ids import RunId, parse_uuid
from sayso.http.authenticate import authenticate
from sayso.http.errors import log_refusal, run_api_error
from sayso.http.request import HttpRequest, read_request
from sayso.http.response import to_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso.domain.access import ApiKey
    from sayso.http.response import HttpResponse
    from sayso.ports import Directory

_RUN_NOT_FOUND = "run not found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request whose key was checked."""

    request: HttpRequest
    key: ApiKey
    remaining_seconds: Callable[[], float]
    """Time until the platform stops this function."""


class RunApi(APIGatewayHttpResolver):
    """Powertools' resolver, with what all routes of the run API share."""

    def __init__(self, directory: Directory) -> None:
        """Take what knows the API keys; routes are added as with Powertools."""
        super().__init__(serializer=to_json)
        self._directory = directory
        self.use([self._check_key])
        self.exception_handler(AppError)(self._refuse)
        self.not_found(self._no_such_run)

    @property
    def call(self) -> Call:
        """The request at hand."""
        return Call(
            request=self.context["request"],
            key=self.context["key"],
            remaining_seconds=lambda: self.lambda_context.get_remaining_time_in_millis() / 1000,
        )

    def _check_key(
        self, _: APIGatewayHttpResolver, next_middleware: Callable[..., Response[Any]]
    ) -> Response[Any]:
        request = read_request(self.current_event.raw_event)
        key = authenticate(request.headers, request.route, self._directory)
        self.context.update(request=request, key=key)
        return next_middleware(self)

    def _refuse(self, error: AppError) -> Response[str]:
        log_refusal(error, self.current_event.route_key)
        return as_powertools(run_api_error(error))

    def _no_such_run(self, _: Exception) -> Response[str]:
        """Answer for ids with characters that Powertools' patterns leave out: none of ours."""
        return self._refuse(NotFoundError(_RUN_NOT_FOUND))


def run_id_of(text: str) -> RunId:
    """Return the run id that a path holds, perhaps percent-encoded.

    Raises:
        NotFoundError: No run can have such an id, so no table is asked.
    """
    decoded = unquote(text)
    if parse_uuid(decoded) is None:
        raise NotFoundError(_RUN_NOT_FOUND)
    return RunId(decoded)


def as_powertools(response: HttpResponse) -> Response[str]:
    """Return the answer as Powertools wants it."""
    headers = dict(response.headers)
    return Response(
        status_code=response.status,
        content_type=headers.pop("Content-Type", None),
        headers=headers,
        body=response.body,
    )
