"""The template folder itself: twins, style sheets, and nothing marked safe."""

from __future__ import annotations

import re

import pytest
from jinja2 import UndefinedError

from sayso.rendering.environment import TEMPLATES, environment, render

ALL = sorted(path for path in TEMPLATES.rglob("*") if path.is_file())
PAGES = [path for path in ALL if path.suffix == ".html" and "mail" not in path.parts]
CSS = "".join(path.read_text() for path in ALL if path.suffix == ".css")


@pytest.mark.parametrize(
    "path", sorted((TEMPLATES / "mail").glob("*.html")), ids=lambda path: path.stem
)
def test_every_mail_is_a_triple(path: object) -> None:
    stem = str(path).removesuffix(".html")

    assert {f"{stem}.subject.txt", f"{stem}.txt"} <= {str(one) for one in ALL}


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_no_template_marks_anything_safe_or_turns_escaping_off(path: object) -> None:
    source = TEMPLATES.joinpath(str(path)).read_text()

    assert not re.search(r"\|\s*safe|Markup|autoescape", source)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_page_template_styles_or_scripts_inline(path: object) -> None:
    source = TEMPLATES.joinpath(str(path)).read_text()

    assert not re.search(r"\sstyle=|\son[a-z]+=|<script|javascript:", source)


def test_the_style_sheets_load_nothing() -> None:
    assert not re.search(r"url\(|@import|@font-face", CSS)


def test_every_class_of_the_style_sheet_is_used() -> None:
    sources = "".join(path.read_text() for path in PAGES)
    from_markdown = {"scroll", "host", "num"}
    selectors = re.sub(r"/\*.*?\*/|\{[^{}]*\}", " ", CSS, flags=re.DOTALL)
    styled = set(re.findall(r"\.([a-z][a-z_-]*)", selectors))

    unused = {name for name in styled if not re.search(rf"\b{name}\b", sources)}

    assert unused - from_markdown - {"ask--decided", "ask--closed"} == set()


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("receipt.html", nonce="n")


def test_html_templates_escape_and_text_templates_do_not() -> None:
    made = environment()

    assert made.autoescape("x.html")  # type: ignore[operator]
    assert made.autoescape(None)  # type: ignore[operator]
    assert not made.autoescape("mail/approval.txt")  # type: ignore[operator]
