"""``dify.user_prompt``: text and images as user input (dify-agent §7.6, R2)."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator
from pydantic_ai import BinaryContent, ImageUrl

from sayso_agent.layers.base import Layer, LayerModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai.messages import UserContent

_Text = Annotated[str, Field(min_length=1)]


class UserPromptImage(LayerModel):
    """One image, by address or by content."""

    type: Literal["image"]
    filename: _Text
    mime_type: Annotated[str, Field(pattern=r"^image/[A-Za-z0-9.+-]+$")]
    format: _Text
    url: str | None = None
    base64_data: str | None = None
    detail: Literal["low", "high"] | None = None

    @field_validator("url")
    @classmethod
    def _is_web_address(cls, value: str | None) -> str | None:
        if value is not None and not _is_web_address(value):
            message = "url must use http or https"
            raise ValueError(message)
        return value

    @field_validator("base64_data")
    @classmethod
    def _is_base64(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            base64.b64decode(value, validate=True)
        except binascii.Error as error:
            message = "base64_data must be valid base64"
            raise ValueError(message) from error
        return value

    @model_validator(mode="after")
    def _has_one_source(self) -> UserPromptImage:
        if (self.url is None) == (self.base64_data is None):
            message = "exactly one of url or base64_data must be provided"
            raise ValueError(message)
        return self


class DifyUserPromptLayerConfig(LayerModel):
    """The text, then the images."""

    text: _Text
    files: list[UserPromptImage] = Field(default_factory=list)


class DifyUserPromptLayer(Layer[DifyUserPromptLayerConfig]):
    """Contributes user content. Image addresses go to the model, the worker fetches none."""

    type_id = "dify.user_prompt"
    config_type = DifyUserPromptLayerConfig

    def user_prompts(self) -> Sequence[UserContent]:
        """Return the text and the images."""
        return [self.config.text, *(_content(image) for image in self.config.files)]


def _content(image: UserPromptImage) -> UserContent:
    metadata: dict[str, Any] | None = {"detail": image.detail} if image.detail else None
    if image.url is not None:
        return ImageUrl(url=image.url, media_type=image.mime_type, vendor_metadata=metadata)
    return BinaryContent(
        data=base64.b64decode(image.base64_data or ""),
        media_type=image.mime_type,
        vendor_metadata=metadata,
    )


def _is_web_address(value: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc)
