"""The ports on AWS: each adapter made once, when a builder first asks for it."""

# ruff: noqa: PLC0415 - each function loads only what it uses

from __future__ import annotations

import json
import time
from functools import cached_property
from typing import TYPE_CHECKING

from sayso.aws.clients import Clients
from sayso.domain.errors import PermanentError
from sayso.observability import Metric, count, logger
from sayso.ports import StoredCredential

if TYPE_CHECKING:
    from sayso.aws.secrets import CachedSecret
    from sayso.ports import (
        ContentRenderer,
        CredentialVault,
        Directory,
        Links,
        Mailer,
        MailRenderer,
        ObjectStore,
        RateLimiter,
        RemoteFiles,
        Table,
        Timers,
    )
    from sayso.settings import Settings
    from sayso.usecases.context import Context


def report(event: str, **facts: object) -> None:
    """Log an event of a use case; the formatter lets only allowed keys out."""
    logger().info(event, extra=facts)
    if event == "form_undeliverable":
        count(Metric.UNDELIVERABLE_FORMS)


class AwsWiring:
    """Implements ``bootstrap.Wiring``."""

    def __init__(self, settings: Settings) -> None:
        """Take the settings; no client is made yet."""
        self._settings = settings
        self._clients = Clients()

    @property
    def settings(self) -> Settings:
        """What the environment says."""
        return self._settings

    @cached_property
    def context(self) -> Context:
        """What every use case is given."""
        from sayso.aws.queue import SqsWorkQueue
        from sayso.store.stores import open_stores
        from sayso.system import RandomIds, SystemClock
        from sayso.usecases.context import Context

        ids = RandomIds()
        return Context(
            stores=open_stores(
                self._table,
                _LazyObjects(self),
                ids,
                self._vault,
                retention=self._settings.retention,
            ),
            queue=SqsWorkQueue(self._clients.get("sqs"), self._settings.queue_url),
            clock=SystemClock(),
            ids=ids,
            report=report,
        )

    @cached_property
    def _table(self) -> Table:
        from sayso.aws.table import DynamoTable

        return DynamoTable(self._clients.get("dynamodb"), self._settings.table_name)

    @cached_property
    def objects(self) -> ObjectStore:
        """The bucket."""
        from sayso.aws.objects import S3ObjectStore

        return S3ObjectStore(self._clients.get("s3"), self._settings.bucket_name)

    @cached_property
    def _vault(self) -> CredentialVault:
        from sayso.aws.credentials import KmsVault, PlainVault

        key_arn = self._settings.credential_key_arn
        return KmsVault(self._clients.get("kms"), key_arn) if key_arn else PlainVault()

    @cached_property
    def directory(self) -> Directory:
        """Knows the API keys."""
        from sayso.aws.directory import TableDirectory

        return TableDirectory(self._table, self._secret(self._settings.api_key_secret_arn).text)

    @cached_property
    def links(self) -> Links:
        """Makes and checks form links."""
        from sayso.aws.secrets import SecretLinks

        return SecretLinks(self._secret(self._settings.token_key_secret_arn))

    @cached_property
    def limiter(self) -> RateLimiter:
        """Counts requests to form pages."""
        from sayso.store.limiter import TableRateLimiter

        limit = self._settings.form_rate_limit
        return TableRateLimiter(self._table, self.context.clock, limit=limit)

    @cached_property
    def remote_files(self) -> RemoteFiles:
        """Fetches files of the web."""
        from sayso.outgoing import GuardedFetcher

        return GuardedFetcher(allow_internal=self._settings.allow_internal_addresses)

    @cached_property
    def mailer(self) -> Mailer:
        """Sends mails."""
        from sayso.aws.mailer import SesMailer

        return SesMailer(
            self._clients.get("sesv2"),
            sender=self._settings.sender_address,
            configuration_set=self._settings.configuration_set,
        )

    @cached_property
    def mail_renderer(self) -> MailRenderer:
        """Makes approval mails."""
        from sayso.rendering.mailer import ApprovalMails

        return ApprovalMails(sender=self._settings.sender_address, reply_to=self._settings.reply_to)

    @cached_property
    def content_renderer(self) -> ContentRenderer:
        """Renders the Markdown of forms."""
        from sayso.rendering.content import MarkdownContentRenderer

        return MarkdownContentRenderer()

    def sleep(self, seconds: float) -> None:
        """Let time pass while a reader of events is held."""
        time.sleep(seconds)

    def timers(self, sweep_arn: str) -> Timers:
        """Return one-time schedules that call this function."""
        from sayso.aws.timers import EventBridgeTimers

        return EventBridgeTimers(
            self._clients.get("scheduler"),
            group=self._settings.schedule_group,
            role_arn=self._settings.schedule_role_arn,
            target_arn=sweep_arn,
        )

    def stored_credential(self, provider: str) -> StoredCredential | None:
        """Return the stack's credential of a model provider, None when it has none.

        Raises:
            PermanentError: The secret is malformed.
        """
        if not self._settings.model_secret_arn:
            return None
        return credential_in(self._model_secret.text(), provider)

    @cached_property
    def _model_secret(self) -> CachedSecret:
        return self._secret(self._settings.model_secret_arn)

    def _secret(self, arn: str) -> CachedSecret:
        from sayso.aws.secrets import CachedSecret

        return CachedSecret(self._clients.get("secretsmanager"), arn)


def credential_in(text: str, provider: str) -> StoredCredential | None:
    """Return a provider's credential from the model secret.

    The secret is JSON: provider → ``{"values": {"openai_api_key": …}, "hosts": ["api.openai.com"]}``.

    Raises:
        PermanentError: It is not.
    """
    try:
        members = json.loads(text).get(provider)
        if members is None:
            return None
        return StoredCredential(values=dict(members["values"]), hosts=tuple(members["hosts"]))
    except (AttributeError, KeyError, TypeError, ValueError):
        # Not from the error: its text may quote the secret.
        message = f"the secret of model providers is malformed for {provider!r}"
        raise PermanentError(message) from None


class _LazyObjects:
    """The bucket, with a client made at the first use: most invocations need none."""

    def __init__(self, wiring: AwsWiring) -> None:
        self._wiring = wiring

    def put_once(self, key: str, data: bytes) -> None:
        self._wiring.objects.put_once(key, data)

    def get(self, key: str) -> bytes | None:
        return self._wiring.objects.get(key)

    def delete_prefix(self, prefix: str) -> None:
        self._wiring.objects.delete_prefix(prefix)
