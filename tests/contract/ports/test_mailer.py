"""What every mailer promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sayso.aws.mailer import SesMailer
from sayso.ports import OutgoingMail
from sayso.testing.mailer import RecordingMailer

if TYPE_CHECKING:
    from sayso.aws.clients import Clients
    from sayso.ports import Mailer

SENDER = "sayso@example.org"
RAW = b"From: sayso@example.org\r\nTo: cfo@example.org\r\nSubject: Approve?\r\n\r\nPlease."


@pytest.fixture(params=["memory", "moto", "double"])
def mailer(request: pytest.FixtureRequest) -> Mailer:
    if request.param == "memory":
        return RecordingMailer()
    if request.param == "double":
        request.getfixturevalue("double")
        doubles: Clients = request.getfixturevalue("double_clients")
        return SesMailer(doubles.get("sesv2"), sender=SENDER)
    clients: Clients = request.getfixturevalue("aws")
    client = clients.get("sesv2")
    client.create_email_identity(EmailIdentity=SENDER)
    return SesMailer(client, sender=SENDER, configuration_set="mails")


def test_each_mail_gets_an_id_of_its_own(mailer: Mailer) -> None:
    mail = OutgoingMail(to="cfo@example.org", raw=RAW, tags={"form_id": "1", "recipient": "0"})

    ids = {mailer.send(mail) for _ in range(3)}

    assert len(ids) == 3
    assert all(ids)
