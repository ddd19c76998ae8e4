"""The outermost frame of every function behind the HTTP API.

Whatever goes wrong inside, the caller gets the contract's 500 and nothing of the reason
(dify-agent §2); the log gets the class of the error and its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sayso.http.errors import internal_error
from sayso.observability import bind_request, log_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Handler = Callable[[Mapping[str, Any], Any], dict[str, Any]]


def guarded(serve: Handler) -> Handler:
    """Return a Lambda handler that never raises and answers HEAD without content."""

    def handler(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        bind_request(context.function_name, context.aws_request_id)
        try:
            answer = serve(event, context)
        except Exception as error:  # noqa: BLE001 - the outermost frame
            log_failure("failed", error)
            answer = internal_error().to_event()
        method = event.get("requestContext", {}).get("http", {}).get("method")
        return answer | {"body": ""} if method == "HEAD" else answer

    return handler
