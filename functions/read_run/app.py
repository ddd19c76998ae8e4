"""Shows runs and their events: GET /runs/{run_id}, …/events, …/events/sse."""

from __future__ import annotations

from sayso import bootstrap

handler = bootstrap.read_run()
