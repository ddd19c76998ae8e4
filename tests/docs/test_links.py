"""Every link and picture of the docs leads somewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from docs.pages import DOCS, OUR_PAGES, PAGES, ROOT, anchors_of, images_of, links_of

if TYPE_CHECKING:
    from pathlib import Path

MAX_PICTURE_BYTES = 200_000

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def _inside(target: str) -> bool:
    return not target.startswith(("https://", "http://", "mailto:"))


@each_page
def test_internal_links_resolve(page: Path) -> None:
    for target in filter(_inside, links_of(page)):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page

        assert file.exists(), target
        assert file.is_relative_to(ROOT), target
        assert not anchor or anchor in anchors_of(file), target


@each_page
def test_pictures_are_in_the_repository_and_small(page: Path) -> None:
    for source in images_of(page):
        assert _inside(source), source
        assert (page.parent / source).stat().st_size < MAX_PICTURE_BYTES, source


def test_the_index_names_every_page() -> None:
    named = {(DOCS / target).resolve() for target in links_of(DOCS / "index.md")}

    assert set(OUR_PAGES) - named == {DOCS / "index.md"}
