"""Serves the JSON form routes of programs, and whatever no other route takes."""

from __future__ import annotations

from sayso import bootstrap

handler = bootstrap.console()
