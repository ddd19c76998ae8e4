"""Runs the agent, from a start or an answer to the next end or pause.

The only function with the agent layer; its imports happen once, when this module is loaded.
"""

from __future__ import annotations

from sayso import bootstrap
from sayso_agent.runner import build_runner

_ports = bootstrap.wiring()

handler = bootstrap.resume(
    build_runner(
        scripted=_ports.settings.scripted_model,
        allow_internal=_ports.settings.allow_internal_addresses,
        stored_credentials=_ports.stored_credential,
    )
)
