"""Mails through Amazon SES, API version 2, as whole MIME messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from sayso.aws.errors import code_of
from sayso.domain.errors import AppError, MailNotAcceptedError, MailRefusedError

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

    from sayso.ports import OutgoingMail

_REFUSED = frozenset(
    {
        "AccountSuspendedException",
        "BadRequestException",
        "MailFromDomainNotVerifiedException",
        "MessageRejected",
    }
)
"""Errors of SendEmail (API reference) that no repetition of this mail mends."""


class SesMailer:
    """A ``Mailer`` with one sender. A mail whose answer was lost may go out twice."""

    def __init__(self, client: SESV2Client, *, sender: str, configuration_set: str = "") -> None:
        """Take the client, the verified sender and the configuration set, empty for none."""
        self._client = client
        self._fixed: dict[str, Any] = {"FromEmailAddress": sender}
        if configuration_set:
            self._fixed["ConfigurationSetName"] = configuration_set

    def send(self, mail: OutgoingMail) -> str:
        """Send and return the message id of SES, which later events name."""
        tags: Any = [{"Name": name, "Value": value} for name, value in mail.tags.items()]
        try:
            answer = self._client.send_email(
                Destination={"ToAddresses": [mail.to]},
                Content={"Raw": {"Data": mail.raw}},
                EmailTags=tags,
                **self._fixed,
            )
        except (ClientError, BotoCoreError) as error:
            raise _mail_error(error) from error
        return answer["MessageId"]


def _mail_error(error: ClientError | BotoCoreError) -> AppError:
    if not isinstance(error, ClientError):
        return MailNotAcceptedError(f"no answer from SES: {type(error).__name__}")
    code = code_of(error)
    kind = MailRefusedError if code in _REFUSED else MailNotAcceptedError
    return kind(f"SES answered {code!r}")
