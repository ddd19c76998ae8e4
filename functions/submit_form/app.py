"""Shows a form to a person and takes the answer: /form/{token}."""

from __future__ import annotations

from sayso import bootstrap

handler = bootstrap.submit_form()
