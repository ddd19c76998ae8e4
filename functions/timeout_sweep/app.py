"""Looks at what is due: every minute, and at the deadline of a form."""

from __future__ import annotations

from sayso import bootstrap

handler = bootstrap.timeout_sweep()
