"""The Jinja2 environment of our own templates. No text from outside ever becomes a template.

HTML escapes by default, text does not; a missing name is an error, not an empty string.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from sayso.rendering.i18n import TRANSLATIONS
from sayso.rendering.textwrapping import beside, quoted, wrap_text
from sayso.rendering.times import format_instant, rough_span

TEMPLATES: Final = Path(__file__).with_name("templates")


@functools.cache
def environment() -> Environment:
    """Return the environment, made at first use."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(disabled_extensions=("txt",), default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        extensions=["jinja2.ext.i18n"],
    )
    made.policies["ext.i18n.trimmed"] = True
    # The extension adds these methods; its stubs do not say so.
    install = made.install_gettext_translations  # type: ignore[attr-defined]
    install(TRANSLATIONS, newstyle=True)
    made.globals.update(format_instant=format_instant, rough_span=rough_span)
    made.filters.update(beside=beside, quoted=quoted, wrap_text=wrap_text)
    return made


def render(template: str, **context: object) -> str:
    """Return one of our templates, filled."""
    return environment().get_template(template).render(context)
