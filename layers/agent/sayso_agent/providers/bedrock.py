"""``bedrock``: the models of Amazon Bedrock, at AWS's own endpoint of a region.

The credentials are those of the Dify plugin ``langgenius/bedrock``. AWS's SDK brings its own HTTP
client, which the guard of outgoing calls cannot stand in for; so a request chooses no address
here, only a region, and that is checked before it becomes part of a host's name.

Without a key Bedrock is called with the rights of the function itself. That is for the operator to
allow, by an entry for ``bedrock`` in the stack's secret; a request alone cannot.
"""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from pydantic_ai.models.bedrock import BedrockConverseModel
from pydantic_ai.providers.bedrock import BedrockProvider

from sayso_agent.outgoing import CALL_SECONDS, CONNECT_SECONDS
from sayso_agent.providers.base import ModelConfigError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai.models import Model

    from sayso_agent.outgoing import Outgoing
    from sayso_agent.providers.base import ModelSpec

_REGION: Final = re.compile(r"(us|us-gov|eu|ap|ca|sa|me|af|il|mx|cn)-[a-z]{4,9}-[1-9]")
"""Shape of a region's name (AWS General Reference, service endpoints); nothing in it is a dot."""
_ADDRESSES: Final = ("bedrock_endpoint_url", "bedrock_proxy_url")


@asynccontextmanager
async def bedrock(spec: ModelSpec, outgoing: Outgoing) -> AsyncIterator[Model]:
    """Return a model by its id, or an inference profile by its ARN, in ``aws_region``."""
    region = spec.required("aws_region")
    if not _REGION.fullmatch(region):
        message = f"the bedrock provider needs the name of an AWS region, got {region!r}"
        raise ModelConfigError(message)
    if spec.text(*_ADDRESSES):
        message = "Bedrock is called at AWS's own endpoint only; leave out the address of another"
        raise ModelConfigError(message)
    base = _endpoint(region)
    outgoing.check_hosts(base, hosts=spec.hosts)
    provider = _provider(spec, region, base)
    try:
        yield BedrockConverseModel(spec.model, provider=provider)
    finally:
        provider.client.close()


def _provider(spec: ModelSpec, region: str, base: str) -> BedrockProvider:
    if token := spec.text("bedrock_api_key"):
        return BedrockProvider(
            api_key=token,
            region_name=region,
            base_url=base,
            aws_read_timeout=CALL_SECONDS,
            aws_connect_timeout=CONNECT_SECONDS,
        )
    key, secret = spec.text("aws_access_key_id"), spec.text("aws_secret_access_key")
    is_of_the_stack = spec.hosts is not None
    if not (key and secret) and (key or secret or not is_of_the_stack):
        message = (
            "the bedrock provider needs credentials.aws_access_key_id and"
            " credentials.aws_secret_access_key"
        )
        raise ModelConfigError(message)
    return BedrockProvider(
        aws_access_key_id=key or None,
        aws_secret_access_key=secret or None,
        aws_session_token=spec.text("aws_session_token") or None,
        region_name=region,
        base_url=base,
        aws_read_timeout=CALL_SECONDS,
        aws_connect_timeout=CONNECT_SECONDS,
    )


def _endpoint(region: str) -> str:
    """Return the address explicitly: the environment may redirect the stack's own AWS calls."""
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://bedrock-runtime.{region}.{suffix}"
