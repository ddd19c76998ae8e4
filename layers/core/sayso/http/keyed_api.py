"""Powertools' resolver with what all JSON routes share: key check, error bodies, unknown paths.

Checked in the contracts' order: the key, then what the path names, then query and body
(dify-agent §18.16, §18.18; human-input §7.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from sayso.domain.errors import AppError
from sayso.http.authenticate import authenticate
from sayso.http.errors import internal_error, log_refusal, method_not_allowed, not_found
from sayso.http.request import HttpRequest, read_request
from sayso.http.response import MAX_RESPONSE_BYTES, size_of, to_json
from sayso.http.routes import DEFAULT, methods_of
from sayso.observability import log_failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso.domain.access import ApiKey
    from sayso.http.response import HttpResponse
    from sayso.ports import Directory


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request whose key was checked."""

    request: HttpRequest
    key: ApiKey
    remaining_seconds: Callable[[], float]
    """Time until the platform stops this function."""


class KeyedApi(APIGatewayHttpResolver):
    """Routes that need an API key. They are added as with Powertools."""

    def __init__(
        self,
        directory: Directory,
        *,
        word_error: Callable[[AppError], HttpResponse],
        unknown: AppError,
    ) -> None:
        """Take what the routes share.

        Args:
            directory: Knows the keys.
            word_error: Makes the answer for an error, as the routes' contract words it.
            unknown: What is wrong with a path parameter that Powertools' patterns leave out; no
                id or token of ours has such characters.
        """
        super().__init__(serializer=to_json)
        self._directory = directory
        self._word_error = word_error
        self._unknown = unknown
        self.use([self._check_key])
        self.exception_handler(AppError)(self._refuse)
        # Powertools logs the text of an error that nobody handles; it may quote anything (I10).
        self.exception_handler(Exception)(self._fail)
        self.not_found(self._no_route)

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
        if request.route != DEFAULT:
            key = authenticate(request.headers, request.route, self._directory)
            self.context.update(request=request, key=key)
        return next_middleware(self)

    def _refuse(self, error: AppError) -> Response[str]:
        log_refusal(error, self.current_event.route_key)
        return as_powertools(self._word_error(error))

    def _fail(self, error: Exception) -> Response[str]:
        log_failure("failed", error, route=self.current_event.route_key)
        return as_powertools(internal_error())

    def _no_route(self, _: Exception) -> Response[str]:
        request = read_request(self.current_event.raw_event)
        if request.route != DEFAULT:
            return self._refuse(self._unknown)
        allowed = methods_of(request.path)
        return as_powertools(method_not_allowed(allowed) if allowed else not_found())


def as_powertools(response: HttpResponse) -> Response[str]:
    """Return the answer as Powertools wants it.

    What would not fit into the answer of a function goes compressed, to clients that take it: one
    event with a large snapshot, above all.
    """
    headers = dict(response.headers)
    return Response(
        status_code=response.status,
        content_type=headers.pop("Content-Type", None),
        headers=headers,
        body=response.body,
        compress=size_of(response.body) > MAX_RESPONSE_BYTES,
    )
