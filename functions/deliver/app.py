"""Sends the mails of the queue and hears from SES what became of them."""

from __future__ import annotations

from sayso import bootstrap

handler = bootstrap.deliver()
