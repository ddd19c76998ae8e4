"""Seals the credentials of requests with a KMS key, bound to their run.

Without a key of one's own they are protected by the table's encryption only (SECURITY.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from sayso.aws.errors import code_of, to_domain, translated
from sayso.domain.errors import PermanentError, ValidationError

if TYPE_CHECKING:
    from sayso.domain.ids import RunId

_MARK = b"\x00kms1"
"""Start of what KMS sealed; JSON, which is what is sealed, never starts so."""

_PART_BYTES = 4096
"""Most that Encrypt takes (KMS API reference); longer credentials are sealed in parts."""

_MAX_PARTS = 10
_LENGTH_BYTES = 2


class PlainVault:
    """A ``CredentialVault`` that leaves things as they are, for stacks without a key."""

    def seal(self, run_id: RunId, plain: bytes) -> bytes:  # noqa: ARG002 - the port's signature
        """Return the same bytes."""
        return plain

    def open(self, run_id: RunId, sealed: bytes) -> bytes:
        """Return the same bytes.

        Raises:
            PermanentError: They were sealed with a key that the stack no longer has.
        """
        if sealed.startswith(_MARK):
            message = f"the credentials of run {run_id!r} need the KMS key that sealed them"
            raise PermanentError(message)
        return sealed


class KmsVault:
    """A ``CredentialVault`` over one KMS key; the encryption context names run and part.

    So one run's credentials open for no other run, and parts cannot be swapped or left out. What
    was stored before the stack had a key stays readable.
    """

    # Any: the stubs of this client are not among our tools, for the sake of two calls.
    def __init__(self, client: Any, key_arn: str) -> None:
        """Take the client and the key."""
        self._client = client
        self._key_arn = key_arn

    def seal(self, run_id: RunId, plain: bytes) -> bytes:
        """Return the parts, each behind its length.

        Raises:
            ValidationError: More than 40 KB.
        """
        parts = [plain[start : start + _PART_BYTES] for start in range(0, len(plain), _PART_BYTES)]
        if len(parts) > _MAX_PARTS:
            message = f"credentials have {len(plain)} bytes, at most {_MAX_PARTS * _PART_BYTES}"
            raise ValidationError(message)
        sealed = _MARK
        for number, part in enumerate(parts, 1):
            with translated():
                blob: bytes = self._client.encrypt(
                    KeyId=self._key_arn,
                    Plaintext=part,
                    EncryptionContext=_context(run_id, number, len(parts)),
                )["CiphertextBlob"]
            sealed += len(blob).to_bytes(_LENGTH_BYTES) + blob
        return sealed

    def open(self, run_id: RunId, sealed: bytes) -> bytes:
        """Return what was sealed for this run.

        Raises:
            PermanentError: It was sealed for another run, or changed.
        """
        if not sealed.startswith(_MARK):
            return sealed
        blobs = _split(sealed)
        return b"".join(
            self._open_part(blob, _context(run_id, number, len(blobs)))
            for number, blob in enumerate(blobs, 1)
        )

    def _open_part(self, blob: bytes, context: dict[str, str]) -> bytes:
        try:
            plain: bytes = self._client.decrypt(
                KeyId=self._key_arn, CiphertextBlob=blob, EncryptionContext=context
            )["Plaintext"]
        except (ClientError, BotoCoreError) as error:
            if isinstance(error, ClientError) and code_of(error) == "InvalidCiphertextException":
                message = f"the credentials do not belong to run {context['run_id']!r}"
                raise PermanentError(message) from error
            raise to_domain(error) from error
        return plain


def _context(run_id: RunId, number: int, total: int) -> dict[str, str]:
    return {"run_id": run_id, "part": f"{number}/{total}"}


def _split(sealed: bytes) -> list[bytes]:
    blobs = []
    rest = sealed[len(_MARK) :]
    while rest:
        end = _LENGTH_BYTES + int.from_bytes(rest[:_LENGTH_BYTES])
        blobs.append(rest[_LENGTH_BYTES:end])
        rest = rest[end:]
    return blobs
