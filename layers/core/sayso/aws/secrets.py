"""Secrets of Secrets Manager, cached, and the signer of form links that is made of one."""

from __future__ import annotations

import base64
import binascii
import json
import time
from threading import Lock
from typing import TYPE_CHECKING

from sayso.aws.errors import translated
from sayso.domain.errors import RetryableError, ServiceUnavailableError, UnknownLinkError
from sayso.domain.links import LinkSigner, Purpose

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_secretsmanager import SecretsManagerClient

    from sayso.domain.links import Link

MAX_AGE_SECONDS = 300.0
"""How old a cached secret may be: a rotated one is in use after that."""

MIN_AGE_SECONDS = 60.0
"""How often an unknown key id may have the secret read again, whoever sends it."""


class CachedSecret:
    """The text of one secret, read again when it is old. Safe for threads.

    While Secrets Manager does not answer, the old text stays in use.
    """

    def __init__(
        self,
        client: SecretsManagerClient,
        arn: str,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the client and the secret; ``monotonic`` returns seconds."""
        self._client = client
        self._arn = arn
        self._monotonic = monotonic
        self._text: str | None = None
        self._read_at = 0.0
        self._lock = Lock()

    def text(self, max_age_seconds: float = MAX_AGE_SECONDS) -> str:
        """Return the text, at most so old if that can be had.

        Raises:
            RetryableError: It could not be read even once.
        """
        with self._lock:
            now = self._monotonic()
            if self._text is None or now - self._read_at >= max_age_seconds:
                try:
                    self._text = self._read()
                except RetryableError:
                    if self._text is None:
                        raise
                self._read_at = now
            return self._text

    def _read(self) -> str:
        with translated():
            return self._client.get_secret_value(SecretId=self._arn)["SecretString"]


class SecretLinks:
    """A ``Links`` whose keys are a secret: ``{"current": "1", "1": "<32 characters or more>"}``.

    To rotate, add a key and name it as current; take the old one out when its links are over.
    """

    def __init__(self, secret: CachedSecret) -> None:
        """Take the secret; nothing is read yet."""
        self._secret = secret
        self._text = ""
        self._signer: LinkSigner | None = None
        self._key_ids: frozenset[int] = frozenset()

    def sign(self, link: Link, purpose: Purpose = Purpose.FORM) -> str:
        """Return the token, made with the current key."""
        return self._fresh(MAX_AGE_SECONDS).sign(link, purpose)

    def verify(self, token: str, purpose: Purpose = Purpose.FORM) -> Link:
        """Return what the token opens; an unknown key id has the secret read again."""
        signer = self._fresh(MAX_AGE_SECONDS)
        if _key_id(token) not in self._key_ids:
            signer = self._fresh(MIN_AGE_SECONDS)
        return signer.verify(token, purpose)

    def _fresh(self, max_age_seconds: float) -> LinkSigner:
        text = self._secret.text(max_age_seconds)
        if self._signer is None or text != self._text:
            self._signer, self._key_ids = _parse(text)
            self._text = text
        return self._signer


def _key_id(token: str) -> int:
    """Return the key id that a token names.

    Raises:
        UnknownLinkError: It names none.
    """
    try:
        return base64.b64decode(token[:4], altchars=b"-_", validate=True)[1]
    except (binascii.Error, ValueError, IndexError):
        raise UnknownLinkError("the link is not known") from None


def _parse(text: str) -> tuple[LinkSigner, frozenset[int]]:
    try:
        members: dict[str, str] = json.loads(text)
        current = int(members.pop("current"))
        keys = {int(key_id): key.encode() for key_id, key in members.items()}
        return LinkSigner(keys, current), frozenset(keys)
    except (AttributeError, KeyError, TypeError, ValueError):
        # Not from the error: its text may quote the secret. An operator mends it, so it is "not now".
        message = 'the secret of link keys is malformed, expected {"current": "1", "1": "<key>"}'
        raise ServiceUnavailableError(message) from None
