"""Takes new runs and cancellations: POST /runs, POST /runs/{run_id}/cancel."""

from __future__ import annotations

from sayso import bootstrap

handler = bootstrap.create_run()
